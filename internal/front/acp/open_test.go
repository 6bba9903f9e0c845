package acp

import "testing"

// Requests for one session that come together open it one after the other: each ends what the one before it has opened.
func TestLoadTogether(t *testing.T) {
	r := newRig(t)
	r.gate = make(chan struct{})
	const loads = 3
	for range loads {
		r.ask("session/load", `{"sessionId":"s","cwd":"/","mcpServers":[]}`)
	}
	go func() {
		for range loads {
			r.gate <- struct{}{}
		}
	}()
	for range loads {
		if m := r.until(func(m message) bool { return m.Method == "" }); m.Error != nil {
			t.Errorf("%s: %v", m.ID, m.Error)
		}
	}
	r.end()
	if len(r.opened) != loads {
		t.Fatalf("%d opened", len(r.opened))
	}
	for i, p := range r.opened {
		select {
		case <-p.ended:
		default:
			t.Errorf("session %d of %d is not ended", i+1, loads)
		}
	}
	if r.beside > 0 {
		t.Errorf("%d times one was opened beside another", r.beside)
	}
}
