package msg

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Every field of a block counts: one that same forgot would send an old message again.
func TestSameLooksAtEveryField(t *testing.T) {
	full := func() Block {
		return Block{
			Type: "a", Text: "b", Signature: "c", Data: "d", ID: "e", Name: "f", Input: json.RawMessage("1"), ToolUseID: "g",
			Content: []Block{Text("h")}, IsError: true, Source: &Source{Type: "i"}, Raw: json.RawMessage("2"),
		}
	}
	if !same(full(), full()) || !same(Block{}, Block{}) {
		t.Error("equal blocks are not the same")
	}
	for i := range reflect.TypeFor[Block]().NumField() {
		b := full()
		field := reflect.ValueOf(&b).Elem().Field(i)
		name := reflect.TypeFor[Block]().Field(i).Name
		if field.IsZero() {
			t.Errorf("%s is not set here: set it, and compare it in same", name)
		}
		field.SetZero()
		if same(full(), b) || same(b, full()) {
			t.Errorf("same does not look at %s", name)
		}
	}
	other := full()
	other.Source = &Source{Type: "j"}
	if same(full(), other) {
		t.Error("same does not look into Source")
	}
	other = full()
	other.Content = []Block{Text("z")}
	if same(full(), other) {
		t.Error("same does not look into Content")
	}
}
