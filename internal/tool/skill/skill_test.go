package skill_test

import (
	"context"
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
		{Name: "commit", Long: "git:commit", Command: true, Scope: "project", Dir: "/p/git", Body: "x"},
		{Name: "secret", Scope: "user", UserOnly: true},
	}
	for name, c := range map[string]struct{ input, want, err string }{
		"loaded":       {`{"skill":"/mine","args":"it"}`, "mine: do it", ""},
		"by long name": {`{"skill":"git:commit"}`, "commit: x", ""},
		"unknown":      {`{"skill":"other"}`, "", "there are: mine, commit"},
		"user only":    {`{"skill":"secret"}`, "", "there is no skill"},
	} {
		t.Run(name, func(t *testing.T) {
			s := skill.New(skill.Deps{
				Find: func() []found.Skill { return all },
				Load: func(_ context.Context, s found.Skill, args string) (string, error) {
					return s.Name + ": " + s.Render(args, found.Vars{}), nil
				},
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
