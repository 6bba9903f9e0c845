package anthropic

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/provider/wire"
)

// What people are shown of the headers has no key in it, and nothing that a user set.
func TestHeadersHideSecrets(t *testing.T) {
	c, err := New(Options{APIKey: "sk-key", Headers: http.Header{"x-proxy-key": {"secret"}, "Anthropic-Version": {"mine"}}})
	if err != nil {
		t.Fatal(err)
	}
	got := c.Headers(&provider.Request{Betas: []string{"b"}})
	want := map[string]string{
		"Accept": "text/event-stream, application/json", "Content-Type": "application/json", "User-Agent": "lathe",
		"Anthropic-Beta": "b", "Anthropic-Version": "(not shown)", "X-Api-Key": "(not shown)", "X-Proxy-Key": "(not shown)",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// The hash that is told is that of the body that is sent, before a call, after it and beside it.
func TestSum(t *testing.T) {
	c, err := New(Options{APIKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	req := &provider.Request{Model: "m", MaxTokens: 1, Messages: []provider.Message{{Role: "user", Content: []msg.Block{msg.Text("a")}}}}
	want := wire.Checksum(wire.AppendRequest(nil, req))
	check := func(when string) {
		t.Helper()
		if got, n := c.Sum(req); got != fmt.Sprintf("%08x", want) || n != len(wire.AppendRequest(nil, req)) {
			t.Errorf("%s: %s, %d bytes", when, got, n)
		}
	}
	check("before")
	held := c.bodies.encode(req)
	check("beside")
	held.done()
	check("after")
	if string(c.bodies.encode(req).data) != string(wire.AppendRequest(nil, req)) {
		t.Error("the next body is another one")
	}
}
