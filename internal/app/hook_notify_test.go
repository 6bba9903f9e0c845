package app

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A hook is told when a session waits for the person, not when a turn has begun meanwhile, or when nobody is there.
func TestIdlePrompt(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(base, "state")
	if err := os.MkdirAll(state, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(base)
	hooks := `{"hooks":{"Notification":[{"matcher":"idle_prompt","hooks":[{"type":"command","command":"echo told >> told"}]}]}}`
	if err := os.WriteFile(filepath.Join(state, "settings.json"), []byte(hooks), 0o600); err != nil {
		t.Fatal(err)
	}
	o := demoOptions(base)
	o.sources, o.recording, o.replay = nil, nil, filepath.Join(base, "none.jsonl")
	if err := os.WriteFile(o.replay, []byte("{\"recording\":1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r, err := newRun(o, Streams{Out: &out, Err: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	h := r.hooks
	waits := func() bool { h.idle.mu.Lock(); defer h.idle.mu.Unlock(); return h.idle.timer != nil }
	o.asks = false
	h.rest(time.Hour)
	if waits() {
		t.Error("it waits for nobody")
	}
	o.asks = true
	h.rest(time.Hour)
	if !waits() {
		t.Error("it does not wait")
	}
	h.wakeUp(false)
	if waits() {
		t.Error("it waits while a turn runs")
	}
	h.rest(0)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if b, _ := os.ReadFile("told"); string(b) == "told\n" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the hook was not told: %s", out.String())
		}
	}
	h.wakeUp(true)
	h.rest(0)
	if waits() {
		t.Error("it waits after the end")
	}
}
