package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Trust is bound to what definitions run or allow, too, and not to their other words.
func TestDefinitionsAreGrants(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	hash := func() string { return GrantsHash((&Settings{}).Grants(filepath.Join(dir, "deeper"), dir), dir) }
	none := hash()
	write(".claude/agents/plain.md", "---\nname: plain\ndescription: d\ntools: Read\n---\nLook.")
	write(".claude/commands/ask.md", "Ask about $ARGUMENTS.")
	if hash() != none {
		t.Error("words alone are something to approve")
	}
	write(".claude/agents/armed.md", "---\nname: armed\nhooks:\n  Stop: []\n---\nWork.")
	write(".lathe/commands/deep/state.md", "---\nallowed-tools: Bash(git *)\n---\nHere:\n!`git status`\nThat is all.")
	write(".claude/skills/s/SKILL.md", "---\r\ndescription: d\r\n---\r\nDo:\r\n```!\r\nmake\r\n```\r\n")
	var got [][2]string
	for _, g := range (&Settings{}).Grants(dir, "") {
		got = append(got, [2]string{g.Key, g.Text})
	}
	want := [][2]string{
		{".claude/agents/armed.md", "name: armed\nhooks:\n  Stop: []"},
		{".claude/skills/s/SKILL.md", "Do:\n```!\nmake\n```"},
		{".lathe/commands/deep/state.md", "allowed-tools: Bash(git *)\n!`git status`"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	before := hash()
	write(".claude/agents/armed.md", "---\nname: armed\nhooks:\n  Stop: []\n---\nWork harder.")
	if hash() != before {
		t.Error("a changed word asks again")
	}
	write(".lathe/commands/deep/state.md", "---\nallowed-tools: Bash(git *)\n---\nHere:\n!`git push`\nThat is all.")
	if hash() == before {
		t.Error("a changed shell line does not ask again")
	}
}
