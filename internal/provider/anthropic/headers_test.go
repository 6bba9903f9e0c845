package anthropic

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/provider"
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
