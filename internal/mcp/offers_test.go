package mcp

import (
	"context"
	"testing"
	"time"
)

// offered asks for the resources until the servers were asked once and is holds, and returns their addresses.
func offered(t *testing.T, s *Set, is func(uris []string) bool) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		list, building := s.Offers(ctx, true)
		var uris []string
		for _, r := range list {
			uris = append(uris, r.Server+":"+r.URI)
		}
		if !building && is(uris) {
			return uris
		}
		if ctx.Err() != nil {
			t.Fatalf("not in time: %v, building %v", uris, building)
		}
	}
}

// Resources are asked for once, again when the server says that they changed, and never while somebody types.
func TestOffers(t *testing.T) {
	for name, env := range map[string]string{"new": "", "old": "legacy"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil, childEntry("s", "plain"), childEntry("w", "silent"))
			b.env["MCP_PROTOCOL_NEGOTIATION"], b.env["MCP_TIMEOUT"] = env, "60000"
			if list, building := b.Offers(t.Context(), false); len(list) != 0 || building {
				t.Errorf("before anything is connected: %v %v", list, building)
			}
			b.Start()
			<-b.changed // the other one never connects
			if list, building := b.Offers(t.Context(), false); len(list) != 0 || !building {
				t.Errorf("at first: %v %v", list, building)
			}
			if got := offered(t, b.Set, func(u []string) bool { return len(u) == 1 }); got[0] != "s:test://a" {
				t.Error(got)
			}
			if list, building := b.Offers(t.Context(), false); len(list) != 1 || building {
				t.Errorf("kept: %v %v", list, building)
			}
			b.call(t.Context(), "mcp__s__stock", `{}`)
			if got := offered(t, b.Set, func(u []string) bool { return len(u) == 2 }); got[1] != "s:test://new" {
				t.Error(got)
			}
		})
	}
}
