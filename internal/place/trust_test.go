package place

import (
	"os"
	"path/filepath"
	"testing"

	"lathe/internal/config"
)

// Programs that a trusted project's settings name are run as long as they hold what was approved, then or since.
func TestRunsAsApproved(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(base, "home")) // whose settings are the user's own
	work := filepath.Join(base, "work")
	write := func(file, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := func() *Place {
		t.Helper()
		p, err := Find(Options{Dir: work, Env: map[string]string{"LATHE_HOME": filepath.Join(base, "state"), "CLAUDE_CONFIG_DIR": filepath.Join(base, "config")}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const command = "sh tools/list.sh"
	write(filepath.Join(work, "tools/list.sh"), "echo a\n")
	write(filepath.Join(work, ".claude/settings.json"), `{"fileSuggestion":{"type":"command","command":"`+command+`"}}`)
	write(filepath.Join(base, "config/settings.json"), `{"statusLine":{"type":"command","command":"mine"}}`)
	if p := open(); p.FromProject("fileSuggestion") || p.Trusted {
		t.Error("a project that is not trusted sets something")
	}
	if p := open(); p.Approve(config.NewTrust(p.Sys.Dirs.State)) != nil {
		t.Fatal("it cannot be approved")
	}
	p := open()
	if !p.Trusted || !p.FromProject("fileSuggestion") || p.FromProject("statusLine") || p.FromProject("apiKeyHelper") {
		t.Errorf("trusted %v; of the project: %v", p.Trusted, p.FromProject("fileSuggestion"))
	}
	if !p.RunsAsApproved(command, nil, work) || !p.RunsAsApproved("ls", nil, work) {
		t.Error("what was approved is not run")
	}
	write(filepath.Join(work, "tools/list.sh"), "echo b\n")
	if p.RunsAsApproved(command, nil, work) || p.RunsAsApproved("sh", []string{"tools/list.sh"}, work) || !p.RunsAsApproved("ls", nil, work) {
		t.Error("another program is run in its place")
	}
	if q, err := Find(Options{Dir: work, Trust: true, Env: map[string]string{"LATHE_HOME": filepath.Join(base, "state")}}); err != nil || !q.RunsAsApproved(command, nil, work) {
		t.Errorf("for one run it is trusted: %v", err)
	} else if write(filepath.Join(work, "tools/list.sh"), "echo c\n"); q.RunsAsApproved(command, nil, work) {
		t.Error("trust for one run covers what came later")
	}
	if err := open().Approve(config.NewTrust(p.Sys.Dirs.State)); err != nil {
		t.Fatal(err)
	}
	if !p.RunsAsApproved(command, nil, work) {
		t.Error("what was approved since is not run")
	}
	sub, out := filepath.Join(work, "sub"), filepath.Join(base, "out")
	for _, dir := range []string{sub, out} { // a command may have changed to it
		write(filepath.Join(dir, "tools/list.sh"), "echo c\n")
		if !p.RunsAsApproved(command, nil, dir) {
			t.Errorf("the same program in %s is not run", dir)
		}
		write(filepath.Join(dir, "tools/list.sh"), "echo d\n")
		if p.RunsAsApproved(command, nil, dir) {
			t.Errorf("another program in %s is run in its place", dir)
		}
	}
	if err := os.Remove(filepath.Join(work, "tools/list.sh")); err != nil || p.RunsAsApproved(command, nil, work) {
		t.Errorf("a program that is gone: %v", err)
	}
}

// What was approved counts in another work tree of the project, too: a sub-agent's place is moved there.
func TestTrustInAWorkTree(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(base, "home"))
	work := filepath.Join(base, "work")
	skill, other := filepath.Join(work, ".claude/skills/a/SKILL.md"), filepath.Join(work, ".claude/skills/b/SKILL.md")
	for path, text := range map[string]string{
		filepath.Join(work, ".git/HEAD"): "ref: refs/heads/main\n", filepath.Join(work, "tools/x.sh"): "true\n",
		skill: "---\nname: a\ndescription: x\nallowed-tools: Bash(true)\n---\n!`true`\n", other: "---\nname: b\ndescription: x\n---\nwords\n",
		filepath.Join(work, ".claude/settings.json"): `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"sh tools/x.sh"}]}]}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := func() *Place {
		t.Helper()
		p, err := Find(Options{Dir: work, Env: map[string]string{"LATHE_HOME": filepath.Join(base, "state"), "CLAUDE_CONFIG_DIR": filepath.Join(base, "config")}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := open()
	if err := p.Approve(config.NewTrust(p.Sys.Dirs.State)); err != nil {
		t.Fatal(err)
	}
	p = open()
	moved := *p
	tree := filepath.Join(work, ".claude/worktrees/agent-1")
	if err := os.MkdirAll(tree, 0o755); err != nil {
		t.Fatal(err)
	}
	moved.Move(tree, tree)
	for name, q := range map[string]*Place{"the checkout": p, "a work tree": &moved} {
		if !q.TrustsAt(skill) || !q.TrustsAt(other) || !q.RunsAsApproved("sh tools/x.sh", nil, q.Project) {
			t.Errorf("in %s: skill %v, words %v, hook %v", name, q.TrustsAt(skill), q.TrustsAt(other), q.RunsAsApproved("sh tools/x.sh", nil, q.Project))
		}
	}
}
