package account

import (
	"fmt"
	"sync"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/provider"
	"lathe/internal/turn"
)

// warnings are the shares of the dollar budget, in percent, at which the user is warned.
var warnings = []int{95, 80, 50}

// The rule of the task budget.
const (
	taskShare = 90  // percent of it that count as used up
	taskLeast = 500 // output tokens of a continuation that led to something
	taskIdle  = 3   // continuations in a row that led to nothing end the turn
)

// task is what is known of a turn's task budget.
type task struct {
	goes   int // continuations so far
	before int // output tokens before the last one
	idle   int // continuations in a row that brought little
}

// Used is what this run of the program has spent, in USD. What a resumed session cost before does not count.
func (l *Ledger) Used() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, spent := l.budget()
	return spent
}

// Allow is asked before a call outside the main loop, with its prompt's size in tokens and how many searches of the web it may
// make. It refuses the call when what was spent, what is set aside and the call's price are over the dollar budget, which the
// main loop and such calls share.
// The price is set aside until done is called, once the answer is counted or will not come.
func (l *Ledger) Allow(model string, prompt, maxOutput, searches int) (done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.allow(l.deps.Price.Estimate(model, price.Call{Fresh: prompt, Output: min(outputAllowance, maxOutput), Searches: searches}))
}

// AllowSame is Allow for a request that begins like the main loop's last one, most of which is in the cache. The main loop
// makes it itself, instead of a call or because one failed: nothing is set aside for that any more.
func (l *Ledger) AllowSame(now time.Time, req *provider.Request) (done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.calls {
		l.settle(id)
	}
	return l.allow(l.predict(now, req))
}

func (l *Ledger) allow(next float64) (done func(), err error) {
	limit, _ := l.budget()
	if limit <= 0 {
		return func() {}, nil
	}
	if !l.promise(next) {
		return nil, fmt.Errorf("the call was not made: it would go over the budget of $%s", dollars(limit))
	}
	return sync.OnceFunc(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.free(next)
	}), nil
}

// warn tells the user once when a share of the dollar budget is used.
func (l *Ledger) warn(t *turn.Turn) error {
	if l.parent != nil {
		return l.parent.warn(t)
	}
	l.mu.Lock()
	limit, spent := l.budget()
	crossed := 0
	for _, share := range warnings {
		if limit > 0 && spent*100 >= limit*float64(share) {
			crossed = share
			break
		}
	}
	tell := crossed > l.warned
	l.warned = max(l.warned, crossed)
	l.mu.Unlock()
	if !tell {
		return nil
	}
	return t.Emit(event.Notice{Level: "warning", Text: fmt.Sprintf("%d%% of the budget of $%s is used ($%.4f)", crossed, dollars(limit), spent)})
}

// task says whether the turn goes on because much of its task budget is left.
func (l *Ledger) task(t *turn.Turn) (goOn bool, err error) {
	budget := l.cfg.TaskBudget
	if budget <= 0 || t.Stop != nil || t.Reply == nil || t.Reply.StopReason != "end_turn" || t.Structured != nil {
		return false, nil
	}
	used := t.Usage.Output
	share := used * 100 / budget
	if share >= taskShare {
		t.Note("task budget: %d of %d output tokens used", used, budget)
		return false, nil
	}
	l.mu.Lock()
	k := l.tasks[t.ID]
	if k == nil {
		k = &task{}
		l.tasks[t.ID] = k
	}
	if k.goes > 0 {
		if k.idle++; used-k.before >= taskLeast {
			k.idle = 0
		}
	}
	k.before = used
	done := k.idle >= taskIdle
	if !done {
		k.goes++
	}
	goes := k.goes
	l.mu.Unlock()
	if done {
		text := fmt.Sprintf("the task budget is used to %d%% only, but the last %d continuations brought next to nothing: the turn ends", share, taskIdle)
		return false, t.Emit(event.Notice{Level: "info", Text: text})
	}
	t.Done = false
	if err := t.Emit(event.Notice{Level: "info", Text: fmt.Sprintf("%d%% of the task budget is used: the turn goes on (continuation %d)", share, goes)}); err != nil {
		return false, err
	}
	text := fmt.Sprintf("%d of the %d output tokens for this task are used (%d%%). Go on working: what is still missing, unchecked or could be better? Do not sum up.", used, budget, share)
	return true, t.Append(msg.Message{Kind: msg.KindUser, Meta: true, Blocks: []msg.Block{msg.Text(text)}})
}
