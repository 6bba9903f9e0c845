package perm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// A tree can bring along a directory that git takes for a repository. The current directory gets there by an earlier
// call, so that it says nothing by itself.
func TestGitInPlantedRepository(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".git", "src", "bare/objects", "bare/refs", "bare/sub", "nested/.git", "common"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"bare/HEAD": "ref: refs/heads/main\n", "bare/config": "[core]\n\tfsmonitor = ./x\n",
		"common/HEAD": "ref: refs/heads/main\n", "common/commondir": "../bare\n",
	} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	input, _ := json.Marshal(map[string]string{"command": "git status"})
	for _, c := range []struct {
		cwd  string
		want Verdict
	}{
		{"", Allow},
		{"src", Allow},
		{"bare", Ask},
		{"bare/sub", Ask},
		{"common", Ask},
		{"nested", Ask},
	} {
		env := Env{Workspace: Workspace{Cwd: filepath.Join(root, c.cwd), Roots: []string{root}}}
		if d := Decide(Request{Tool: "Bash", Input: input}, env); d.Verdict != c.want {
			t.Errorf("git status in %q: %s, want %s: %s", c.cwd, d.Verdict, c.want, d.Reason)
		}
	}
}

// A program that stands in the project under the name of another is not that other one, wherever the search path
// leads there.
func TestPlantedPrograms(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ls", "bin/cat", "sub/git", "out/x"} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path, command string
		want          Verdict
	}{
		{"/usr/bin", "ls", Allow},
		{"/usr/bin:.", "ls", Ask},
		{"/usr/bin:", "ls", Ask},
		{"/usr/bin:.", "cat ls", Allow},
		{"./bin:/usr/bin", "cat ls", Ask},
		{root + "/bin:/usr/bin", "cat ls", Ask},
		{root + "/bin:/usr/bin", "ls", Allow},
		{"/usr/bin:.", "cd sub && ls", Allow},
		{"/usr/bin:.", "cd bin && cat x", Ask},
	} {
		input, _ := json.Marshal(map[string]string{"command": c.command})
		env := Env{Workspace: Workspace{Cwd: root, Roots: []string{root}}, Path: c.path}
		if d := Decide(Request{Tool: "Bash", Input: input}, env); d.Verdict != c.want {
			t.Errorf("%s with PATH=%s: %s, want %s: %s", c.command, c.path, d.Verdict, c.want, d.Reason)
		}
	}
}

func TestUntrustedRepositoryThatRuns(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		runs, command string
		want          Verdict
	}{
		{"", "git log -3", Allow},
		{"its setting core.fsmonitor", "git log -3", Ask},
		{"its setting core.fsmonitor", "ls", Allow},
	} {
		input, _ := json.Marshal(map[string]string{"command": c.command})
		env := Env{Workspace: Workspace{Cwd: dir, Roots: []string{dir}}, GitRuns: func() string { return c.runs }}
		if d := Decide(Request{Tool: "Bash", Input: input}, env); d.Verdict != c.want {
			t.Errorf("%s where git runs %q: %s, want %s: %s", c.command, c.runs, d.Verdict, c.want, d.Reason)
		}
	}
}

// What git would run is asked each time: an earlier command may have put settings there. One decision asks once.
func TestGitRunsIsAskedEachTime(t *testing.T) {
	env := testEnv(t, ModeDefault, nil, nil, nil)
	looks, runs := 0, ""
	env.GitRuns = func() string { looks++; return runs }
	if d := Decide(bash("git status && git log"), env); d.Verdict != Allow || looks != 1 {
		t.Errorf("%v after %d looks", d.Verdict, looks)
	}
	runs = "its setting core.fsmonitor"
	if d := Decide(bash("git status"), env); d.Verdict != Ask {
		t.Error(d.Verdict)
	}
	looks = 0
	if Decide(bash("ls"), env); looks != 0 {
		t.Errorf("%d looks for a command that runs no git", looks)
	}
}
