package app

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/config"
	"lathe/internal/perm"
)

// Rules that change while a session runs count from the next call on; a file that cannot be read any more leaves
// in force what it said.
func TestRulesChangeWhileRunning(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(base, "work")
	file := filepath.Join(work, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(work)
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"permissions":{"deny":[]}}`)
	var errOut bytes.Buffer
	r, err := newRun(demoOptions(base), Streams{Out: &errOut, Err: &errOut})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	now := time.Now()
	r.watch = config.NewWatcher(r.place.places, func() time.Time { now = now.Add(2 * time.Second); return now })
	decide := func() perm.Verdict {
		return r.decide(perm.Request{Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}).Verdict
	}
	if got := decide(); got != perm.Allow {
		t.Fatalf("before: %v", got)
	}
	write(`{"permissions":{"deny":["Bash(ls)"]}}`)
	if got := decide(); got != perm.Deny {
		t.Errorf("a new deny rule does not count: %v", got)
	}
	write(`{"permissions":{"deny":["Bash(ls)"`)
	if got := decide(); got != perm.Deny || !strings.Contains(errOut.String(), "settings.json:1:") {
		t.Errorf("a broken file opened what it had denied: %v, told %q", got, errOut.String())
	}
	write(`{"permissions":{"deny":["Bash(pwd)"]}}`)
	if got := decide(); got != perm.Allow {
		t.Errorf("a repaired file does not count: %v", got)
	}
}
