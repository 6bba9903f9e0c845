package keeper

import (
	"strings"
	"testing"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/provider"
	"lathe/internal/turn"
)

// A person is told when an answer shows that the cache missed what it should have had, once, and what did it.
func TestKeeperTells(t *testing.T) {
	var told []string
	now := time.Now()
	tn := turn.New("t", "s", event.Prompt{}, nil, turn.Services{
		Now:  time.Now,
		Emit: func(e event.Event) error { told = append(told, e.(event.Notice).Text); return nil },
	})
	request := func(text string) *provider.Request {
		return &provider.Request{
			Model: "claude-opus-4-5", System: []msg.Block{msg.Text("system")},
			Messages:    []provider.Message{{Role: msg.RoleUser, Content: []msg.Block{msg.Text(text)}}},
			Breakpoints: []provider.Breakpoint{{At: provider.AtMessage}},
		}
	}
	tn.Messages = []msg.Message{{ID: "a", Kind: msg.KindUser, Blocks: []msg.Block{msg.Text("long")}}}
	tn.View = tn.Messages
	k := &Keeper{Prices: price.Default()}
	k.Answered(tn, request("long"), now, msg.Usage{CacheWrite: 100_000})
	k.Answered(tn, request("long"), now.Add(time.Second), msg.Usage{CacheRead: 99_000, CacheWrite: 1000})
	if len(told) != 0 {
		t.Fatalf("told without a miss: %q", told)
	}
	before := k.last
	tn.View = []msg.Message{{ID: "a", Kind: msg.KindUser, Blocks: []msg.Block{msg.Text("less")}}}
	k.Answered(tn, request("less"), now.Add(time.Second), msg.Usage{CacheWrite: 100_000})
	if len(told) != 0 {
		t.Fatalf("told of what compaction has told of: %q", told)
	}
	if now := k.last; !now.cutFrom(before) || now.cutFrom(now) {
		t.Error("a view that was cut is not seen without comparing bodies")
	}
	later, other, fast := k.last, k.last, k.last
	later.at, other.req = before.at.Add(5*time.Minute), &provider.Request{Model: "other"}
	quick := *k.last.req
	quick.Fast, fast.req = true, &quick
	if later.cutFrom(before) || other.cutFrom(before) || fast.cutFrom(before) {
		t.Error("another model or speed, or time, is the cause before the cut is")
	}
	tn.Messages = []msg.Message{{ID: "a", Kind: msg.KindUser, Blocks: []msg.Block{msg.Text("lost")}}}
	tn.View = tn.Messages
	k.Answered(tn, request("lost"), now.Add(2*time.Second), msg.Usage{CacheWrite: 100_000})
	want := "prompt cache: 100000 of 100000 tokens were not read again (about $0.5750): messages[0].content[0] differs from byte 24 on (byte "
	if text := k.Warning(now.Add(time.Minute), "claude-opus-4-5", false); !strings.Contains(text, "writes about 100000 tokens again, which costs about $0.57 more") {
		t.Errorf("before a change: %q", text)
	}
	if text := k.Warning(now.Add(6*time.Minute), "claude-opus-4-5", false) + k.Warning(now.Add(time.Minute), "claude-haiku-5-5", false); text != "" {
		t.Errorf("where a change costs next to nothing: %q", text)
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], want) || !strings.HasSuffix(told[0], "(stage session)") {
		t.Errorf("told %q", told)
	}
}
