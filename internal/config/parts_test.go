package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func shownParts(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%s|%s|%s\n", p.Name, p.State, strings.ReplaceAll(p.Text, "\n", "⏎"))
	}
	return b.String()
}

func TestParts(t *testing.T) {
	grants := []Grant{
		{Key: "hooks", Text: `{"PreToolUse":[{"matcher":"Bash|Edit","hooks":[{"type":"command","command":"a \u003e b && c","timeout":5},{"type":"http","url":"https://x","headers":{"A":"<b>"}}]}],"Stop":[{"hooks":[]}]}`},
		{Key: "permissions.allow", Text: `["Bash(make *)","Read"]`},
		{Key: "permissions.defaultMode", Text: `"acceptEdits"`},
		{Key: "env.PATH", Text: `"./bin:/usr/bin"`},
		{Key: "statusLine", Text: `{"type":"command","command":"./line.sh\nrm -rf ."}`},
		{Key: "sandbox", Text: `{"enabled":false}`},
		{Key: ServersFile, Text: `{"mcpServers":{"docs":{"command":"npx","args":["-y","<docs>"]}},"other":1}`},
		{Key: ".claude/commands/x.md", Text: "allowed-tools: Bash\n!`ls`"},
		{Key: "script of hooks", Text: "sha256 ab"},
	}
	want := `hook PreToolUse, for Bash|Edit||command: a > b && c⏎timeout: 5
hook PreToolUse, for Bash|Edit||url: https://x⏎headers: {"A":"<b>"}⏎type: http
hook Stop||nothing
allow rule||Bash(make *)
allow rule||Read
permissions.defaultMode||acceptEdits
variable PATH||./bin:/usr/bin
statusLine||command: ./line.sh⏎  rm -rf .
sandbox||enabled: false
server docs||command: npx⏎args: ["-y","<docs>"]
.mcp.json other||1
.claude/commands/x.md||allowed-tools: Bash⏎!` + "`ls`" + `
script of hooks||sha256 ab
`
	if diff := cmp.Diff(want, shownParts(Parts(grants))); diff != "" {
		t.Error(diff)
	}
}

// What is not of the documented shape, or could be read in two ways, is shown as it is.
func TestPartsOfOtherShapes(t *testing.T) {
	for _, g := range []Grant{
		{Key: "hooks", Text: `{"Stop":"rm"}`},
		{Key: "hooks", Text: `{"Stop":[{"matcher":1,"hooks":[{"command":"rm"}]}]}`},
		{Key: "hooks", Text: `{"Stop":[{"Hooks":[{"command":"rm"}]}]}`},
		{Key: ServersFile, Text: `{"mcpServers":{"a":{"command":"good"}},"mcpServers":{"a":{"command":"bad"}}}`},
		{Key: ServersFile, Text: `{"mcpServers":{"a":{"command":"good","command":"bad"}}}`},
		{Key: ServersFile, Text: `{"mcpservers":{"a":{"command":"bad"}}}`},
		{Key: ServersFile, Text: `no JSON`},
		{Key: "permissions.allow", Text: `{}`},
	} {
		if got := Parts([]Grant{g}); len(got) != 1 || got[0].Name != g.Key || got[0].Text != g.Text {
			t.Errorf("%s became %+v", g.Text, got)
		}
	}
}

func TestSeen(t *testing.T) {
	file := "/p/.claude/settings.json"
	grants := func(hooks, allow string) []Grant {
		return []Grant{{Key: "hooks", Text: hooks, File: file}, {Key: "permissions.allow", Text: allow, File: file}}
	}
	before := grants(`{"Stop":[{"hooks":[{"command":"a"},{"command":"b"}]}],"PreToolUse":[{"hooks":[{"command":"gone"}]}]}`, `["Bash(make)","Bash(go)"]`)
	seen := seenOf(Parts(before), "/p")
	now := Parts(grants(`{"Stop":[{"hooks":[{"command":"c"},{"command":"a"},{"command":"b2"}]}]}`, `["Bash(go)","Bash(rm)"]`))
	gone := seen.Mark(now, "/p")
	want := "hook Stop|changed|command: c\nhook Stop||command: a\nhook Stop|new|command: b2\nallow rule||Bash(go)\nallow rule|new|Bash(rm)\n"
	if diff := cmp.Diff(want, shownParts(now)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"allow rule Bash(make) (.claude/settings.json)", "hook PreToolUse (.claude/settings.json)"}, gone); diff != "" {
		t.Error(diff)
	}
	same := Parts(before)
	if gone := seen.Mark(same, "/p"); len(gone) > 0 || strings.Contains(shownParts(same), "new") {
		t.Errorf("the same again: %s %v", shownParts(same), gone)
	}
	if gone := Seen(nil).Mark(same, "/p"); gone != nil || strings.Contains(shownParts(same), "new") {
		t.Error("where nothing is known, something is marked")
	}
}
