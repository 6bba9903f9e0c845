package cases

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCorpus runs the project's own cases. Every ask and deny whose answer is documented must be exactly right, or
// stricter where the row accepts it; of the allows at least 99 in 100.
func TestCorpus(t *testing.T) {
	data, err := os.ReadFile("../testdata/permissions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	list, err := Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	allows, allowed, exact := 0, 0, 0
	for _, c := range list {
		dir := filepath.Join(root, c.ID)
		res, err := c.Run(dir)
		if err != nil {
			t.Error(err)
			continue
		}
		if res.OK {
			exact++
		}
		if c.Expect == "allow" {
			allows++
			if res.Decision == "allow" {
				allowed++
			} else {
				t.Logf("%s: want allow, got %s: %s (%s)", c.ID, res.Decision, res.Reason, shown(c.Input))
			}
			continue
		}
		if !res.Acceptable {
			t.Errorf("%s: want %s, got %s: %s (%s)", c.ID, c.Expect, res.Decision, res.Reason, shown(c.Input))
		} else if !res.OK {
			t.Logf("%s: want %s, got the acceptable %s: %s (%s)", c.ID, c.Expect, res.Decision, res.Reason, shown(c.Input))
		}
	}
	t.Logf("%d cases, %d exact; %d of %d allows", len(list), exact, allowed, allows)
	if allowed*100 < allows*99 {
		t.Errorf("only %d of %d allows are allowed", allowed, allows)
	}
}

func shown(input json.RawMessage) string {
	s := string(input)
	if len(s) > 120 {
		s = s[:120] + "…"
	}
	return strings.ToValidUTF8(s, "?")
}
