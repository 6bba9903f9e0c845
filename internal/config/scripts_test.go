package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Trust is bound to what the programs of the project hold that its hooks and helpers name, however they are named.
func TestScriptsAreGrants(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.sh", "tools/b", "c.py", "d.mjs", "e.sh", "line.sh", "key.sh", "agent.sh", "other.sh", "shebang"} {
		write(name, "#!/bin/sh\necho one\n", 0o755)
	}
	write("c.py", "print(1)\n", 0o644)
	write("data.json", "{}", 0o644)
	write(".claude/agents/x.md", "---\nname: x\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: ./agent.sh now\n---\nWork.", 0o644)
	l := &Layer{Scope: Project, File: filepath.Join(dir, ".claude", "settings.json"), Keys: map[string]json.RawMessage{
		"hooks": json.RawMessage(`{"Stop":[{"hooks":[{"type":"command","command":"./a.sh && \"$CLAUDE_PROJECT_DIR\"/tools/b;${CLAUDE_PROJECT_DIR}/shebang|cat data.json"},
			{"type":"command","command":"python3","args":["c.py"]},{"type":"command","command":"node d.mjs > out; /usr/bin/env sh ` + dir + `/e.sh ../../etc/passwd /bin/sh"}]}]}`),
		"statusLine":   json.RawMessage(`{"type":"command","command":"sh line.sh"}`),
		"apiKeyHelper": json.RawMessage(`"./key.sh"`),
	}}
	s := &Settings{Layers: []*Layer{l}}
	named := func() (out []string) {
		for _, g := range s.Grants(filepath.Join(dir, "deeper"), dir) {
			if g.Key == "script of hooks" || g.Key == "script of statusLine" || g.Key == "script of apiKeyHelper" || g.Key == "script of .claude/agents/x.md" {
				name, err := filepath.Rel(dir, g.File)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, filepath.ToSlash(name))
			}
		}
		slices.Sort(out)
		return out
	}
	want := []string{"a.sh", "agent.sh", "c.py", "d.mjs", "e.sh", "key.sh", "line.sh", "shebang", "tools/b"}
	if got := named(); !slices.Equal(got, want) {
		t.Errorf("bound to %v, not %v", got, want)
	}
	hash := func() string { return GrantsHash(s.Grants(filepath.Join(dir, "deeper"), dir), dir) }
	before := hash()
	for _, name := range want {
		write(name, "#!/bin/sh\necho two\n", 0o755)
		if after := hash(); after == before {
			t.Errorf("%s was changed, and trust stays", name)
		} else {
			before = after
		}
	}
	write("other.sh", "#!/bin/sh\nrm -rf /\n", 0o755)
	write("data.json", "[]", 0o644)
	if hash() != before {
		t.Error("what no command runs asks again")
	}
}

// What a hook runs is bound wherever it may run from, and whatever its file is called.
func TestScriptsOfOtherPlaces(t *testing.T) {
	top := t.TempDir()
	start := filepath.Join(top, "pkg")
	for name, text := range map[string]string{"pkg/x.sh": "one", "hooks/check": "two", "hooks/y.sh": "three", "hooks/plain": "four", "hooks/data": "five"} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for hooks, want := range map[string]string{
		`"$CLAUDE_PROJECT_DIR/x.sh"`:                      "pkg/x.sh",
		`"bash hooks/check"`:                              "hooks/check",
		`"cd hooks && ./y.sh"`:                            "hooks/y.sh",
		`"cd hooks; sh ./plain < data"`:                   "hooks/plain",
		`{"command":"python3.12","args":["hooks/check"]}`: "hooks/check",
		`"cat hooks/data"`:                                "",
	} {
		var got []string
		for _, g := range scripts([]Grant{{Key: "hooks", Text: hooks}}, []string{start, top}) {
			got = append(got, g.File)
		}
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, filepath.Join(top, want)) {
			t.Errorf("%s binds %v, not %s", hooks, got, want)
		}
	}
}

// A program counts as the one that was approved by what it holds: in its own place only that, in another one any of them.
func TestSameScripts(t *testing.T) {
	top := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	const guard, idle, odd = "#!/bin/sh\nexit 2\n", "#!/bin/sh\nexit 0\n", "#!/bin/sh\ntrue\n"
	write("guard", guard, 0o755)
	write("idle.sh", idle, 0o755)
	dirs := []string{top}
	approved := scripts([]Grant{{Key: "hooks", Text: `{"command":"./guard && sh idle.sh"}`}}, dirs)
	if len(approved) != 2 {
		t.Fatalf("approved: %v", approved)
	}
	same := func(command string) bool { return SameScripts(approved, command, nil, dirs, top) }
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		command    string
		want       bool
	}{
		{"guard", guard, 0o755, "./guard", true},
		{"guard", guard, 0o644, "./guard", true}, // it holds what it held
		{"guard", odd, 0o755, "./guard", false},
		{"guard", idle, 0o755, "./guard", false}, // another one that was approved, in its place
		{"tree/guard", guard, 0o755, "./tree/guard", true},
		{"tree/guard", odd, 0o755, "./tree/guard", false},
		{"guard", guard, 0o755, "ls", true},
	} {
		write(c.name, c.text, c.mode)
		if got := same(c.command); got != c.want {
			t.Errorf("%s as %q, %s: %v", c.name, c.text, c.command, got)
		}
	}
	if SameScripts(approved, "./guard", nil, nil, top) {
		t.Error("without the project's folders")
	}
}
