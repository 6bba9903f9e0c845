package account

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/turn"
)

// What sub-agents spend and change counts in the session's sums once, and against its one budget.
func TestSub(t *testing.T) {
	table := price.Default()
	top := New(Deps{Price: table}, Config{MaxBudget: 1})
	one := top.Sub(Deps{Price: table}, Config{})
	two := one.Sub(Deps{Price: table}, Config{})
	u := msg.Usage{Input: 1000, Output: 1000}
	top.Side("a question", "claude-haiku-4-5", u, time.Second)
	one.Side("a question", "claude-haiku-4-5", u, time.Second)
	two.Side("a question", "claude-opus-5-5", u, time.Second)
	two.Changed(3, 2)
	sum := top.Totals()
	if sum.Models["claude-haiku-4-5"].Input != 2000 || sum.Models["claude-opus-5-5"].Output != 1000 || sum.API != 3*time.Second || sum.Added != 3 || sum.Removed != 2 {
		t.Errorf("%+v", sum)
	}
	want := 2*table.Cost("claude-haiku-4-5", u) + table.Cost("claude-opus-5-5", u)
	if d := sum.Cost - want; d > 1e-9 || d < -1e-9 || two.Used() != top.Used() {
		t.Errorf("cost %v, want %v; used %v and %v", sum.Cost, want, two.Used(), top.Used())
	}
	if side := sum.Side["a question"]; side.Calls != 3 || side.Input != 3000 || side.Cost < want-1e-9 || side.Cost > want+1e-9 {
		t.Errorf("on the side: %+v", side)
	}
	if own := two.Totals(); own.Side["a question"].Calls != 1 || len(own.Models) != 1 || own.Added != 3 {
		t.Errorf("its own: %+v", own)
	}
	if _, err := two.Allow("claude-opus-5-5", 1_000_000, 1000, 0); err == nil {
		t.Error("a sub-agent's call over the session's budget was allowed")
	}
}

// Calls that are made side by side do not each count on the same rest of the budget: what one is about to cost is set
// aside until its answer is counted, or will not come.
func TestSideBySide(t *testing.T) {
	const limit = 1.0
	table := price.Default()
	top := New(Deps{Price: table}, Config{MaxBudget: limit})
	top.Side("a question", model, msg.Usage{Input: 160_000}, 0) // most of it
	rest := limit - top.Used()

	type agent struct {
		*world
		ledger *Ledger
		err    error
	}
	agents := make([]*agent, 10)
	var wg sync.WaitGroup
	for i := range agents {
		a := &agent{world: newWorld(), ledger: top.Sub(Deps{Price: table}, Config{})}
		a.ID = fmt.Sprint("t", i)
		a.Request = request(strings.Repeat("word ", 8000))
		agents[i] = a
		wg.Go(func() { a.err = a.ledger.Guard(t.Context(), a.Turn) })
	}
	wg.Wait()
	each := agents[0].ledger.predict(start, agents[0].Request)
	fit := int(rest / each)
	if fit < 2 || fit > 8 {
		t.Fatalf("a call of about $%.3f does not test anything where $%.3f are left", each, rest)
	}
	count := func() (calls int) {
		for _, a := range agents {
			if a.err == nil {
				calls++
			}
		}
		return calls
	}
	if n := count(); n != fit {
		t.Errorf("%d calls of about $%.3f are made, where $%.3f are left", n, each, rest)
	}
	if _, err := top.Allow(model, 8000, 500, 0); err == nil {
		t.Error("a side question is allowed what is set aside")
	}
	for _, a := range agents { // one fails, the others are free
		a.Stop = &turn.Stop{Subtype: event.ErrDuring, Terminal: "error"}
		if err := a.ledger.Run(t.Context(), a.Turn); err != nil {
			t.Fatal(err)
		}
	}
	if top.promised != 0 {
		t.Errorf("$%v are set aside for calls that have failed", top.promised)
	}
	a := agents[0]
	for range 3 { // a call that is counted frees what it was promised, and one that is tried anew is promised once
		if err := errors.Join(a.ledger.Guard(t.Context(), a.Turn), a.ledger.Guard(t.Context(), a.Turn)); err != nil {
			t.Fatal(err)
		}
		if want := a.ledger.calls[a.ID]; want <= 0 || math.Abs(top.promised-want) > 1e-9 {
			t.Errorf("$%v are set aside for a call of about $%v", top.promised, want)
		}
		a.ledger.Spent(a.Turn, model, msg.Usage{Input: 10})
	}
	done, err := top.Allow(model, 1000, 100, 0)
	if err != nil || top.promised == 0 {
		t.Errorf("a side question: %v, $%v set aside", err, top.promised)
	}
	done()
	done()
	if top.promised != 0 {
		t.Errorf("$%v are set aside at the end", top.promised)
	}
}
