package fakeapi

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// row makes positions of 100 tokens each out of letters; "!" behind one is a 5 minute mark, "@" a 1 hour mark.
func row(text string) []position {
	var out []position
	var s chain
	for _, r := range text {
		switch r {
		case '!':
			out[len(out)-1].ttl = "5m"
		case '@':
			out[len(out)-1].ttl = "1h"
		default:
			s = s.next(string(r), nil)
			out = append(out, position{state: s, tokens: 100 * (len(out) + 1)})
		}
	}
	return out
}

func TestCachePlan(t *testing.T) {
	type call struct {
		after  time.Duration // since the call before
		prefix string
		want   Usage
	}
	long := strings.Repeat("x", 19)
	for _, tc := range []struct {
		name  string
		min   int
		calls []call
	}{
		{"no mark", 0, []call{{0, "ab", Usage{Input: 200}}, {0, "ab", Usage{Input: 200}}}},
		{"write and read", 0, []call{{0, "ab!c", Usage{Write5m: 200, Input: 100}}, {0, "ab!cd", Usage{Read: 200, Input: 200}}}},
		{"grow", 0, []call{{0, "ab!", Usage{Write5m: 200}}, {0, "abcd!", Usage{Read: 200, Write5m: 200}}, {0, "abcde!", Usage{Read: 400, Write5m: 100}}}},
		{"change in the middle", 0, []call{{0, "a!bc!", Usage{Write5m: 300}}, {0, "a!Xc!", Usage{Read: 100, Write5m: 200}}}},
		{"change at the start", 0, []call{{0, "a!bc!", Usage{Write5m: 300}}, {0, "X!bc!", Usage{Write5m: 300}}}},
		{"expired", 0, []call{{0, "ab!", Usage{Write5m: 200}}, {5 * time.Minute, "ab!", Usage{Write5m: 200}}}},
		{"refreshed", 0, []call{{0, "ab!", Usage{Write5m: 200}}, {4 * time.Minute, "ab!", Usage{Read: 200}}, {4 * time.Minute, "ab!", Usage{Read: 200}}}},
		{"an hour", 0, []call{{0, "a@b!", Usage{Write1h: 100, Write5m: 100}}, {30 * time.Minute, "a@b!", Usage{Read: 100, Write5m: 100}}, {time.Hour, "a@b!", Usage{Write1h: 100, Write5m: 100}}}},
		{"too small", 300, []call{{0, "ab!", Usage{Input: 200}}, {0, "abc!", Usage{Write5m: 300}}, {0, "ab!c", Usage{Input: 300}}}},
		{"lookback reaches 20", 0, []call{{0, "a!", Usage{Write5m: 100}}, {0, "a" + long + "!", Usage{Read: 100, Write5m: 1900}}}},
		{"lookback does not reach 21", 0, []call{{0, "a!", Usage{Write5m: 100}}, {0, "ay" + long + "!", Usage{Write5m: 2100}}}},
		{"an intermediate mark bridges", 0, []call{{0, "a!", Usage{Write5m: 100}}, {0, "ay!" + long + "!", Usage{Read: 100, Write5m: 2000}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var k cache
			now := time.Unix(1_000_000, 0)
			for i, c := range tc.calls {
				now = now.Add(c.after)
				p := k.plan("w", row(c.prefix), tc.min, now)
				if diff := cmp.Diff(c.want, p.usage); diff != "" {
					t.Errorf("call %d: %s", i+1, diff)
				}
				k.commit(p)
			}
			if p := k.plan("other", row(tc.calls[0].prefix), tc.min, now); p.usage.Read != 0 {
				t.Error("read another workspace's entry")
			}
		})
	}
}

// TestCacheOverHTTP plays a growing conversation as a good client does, and checks what the client is told.
func TestCacheOverHTTP(t *testing.T) {
	clock := time.Unix(1_000_000, 0)
	var mu sync.Mutex
	s, url := start(t, Options{Script: &Script{Default: &Answer{Text: "ok"}}, Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return clock }})
	mark := obj{"type": "ephemeral"}
	filler := strings.Repeat("word ", 800) // 1000 tokens
	k := &talk{t: t, url: url, over: obj{"system": []any{obj{"type": "text", "text": filler, "cache_control": mark}}}}
	send := func(n int) obj {
		for _, m := range k.msgs {
			delete(m.(obj)["content"].([]any)[0].(obj), "cache_control")
		}
		g := k.send(user(obj{"type": "text", "text": fmt.Sprintf("%d %s", n, filler), "cache_control": mark}))
		_, _, usage := g.message(t)
		return usage
	}
	first := send(0)
	second := send(1)
	if first["cache_creation_input_tokens"] == 0.0 || first["cache_read_input_tokens"] != 0.0 || second["cache_read_input_tokens"] != first["cache_creation_input_tokens"] {
		t.Errorf("first %v, second %v", first, second)
	}
	for n := 2; n < 20; n++ {
		send(n)
	}
	total := s.Totals("")
	if r := total.HitRatio(); r < 0.90 {
		t.Errorf("hit ratio %f: %+v", r, total)
	}
	if want := float64(total.Usage.Input) + 1.25*float64(total.Usage.Write5m) + 0.05*float64(total.Usage.Read); total.Units != want && total.Units-want > 1e-6 {
		t.Errorf("units %f, want %f", total.Units, want)
	}
	mu.Lock()
	clock = clock.Add(6 * time.Minute)
	mu.Unlock()
	if u := send(20); u["cache_read_input_tokens"] != 0.0 {
		t.Errorf("read after the lifetime: %v", u)
	}
	k.over["tools"] = []any{tool("A")}
	if u := send(21); u["cache_read_input_tokens"] != 0.0 {
		t.Errorf("read after a change of tools: %v", u)
	}
	k.over["output_config"] = obj{"effort": "low"}
	if u := send(22); u["cache_read_input_tokens"].(float64) < 1000 || u["cache_read_input_tokens"].(float64) > 1100 {
		t.Errorf("after a change of effort only tools and system are read: %v", u)
	}
	if bad := s.Violations(); len(bad) > 0 {
		t.Error(bad)
	}
}
