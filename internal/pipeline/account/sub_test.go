package account

import (
	"testing"
	"time"

	"lathe/internal/msg"
	"lathe/internal/price"
)

// What sub-agents spend and change counts in the session's sums once, and against its one budget.
func TestSub(t *testing.T) {
	table := price.Default()
	top := New(Deps{Price: table}, Config{MaxBudget: 1})
	one := top.Sub(Deps{Price: table}, Config{})
	two := one.Sub(Deps{Price: table}, Config{})
	u := msg.Usage{Input: 1000, Output: 1000}
	top.Side("claude-haiku-4-5", u, time.Second)
	one.Side("claude-haiku-4-5", u, time.Second)
	two.Side("claude-opus-5-5", u, time.Second)
	two.Changed(3, 2)
	sum := top.Totals()
	if sum.Models["claude-haiku-4-5"].Input != 2000 || sum.Models["claude-opus-5-5"].Output != 1000 || sum.API != 3*time.Second || sum.Added != 3 || sum.Removed != 2 {
		t.Errorf("%+v", sum)
	}
	want := 2*table.Cost("claude-haiku-4-5", u) + table.Cost("claude-opus-5-5", u)
	if d := sum.Cost - want; d > 1e-9 || d < -1e-9 || two.Used() != top.Used() {
		t.Errorf("cost %v, want %v; used %v and %v", sum.Cost, want, two.Used(), top.Used())
	}
	if own := two.Totals(); len(own.Models) != 1 || own.Added != 3 {
		t.Errorf("its own: %+v", own)
	}
	if err := two.Allow("claude-opus-5-5", 1_000_000, 1000); err == nil {
		t.Error("a sub-agent's call over the session's budget was allowed")
	}
}
