package cache

import (
	"testing"
	"time"

	"lathe/internal/msg"
)

// A change of speed is named as what lost the cache of the messages.
func TestSpeedLosesTheCache(t *testing.T) {
	body := func(head string) []byte {
		return []byte(`{"model":"m",` + head + `"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]}`)
	}
	at := time.Unix(0, 0)
	m := Explain(
		Sent{Model: "m", At: at, Body: body(""), Usage: msg.Usage{CacheWrite: 100_000}},
		Sent{Model: "m", At: at.Add(time.Second), Body: body(`"speed":"fast",`), Usage: msg.Usage{CacheWrite: 100_000}},
	)
	if m.Cause != Setting || m.Where != "speed" || m.Before != "" {
		t.Errorf("%+v", m)
	}
}
