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
	h := r.hooks
	waits := func() bool { h.idle.mu.Lock(); defer h.idle.mu.Unlock(); return h.idle.timer != nil }
	o.Asks = false
	h.rest(time.Hour)
	if waits() {
		t.Error("it waits for nobody")
	}
	o.Asks = true
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

// The hooks of a place are told of a sign-in, without a session and without a key.
func TestSignedIn(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(base, "state")
	if err := os.MkdirAll(state, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(base)
	hooks := `{"hooks":{"Notification":[{"matcher":"auth_success","hooks":[{"type":"command","command":"cat > told"}]}]}}`
	if err := os.WriteFile(filepath.Join(state, "settings.json"), []byte(hooks), 0o600); err != nil {
		t.Fatal(err)
	}
	o := demoOptions(base)
	o.Sources, o.Recording = nil, nil
	var out bytes.Buffer
	o.Log = &out
	s, err := OpenServers(*o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.SignedIn("tracker")
	b, err := os.ReadFile("told")
	if err != nil || !bytes.Contains(b, []byte(`"auth_success"`)) || !bytes.Contains(b, []byte("tracker")) {
		t.Errorf("told %q, %v\n%s", b, err, out.String())
	}
}
