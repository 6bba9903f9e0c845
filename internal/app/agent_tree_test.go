package app

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/agent"
	"lathe/internal/mcp"
	"lathe/internal/perm"
	"lathe/internal/place"
)

// A tree that a transcript names is believed only where this session would have made it.
func TestKnowsTree(t *testing.T) {
	r := testRun(t, Options{Options: place.Options{Settings: `{"hooks":{"WorktreeCreate":[{"hooks":[{"type":"command","command":"true"}]}]}}`}})
	work, home := r.place.Sys.Dirs.Work, r.place.Sys.Dirs.Home
	elsewhere, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tree *agentTree
		want string // "": it is believed
	}{
		{&agentTree{Root: work, Path: filepath.Join(elsewhere, "tree")}, ""},
		{&agentTree{Root: elsewhere, Path: filepath.Join(elsewhere, "tree")}, "another checkout"},
		{&agentTree{Root: work, Path: filepath.Dir(work)}, "more than a work tree"},
		{&agentTree{Root: work, Path: work}, "more than a work tree"},
		{&agentTree{Root: work, Path: home}, "more than a work tree"},
		{&agentTree{Root: work, Path: filepath.Join(elsewhere, "tree"), Branch: "worktree-agent-1"}, "not where work trees are made"},
	} {
		err := r.knowsTree(c.tree)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s of %s: %v, want %q", c.tree.Path, c.tree.Root, err, c.want)
		}
	}
}

// What the rules ask about in the checkout is asked in a sub-agent's work tree, too, and its files are not changed from there.
func TestJudgeInATree(t *testing.T) {
	r := testRun(t, Options{Options: place.Options{Settings: `{"permissions":{"ask":["Read(./secret)"],"deny":["Read(./key)"]}}`}})
	root := r.place.Sys.Dirs.Work
	tree := &agentTree{Root: root, Path: filepath.Join(root, ".claude", "worktrees", "a")}
	child := &run{common: r.common, place: r.place, tools: r.tools, agent: &agentPart{parent: r, tree: tree}}
	env := perm.Env{Mode: perm.ModeBypass, Workspace: perm.Workspace{Cwd: tree.Path, Roots: []string{tree.Path, root}, Home: r.place.Sys.Dirs.Home}}
	env.Rules, _ = perm.Compile(nil, perm.Options{Start: tree.Path, ProjectRoot: tree.Path})
	for _, c := range []struct {
		tool, path string
		want       perm.Verdict
	}{
		{"Read", filepath.Join(root, "plain"), perm.Allow},
		{"Read", filepath.Join(root, "secret"), perm.Ask},
		{"Read", filepath.Join(root, "key"), perm.Deny},
		{"Write", filepath.Join(root, "plain"), perm.Deny},
		{"Write", filepath.Join(tree.Path, "plain"), perm.Allow},
	} {
		in, _ := json.Marshal(map[string]string{"file_path": c.path, "content": "x"})
		if d := child.judge(perm.Request{Tool: c.tool, Input: in}, env); d.Verdict != c.want {
			t.Errorf("%s %s: %v, want %v: %s", c.tool, c.path, d.Verdict, c.want, d.Reason)
		}
	}
}

// The mode of a server is that of the server a tool belongs to: the longest name that fits, and of two the stricter.
func TestModeOfAServersTool(t *testing.T) {
	for range 20 { // in any order
		m := serverModes{modes: map[string]perm.Mode{"a": perm.ModeDefault, "a__b": perm.ModeAuto, "x.y": perm.ModeAuto, "x_y": perm.ModeDefault}}
		for tool, want := range map[string]perm.Mode{
			"mcp__a__c": perm.ModeDefault, "mcp__a__b__c": perm.ModeAuto, "mcp__x_y__z": perm.ModeDefault, "mcp__other__z": perm.ModeBypass, "Bash": perm.ModeBypass,
		} {
			if got := m.of(tool, perm.ModeBypass); got != want {
				t.Fatalf("%s: %s, want %s", tool, got, want)
			}
		}
	}
}

// A server that an agent brings along takes no name that the session's tools have, however it is spelt.
func TestServersOfAnAgent(t *testing.T) {
	r := testRun(t, Options{Servers: []string{`{"mcpServers":{"my.server":{"command":"x"}}}`}})
	def := agent.Def{Name: "worker", Scope: agent.CLI, Inline: map[string]json.RawMessage{}}
	for _, name := range []string{"my_server", "my.server", "other"} {
		def.Inline[name] = json.RawMessage(`{"command":"y"}`)
	}
	var names []string
	for _, c := range r.agentServerEntries(def) {
		names = append(names, c.Name)
	}
	if strings.Join(names, " ") != "other" || mcp.Prefix("my.server") != mcp.Prefix("my_server") {
		t.Errorf("%q", names)
	}
}
