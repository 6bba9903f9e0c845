package pipeline

import (
	"reflect"
	"slices"
	"testing"

	"lathe/internal/pipeline/account"
	"lathe/internal/pipeline/tools"
	"lathe/internal/turn"
)

func table() []turn.Stage {
	return Stages(Deps{Account: account.New(account.Deps{}, account.Config{}), Tools: tools.New(tools.Deps{})})
}

func TestOrder(t *testing.T) {
	var names []string
	for _, s := range table() {
		names = append(names, s.Name)
	}
	for _, c := range Order {
		first, then := slices.Index(names, c.First), slices.Index(names, c.Then)
		if first < 0 || then < 0 || first > then {
			t.Errorf("%s must stand before %s: %s", c.First, c.Then, c.Why)
		}
	}
}

func TestWritesNameFieldsOfTurn(t *testing.T) {
	typ := reflect.TypeFor[turn.Turn]()
	for _, s := range table() {
		for _, f := range s.Writes {
			if _, ok := typ.FieldByName(f); !ok {
				t.Errorf("stage %s writes %s, which is no field of turn.Turn", s.Name, f)
			}
		}
	}
}
