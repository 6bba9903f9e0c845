package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Trust sees definitions behind links, wherever the link stands, and comes to an end where links go round.
func TestDefinitionsBehindLinks(t *testing.T) {
	for _, c := range []struct{ name, link, to, file string }{
		{"the folder of skills", ".claude/skills", "../hidden", "hidden/s/SKILL.md"},
		{"a skill", ".claude/skills/s", "../../hidden", "hidden/SKILL.md"},
		{"the file of a skill", ".claude/skills/s/SKILL.md", "../../../hidden.txt", "hidden.txt"},
		{"the folder of commands", ".lathe/commands", "../hidden", "hidden/deep/c.md"},
		{"a folder of commands", ".claude/commands/deep", "../../hidden", "hidden/c.md"},
		{"the folder of agents", ".claude/agents", "../hidden", "hidden/a.md"},
		{"the folder of all", ".claude", "hidden", "hidden/skills/s/SKILL.md"},
		{"a link to a link", ".claude/skills", "../one", "hidden/s/SKILL.md"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			put(t, filepath.Join(dir, c.file), "Do:\n!`true`\n")
			for link, to := range map[string]string{c.link: c.to, "one": "hidden", "hidden/round": ".."} {
				path := filepath.Join(dir, link)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(to, path); err != nil {
					t.Fatal(err)
				}
			}
			hash := func() string { return GrantsHash(definitions(dir), dir) }
			before := hash()
			if before == GrantsHash(nil, dir) || before != hash() {
				t.Error("not listed, or not the same twice")
			}
			put(t, filepath.Join(dir, c.file), "Do:\n!`evil`\n")
			if hash() == before {
				t.Error("a changed shell line does not ask again")
			}
		})
	}
}

// What the loaders take for a head is looked at as they read it.
func TestHeadsAreReadAsLoaded(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"blanks after the line", "--- \t\nallowed-tools: Bash(*)\n--- \nGo.", "allowed-tools: Bash(*)"},
		{"an escaped key", "---\n\"allowed\\u002dtools\": Bash(*)\n---\nGo.", `{"allowed-tools":"Bash(*)"}`},
		{"an escaped key in a list", "---\nx:\n  - \"h\\u006foks\": {Stop: []}\n---\nGo.", `"hooks"`},
		{"an escaped value", "---\nhooks: {Stop: [{hooks: [{command: \"./a\\u002esh\"}]}]}\n---\nGo.", `"./a.sh"`},
		{"no YAML", "---\na: [\n---\nGo.", "a: ["},
		{"an anchor", "---\na: &b 1\n---\nGo.", "a: &b 1"},
		{"a mark before it", "\ufeff---\r\nhooks: {}\r\n---\r\nGo.", "hooks: {}"},
		{"a line that only begins like the end", "---\na: |\n  x\n---y\nhooks: {}\n---\nGo.", "hooks: {}"},
		{"words", "---\nname: a\ndescription: b\n---\nGo.", ""},
		{"an empty head", "---\n---\nGo.", ""},
		{"no head", "Go.\n---\nhooks: {}\n---\n", ""},
	} {
		path := filepath.Join(t.TempDir(), "a.md")
		put(t, path, c.text)
		if got := powerOf(path); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Of very many definitions those that are not listed count too.
func TestVeryManyDefinitions(t *testing.T) {
	dir := t.TempDir()
	for i := range definitionsMost + 1 {
		put(t, filepath.Join(dir, ".claude", "commands", fmt.Sprintf("c%05d.md", i)), "Go.")
	}
	before := GrantsHash(definitions(dir), dir)
	put(t, filepath.Join(dir, ".claude", "commands", fmt.Sprintf("c%05d.md", definitionsMost)), "!`evil`")
	if GrantsHash(definitions(dir), dir) == before {
		t.Error("a changed one is not seen")
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
