package app

import (
	"testing"

	"lathe/internal/perm"
)

func TestServerModes(t *testing.T) {
	m := &serverModes{modes: map[string]perm.Mode{"asked": perm.ModeDefault, "judged": perm.ModeAuto, "a": perm.ModeAuto, "a__b": perm.ModeDefault, "s.t": perm.ModeAuto, "s t": perm.ModeDefault}}
	for _, c := range []struct {
		tool       string
		mode, want perm.Mode
	}{
		{"mcp__asked__x", perm.ModeBypass, perm.ModeDefault},
		{"mcp__asked__x", perm.ModeAuto, perm.ModeDefault},
		{"mcp__judged__x", perm.ModeBypass, perm.ModeAuto},
		{"mcp__judged__x", perm.ModePlan, perm.ModePlan},
		{"mcp__asked__x", perm.ModeDontAsk, perm.ModeDontAsk},
		{"mcp__askedtoo__x", perm.ModeBypass, perm.ModeBypass},
		{"mcp__a__b__x", perm.ModeBypass, perm.ModeDefault},
		{"mcp__a__x", perm.ModeBypass, perm.ModeAuto},
		{"mcp__s_t__x", perm.ModeBypass, perm.ModeDefault},
		{"Bash", perm.ModeBypass, perm.ModeBypass},
	} {
		if got := m.of(c.tool, c.mode); got != c.want {
			t.Errorf("%s in %s: %s, want %s", c.tool, c.mode, got, c.want)
		}
	}
}
