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

// A ConfigChange hook sees which file changed, and may refuse the change.
func TestConfigChangeHook(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, state := filepath.Join(base, "work"), filepath.Join(base, "state")
	for _, dir := range []string{work, state} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(work)
	settings := filepath.Join(state, "settings.json")
	hook := `"hooks":{"ConfigChange":[{"matcher":"user_settings","hooks":[{"type":"command","command":"cat > ` + filepath.ToSlash(base) + `/seen; test -e ` + filepath.ToSlash(base) + `/refuse && exit 2; exit 0"}]}]}`
	write := func(rules string) {
		if err := os.WriteFile(settings, []byte(`{`+hook+`,"permissions":{"deny":[`+rules+`]}}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	o := demoOptions(base)
	o.Sources, o.Recording, o.Replay = nil, nil, filepath.Join(base, "none.jsonl")
	if err := os.WriteFile(o.Replay, []byte("{\"recording\":1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	o.Log = &out
	r, err := newRun(o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	now := time.Now()
	r.watch = config.NewWatcher(r.place.Places, func() time.Time { now = now.Add(2 * time.Second); return now })
	decide := func() perm.Verdict {
		return r.decide(perm.Request{Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}).Verdict
	}
	if err := os.WriteFile(filepath.Join(base, "refuse"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	write(`"Bash(ls)"`)
	if got := decide(); got != perm.Allow || !strings.Contains(out.String(), "refused the changed settings") {
		t.Errorf("a refused change counts: %v, told %q", got, out.String())
	}
	seen, _ := os.ReadFile(filepath.Join(base, "seen"))
	for _, want := range []string{`"hook_event_name":"ConfigChange"`, `"source":"user_settings"`, filepath.ToSlash(settings)} {
		if !strings.Contains(string(seen), want) {
			t.Errorf("the hook was not told %s: %s", want, seen)
		}
	}
	if err := os.Remove(filepath.Join(base, "refuse")); err != nil {
		t.Fatal(err)
	}
	write(`"Bash(ls)","Bash(pwd)"`)
	if got := decide(); got != perm.Deny {
		t.Errorf("a change that was let through does not count: %v", got)
	}
}
