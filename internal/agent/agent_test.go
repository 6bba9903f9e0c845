package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	d, ok := Parse("---\nname: reviewer\ndescription: |\n  looks at\n  changes\ntools: Read, Agent(a, b), Bash(git *), mcp__s__*\ndisallowedTools: [Write, Task]\n" +
		"model: inherit\npermissionMode: manual\nmaxTurns: 7\nskills: [one]\nmcpServers:\n  - s\nbackground: yes\neffort: high\nomitClaudeMd: true\nmemory: local\n---\n\nBe strict.\n")
	want := Def{
		Name: "reviewer", Description: "looks at changes", Prompt: "Be strict.", Tools: []string{"Read", "Agent", "Bash", "mcp__s__*"}, Spawns: []string{"a", "b"},
		Disallowed: []string{"Write", "Agent"}, Mode: "default", MaxTurns: 7, Skills: []string{"one"}, Servers: []string{"s"}, Background: true, Effort: "high", Memory: "local", NoMemory: true,
	}
	if diff := cmp.Diff(want, d); !ok || diff != "" {
		t.Errorf("ok %v: %s", ok, diff)
	}
	for name, text := range map[string]string{
		"no head":        "# Documentation\n",
		"no name":        "---\ndescription: x\n---\ny",
		"no description": "---\nname: x\n---\ny",
		"a colon":        "---\nname: \"a:b\"\ndescription: x\n---\ny",
		"a hyphen":       "---\nname: -a\ndescription: x\n---\ny",
		"broken":         "---\nname: [\ndescription: x\n---\ny",
		"nothing":        "",
	} {
		if d, ok := Parse(text); ok {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestGiven(t *testing.T) {
	got, err := Given(json.RawMessage(`{"b":{"description":"B","prompt":"pb","tools":["Read","Agent(x)"],"mcpServers":["s",{"t":{"command":"c"}}],"model":"haiku"},"a":{"description":"A","prompt":"pa","tools":"Read, Bash(ls)","maxTurns":-1}}`))
	want := []Def{
		{Name: "a", Description: "A", Prompt: "pa", Scope: CLI, Tools: []string{"Read", "Bash"}},
		{Name: "b", Description: "B", Prompt: "pb", Scope: CLI, Tools: []string{"Read", "Agent"}, Spawns: []string{"x"}, Servers: []string{"s", "t"}, Inline: map[string]json.RawMessage{"t": json.RawMessage(`{"command":"c"}`)}, Model: "haiku"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v: %s", err, diff)
	}
	for _, text := range []string{"", "null", " "} {
		if got, err := Given(json.RawMessage(text)); err != nil || got != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		`[]`: "must be a JSON object", `{"a":1}`: `agent "a"`, `{"a":{"prompt":"x"}}`: "needs a description", `{"a:b":{"description":"x"}}`: "without a colon",
	} {
		if _, err := Given(json.RawMessage(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The first source that has a name wins.
func TestFind(t *testing.T) {
	root := t.TempDir()
	put := func(path, name, about string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("---\nname: "+name+"\ndescription: "+about+"\n---\nx\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("managed/.claude/agents/m.md", "m", "managed")
	for _, dir := range []string{"managed/.claude", "repo/sub/.claude", "repo/.claude", "home/.claude"} {
		put(dir+"/agents/any/where.md", "one", dir)
	}
	put("repo/sub/.claude/agents/two.md", "two", "near")
	put("repo/.claude/agents/two.md", "two", "far")
	put("home/.claude/agents/two.md", "two", "user")
	put("repo/.lathe/agents/three.md", "three", "ours")
	put("home/.claude/agents/general-purpose.md", "general-purpose", "mine")
	put("home/.claude/agents/notes.txt", "notes", "no definition")
	given := []Def{{Name: "two", Description: "given"}, {Name: "m", Description: "given"}}
	p := Places{
		Managed: []string{filepath.Join(root, "managed")}, Config: filepath.Join(root, "home/.claude"), Work: filepath.Join(root, "repo/sub"), Root: filepath.Join(root, "repo"),
		Project: true, Given: given, Extra: []Def{{Name: "p:four", Description: "plugin"}, {Name: "three", Description: "plugin"}},
	}
	about := func(p Places) map[string]string {
		out := map[string]string{}
		for _, d := range Find(p) {
			out[d.Name] = d.Description
		}
		delete(out, "Explore")
		delete(out, "Plan")
		return out
	}
	want := map[string]string{"m": "managed", "one": "managed/.claude", "two": "given", "three": "ours", "p:four": "plugin", "general-purpose": "mine"}
	if diff := cmp.Diff(want, about(p)); diff != "" {
		t.Error(diff)
	}
	p.Given, p.Managed, p.Extra = nil, nil, nil
	want = map[string]string{"one": "repo/sub/.claude", "two": "near", "three": "ours", "general-purpose": "mine"}
	if diff := cmp.Diff(want, about(p)); diff != "" {
		t.Error(diff)
	}
	p.Project, p.NoBuiltIn = false, true
	want = map[string]string{"one": "home/.claude", "two": "user", "general-purpose": "mine"}
	if diff := cmp.Diff(want, about(p)); diff != "" {
		t.Error(diff)
	}
	if n := len(Find(Places{NoExplore: true})); n != 1 {
		t.Errorf("%d built in without Explore and Plan", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\nname: a\ndescription: b\ntools: Agent(x, y), Read\n---\nbody")
	f.Add("---\ntools: ((\n---")
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := Parse(text)
		if ok && (d.Name == "" || strings.ContainsAny(d.Name, ":()\n") || d.Description == "" || strings.Contains(d.Description, "\n")) {
			t.Errorf("%+v", d)
		}
	})
}
