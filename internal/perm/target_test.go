package perm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A verdict is about the file that the tool will act on. One that the path no longer leads to is denied in every mode.
func TestTargetIsWhatIsJudged(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, d := range []string{in, out} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("f", filepath.Join(in, "l")); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	for _, tc := range []struct {
		path, target string
		mode         Mode
		want         Verdict
	}{
		{"f", "", ModeAcceptEdits, Allow},
		{"f", filepath.Join(in, "f"), ModeAcceptEdits, Allow},
		{"l", filepath.Join(in, "f"), ModeAcceptEdits, Allow},
		{"f", filepath.Join(out, "f"), ModeAcceptEdits, Deny},
		{"l", filepath.Join(in, "l"), ModeAcceptEdits, Deny},
		{"f", filepath.Join(out, "f"), ModeBypass, Deny},
		{"f", filepath.Join(out, "f"), ModeDefault, Deny},
	} {
		for _, tool := range []string{"Read", "Edit", "Write"} {
			raw, _ := json.Marshal(map[string]string{"file_path": tc.path})
			env := Env{Mode: tc.mode, Platform: runtime.GOOS, Workspace: Workspace{Cwd: in, Roots: []string{in}}}
			if d := Decide(Request{Tool: tool, Input: raw, Target: tc.target}, env); d.Verdict != tc.want {
				t.Errorf("%s %s as %s in mode %s: %v (%s)", tool, tc.path, tc.target, tc.mode, d.Verdict, d.Reason)
			}
		}
	}
}
