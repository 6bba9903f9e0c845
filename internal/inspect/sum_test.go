package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
)

// Calls on the side are told by purpose: as the account has counted them, or as they were traced where these are more.
func TestSideParts(t *testing.T) {
	in := Input{}
	in.Kept.Side = []Part{
		{Kind: PartSide, Purpose: "summary", Calls: 1, Usage: msg.Usage{Input: 10}, Cost: 0.1},
		{Kind: PartSide, Purpose: "permission", Calls: 3, Usage: msg.Usage{Input: 30}, Cost: 0.3},
	}
	call := func(purpose string) *Request { return &Request{For: purpose, Usage: msg.Usage{Input: 20}, Cost: 0.25} }
	got := in.side([]*Request{call("summary"), call("permission"), call("hook"), call("summary")})
	want := []Part{
		{Kind: PartSide, Purpose: "summary", Calls: 2, Usage: msg.Usage{Input: 40}, Cost: 0.5},
		in.Kept.Side[1],
		{Kind: PartSide, Purpose: "hook", Calls: 1, Usage: msg.Usage{Input: 20}, Cost: 0.25},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if in.Kept.Side[0].Calls != 1 {
		t.Error("the account's own were changed")
	}
}
