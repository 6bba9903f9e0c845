package cases

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/perm"
)

func readFile(t testing.TB, name string) []Case {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func tempDir(t testing.TB) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// TestCorpus runs the project's own cases. Every ask and deny whose answer is documented must be exactly right, or
// stricter where the row accepts it; of the allows at least 99 in 100.
func TestCorpus(t *testing.T) {
	t.Parallel()
	list := readFile(t, "permissions.jsonl")
	root := tempDir(t)
	allows, allowed, exact := 0, 0, 0
	for _, c := range list {
		res, err := c.Run(filepath.Join(root, c.ID))
		if err != nil {
			t.Error(err)
			continue
		}
		if res.OK {
			exact++
		}
		switch {
		case c.Expect == "allow":
			allows++
			if res.OK {
				allowed++
			} else {
				t.Logf("%s: want allow, got %s: %s (%s)", c.ID, res.Decision, res.Reason, shown(c.Input))
			}
		case !res.Acceptable:
			t.Errorf("%s: want %s, got %s: %s (%s)", c.ID, c.Expect, res.Decision, res.Reason, shown(c.Input))
		case !res.OK:
			t.Logf("%s: want %s, got the acceptable %s: %s (%s)", c.ID, c.Expect, res.Decision, res.Reason, shown(c.Input))
		}
	}
	t.Logf("%d cases, %d exact; %d of %d allows", len(list), exact, allowed, allows)
	if allowed*100 < allows*99 {
		t.Errorf("only %d of %d allows are allowed", allowed, allows)
	}
}

// TestMore runs more commands and calls of every kind, each exactly.
func TestMore(t *testing.T) {
	t.Parallel()
	root := tempDir(t)
	for _, c := range readFile(t, "more.jsonl") {
		res, err := c.Run(filepath.Join(root, c.ID))
		if err != nil {
			t.Error(err)
		} else if !res.Acceptable {
			t.Errorf("%s: want %s, got %s: %s (%s)", c.ID, c.Expect, res.Decision, res.Reason, shown(c.Input))
		}
	}
}

// TestSavedAnswer saves what each question suggests: with it the same call is allowed, and the call with one more
// part is not.
func TestSavedAnswer(t *testing.T) {
	t.Parallel()
	root := tempDir(t)
	suggested := 0
	for i, c := range append(readFile(t, "permissions.jsonl"), readFile(t, "more.jsonl")...) {
		if i%5 != 0 || strings.Contains(string(c.Input), " # ") {
			continue // a part of them is enough; a comment would swallow the added part
		}
		dir := filepath.Join(root, c.ID)
		res, err := c.Run(dir)
		if err != nil || len(res.Full.Suggest) == 0 {
			continue
		}
		suggested++
		if res.Full.Verdict != perm.Ask {
			t.Errorf("%s: a suggestion on %s", c.ID, res.Decision)
		}
		for _, r := range res.Full.Suggest {
			c.Settings.Allow = append(c.Settings.Allow, r.Text)
		}
		c.Setup, c.Context = nil, Context{Scope: "user"}
		if again, err := c.Run(dir); err != nil || again.Decision != "allow" {
			t.Errorf("%s: with %v the same call is %s: %s (%v)", c.ID, res.Full.Suggest, again.Decision, again.Reason, err)
		}
		if c.Tool != "Bash" {
			continue
		}
		var in map[string]any
		if err := json.Unmarshal(c.Input, &in); err != nil {
			t.Fatal(err)
		}
		for _, tail := range []string{"; zz-unknown x", " && zz-unknown", " | zz-unknown", " > zz-out", "\nzz-unknown"} {
			more := c
			changed := map[string]any{"command": in["command"].(string) + tail}
			more.Input, _ = json.Marshal(changed)
			if again, err := more.Run(dir); err != nil || again.Decision == "allow" && tail != " > zz-out" {
				t.Errorf("%s: with %v the call with %q is allowed (%v)", c.ID, res.Full.Suggest, tail, err)
			}
		}
	}
	t.Logf("%d questions with a suggestion", suggested)
	if suggested < 60 {
		t.Errorf("only %d questions suggest a rule", suggested)
	}
}

func shown(input json.RawMessage) string {
	s := string(input)
	if len(s) > 160 {
		s = s[:160] + "…"
	}
	return strings.ToValidUTF8(s, "?")
}
