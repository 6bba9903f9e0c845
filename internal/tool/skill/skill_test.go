package skill_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	found "lathe/internal/skill"
	"lathe/internal/tool"
	"lathe/internal/tool/skill"
)

func TestSkill(t *testing.T) {
	all := []found.Skill{
		{Name: "mine", Scope: "user", Dir: "/u/mine", Body: "do $ARGUMENTS"},
		{Name: "theirs", Scope: "project", Dir: "/p/theirs", Body: "x"},
		{Name: "secret", Scope: "user", UserOnly: true},
	}
	for name, c := range map[string]struct {
		input   string
		trusted bool
		want    string
		err     string
	}{
		"loaded":      {`{"skill":"/mine","args":"it"}`, false, "Skill mine, from /u/mine. Its further files are beside it; read them when it refers to them.\n\ndo it", ""},
		"not trusted": {`{"skill":"theirs"}`, false, "", "is not trusted"},
		"trusted":     {`{"skill":"theirs"}`, true, "Skill theirs, from /p/theirs. Its further files are beside it; read them when it refers to them.\n\nx", ""},
		"unknown":     {`{"skill":"other"}`, true, "", "there are: mine, theirs"},
		"user only":   {`{"skill":"secret"}`, true, "", "there is no skill"},
	} {
		t.Run(name, func(t *testing.T) {
			s := skill.New(skill.Deps{
				Find: func() []found.Skill { return all }, Trusted: func() bool { return c.trusted }, Vars: func() found.Vars { return found.Vars{} },
			})
			plan, err := s.Plan(t.Context(), tool.Call{ID: "1", Input: json.RawMessage(c.input)})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			res, err := plan.Run(t.Context(), func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, res.Blocks[0].Text); diff != "" {
				t.Error(diff)
			}
		})
	}
}
