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
