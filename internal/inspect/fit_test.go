package inspect

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
	"lathe/internal/trace"
)

// The parts of a context come to what was counted for it, to the token.
func TestFit(t *testing.T) {
	call := func(u *msg.Usage) []Call { return []Call{{Call: trace.Call{Usage: u}}} }
	shares := []Share{{"user", 1000, 1}, {"answers", 1, 1}, {"tool results", 2002, 1}}
	for name, c := range map[string]struct {
		r      Request
		want   []int
		fitted bool
	}{
		"too large":              {Request{Traced: true, Calls: call(&msg.Usage{CacheRead: 1000, Input: 3})}, []int{333, 1, 669}, true},
		"too small":              {Request{Traced: true, Calls: call(&msg.Usage{CacheWrite: 6006})}, []int{2000, 2, 4004}, true},
		"the last call counts":   {Request{Traced: true, Calls: append(call(&msg.Usage{Input: 1}), call(&msg.Usage{Input: 6006})...)}, []int{2000, 2, 4004}, true},
		"not answered":           {Request{Traced: true, Calls: call(nil)}, []int{1000, 1, 2002}, false},
		"a part of a transcript": {Request{Usage: msg.Usage{Input: 9000}}, []int{1000, 1, 2002}, false},
		"too much of one":        {Request{Usage: msg.Usage{Input: 1003}}, []int{333, 1, 669}, true},
	} {
		r := c.r
		r.Shares = append([]Share(nil), shares...)
		r.fit()
		var got []int
		for _, s := range r.Shares {
			got = append(got, s.Tokens)
		}
		if d := cmp.Diff(c.want, got); d != "" || r.Fitted != c.fitted {
			t.Errorf("%s: %v %s", name, r.Fitted, d)
		}
	}
}
