package tools

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

// answers is the tool of structured answers.
const answers = "StructuredOutput"

// maxParallel is how many calls run beside each other, unless Deps.Most says otherwise.
const maxParallel = 10

// Deps is what the stage needs.
type Deps struct {
	Registry *tool.Registry
	// Decide judges a call. It is a pure function of the call and the session's rules, mode and workspace.
	Decide func(req perm.Request) perm.Decision
	// Budget shortens results that are too large, by storing them in a file. Called in the order of the results.
	Budget func(callID, name string, res *tool.Result)
	// Touched is told which files a call read or changed.
	Touched func(paths []string)
	// Changed is told how many lines an edit added and removed.
	Changed func(added, removed int)
	// Covered judges a call as if a rule allowed its tool. It is asked where a hook allows a call.
	Covered func(req perm.Request) perm.Decision
	// Classify answers in mode auto what the rules leave open. Nil, or an error: the call is asked.
	Classify func(ctx context.Context, t *turn.Turn, req perm.Request, asked perm.Decision) (perm.Decision, error)
	// Aliases are other names of tools: a call by the one runs the other.
	Aliases map[string]string
	// Offer says what a lasting answer to a question could grant, and which path is in the way. Nil: nothing is offered.
	Offer func(req perm.Request, d perm.Decision) (updates json.RawMessage, blocked string)
	// Server is the MCP server that a tool belongs to, nil for the program's own. Nil: there are none.
	Server func(tool string) *event.Server
	// Update applies permission updates that came with an answer. Nil: they are not taken.
	Update func(updates json.RawMessage) error
	// Remember keeps rules that a person's lasting answer granted. Nil: answers do not last.
	Remember func(rules []perm.Rule, where event.Scope) error
	// Heartbeat is how often a call that runs is told of though it has said nothing. 0: never.
	Heartbeat time.Duration
	// Defer remembers a call that a hook wants to be decided later, and Deferred is the last such call's id, "" without
	// one. Nil: calls are not taken up again.
	Defer    func(id string) error
	Deferred func() string
	// Hooks see the calls before and after they run. Nil: there are none.
	Hooks Hooks
	// Chosen is called when the calls have ended: one of them may have chosen the model and the effort for the rest of the
	// turn. Nil: none can.
	Chosen func(t *turn.Turn)
	// Structured returns the structured answer once a call gave it. Nil when none is asked for.
	Structured func() []byte
	// Most is how many calls run beside each other; 0 is 10.
	Most int
	// StructuredRetries is how often the model is asked again for a structured answer.
	StructuredRetries int
}

// Stage answers tool calls. It also starts calls early, while the reply still streams.
type Stage struct {
	Deps
	mu      sync.Mutex
	early   map[string]*pending
	held    bool // a call of this reply waits that may change what later ones see
	running sync.WaitGroup
	slots   chan struct{}  // one for each of the calls that run beside each other, whoever started them
	asked   map[string]int // how often each turn was asked for a structured answer
}

// New returns the stage.
func New(d Deps) *Stage {
	if d.Most <= 0 {
		d.Most = maxParallel
	}
	return &Stage{Deps: d, early: map[string]*pending{}, asked: map[string]int{}, slots: make(chan struct{}, d.Most)}
}

// pending is a call that was started early.
type pending struct {
	done    chan struct{}
	outcome outcome
}

// outcome is a call's end, ready to be appended.
type outcome struct {
	result   tool.Result
	decision perm.Decision
	stop     *turn.Stop    // the call ends the turn
	said     []msg.Message // by hooks, after it ran
	began    time.Time     // zero: it did not run
	took     time.Duration
}

// Start runs a finished call at once, while the rest of the reply still streams, when it changes nothing and is
// allowed without a question, and no hook wants to see it before. Everything else waits for Run, and so does what
// comes after a call that may change something: it must see the change. Start reports whether it started the call;
// it is called for the calls of a reply in their order.
func (s *Stage) Start(ctx context.Context, t *turn.Turn, call msg.Block) bool {
	c := s.prepare(ctx, call)
	if s.Hooks != nil && s.Hooks.Guards(c.block.Name) {
		s.hold()
		return false
	}
	if c.err == nil && !c.plan.Parallel {
		s.hold()
	}
	if c.err != nil || !c.plan.Parallel || c.decision.Verdict != perm.Allow {
		return false
	}
	p := &pending{done: make(chan struct{})}
	s.mu.Lock()
	if _, dup := s.early[call.ID]; dup || s.held || len(s.early) >= s.Most {
		s.mu.Unlock()
		return false
	}
	select {
	case s.slots <- struct{}{}:
	default:
		s.mu.Unlock()
		return false
	}
	s.early[call.ID] = p
	s.mu.Unlock()
	s.running.Add(1)
	go func() {
		defer s.running.Done()
		defer func() { <-s.slots }()
		defer close(p.done)
		p.outcome = s.run(ctx, t, c)
	}()
	return true
}

// Wait joins the calls that were started early and never collected, after a turn.
func (s *Stage) Wait() {
	s.running.Wait()
	s.mu.Lock()
	clear(s.early)
	s.held = false
	s.mu.Unlock()
}

func (s *Stage) hold() { s.mu.Lock(); s.held = true; s.mu.Unlock() }

// Run is the stage.
func (s *Stage) Run(ctx context.Context, t *turn.Turn) error {
	calls := t.Reply.Message.ToolUses()
	if len(calls) == 0 {
		return s.finish(ctx, t)
	}
	t.Note("%d tool calls", len(calls))
	tried := slices.ContainsFunc(calls, func(b msg.Block) bool { return b.Name == answers })
	var done []HookCall
	for len(calls) > 0 {
		batch := s.batch(ctx, calls)
		calls = calls[len(batch):]
		ran, stop := s.runBatch(ctx, t, batch)
		if stop != nil {
			return errors.Join(s.refuse(t, calls, endedBefore), stop)
		}
		done = append(done, ran...)
		if err := context.Cause(ctx); err != nil {
			return errors.Join(s.refuse(t, calls, interruptedBefore), err)
		}
	}
	s.Wait()
	if s.Chosen != nil {
		s.Chosen(t)
	}
	if err := s.finished(ctx, t, done); err != nil {
		return err
	}
	if s.Structured != nil {
		if out := s.Structured(); out != nil {
			t.Structured, t.Text, t.Done = out, string(out), true
		} else if tried {
			return s.again(t)
		}
	}
	return nil
}

// batch takes the first call, and with it the neighbours that may run beside it.
func (s *Stage) batch(ctx context.Context, calls []msg.Block) []*call {
	first := s.prepare(ctx, calls[0])
	out := []*call{first}
	if !first.parallel() {
		return out
	}
	for _, b := range calls[1:] {
		c := s.prepare(ctx, b)
		if !c.parallel() {
			break
		}
		out = append(out, c)
	}
	return out
}

// runBatch runs a batch and appends its results in order. The returned error ends the turn. done is the calls for
// the hooks that want to see all of them.
func (s *Stage) runBatch(ctx context.Context, t *turn.Turn, batch []*call) (done []HookCall, stop error) {
	outcomes := make([]chan outcome, len(batch))
	if call := s.guard(ctx, t, batch); call != nil && len(t.Reply.Message.ToolUses()) == 1 {
		return nil, s.deferred(call)
	}
	alone := len(batch) == 1 || slices.ContainsFunc(batch, func(c *call) bool { return !c.parallel() })
	var ended bool // a call before ended the turn
	for i, c := range batch {
		outcomes[i] = make(chan outcome, 1)
		if early := s.collect(c.block.ID); early != nil {
			go func() { <-early.done; outcomes[i] <- early.outcome }()
			continue
		}
		if ended {
			outcomes[i] <- outcome{result: failed(endedBefore)}
			continue
		}
		if ended = c.halt != nil; alone || ended || c.decision.Source.Kind == "classifier" {
			s.permit(ctx, t, c)
			o := s.run(ctx, t, c)
			ended = ended || o.stop != nil
			outcomes[i] <- o
			continue
		}
		go func() { // questions about calls that run beside each other may be open at the same time
			s.permit(ctx, t, c)
			s.slots <- struct{}{}
			defer func() { <-s.slots }()
			outcomes[i] <- s.run(ctx, t, c)
		}()
	}
	for i, c := range batch {
		o := <-outcomes[i]
		if s.Hooks != nil {
			hc := c.hookCall()
			hc.Result = o.result.Blocks
			done = append(done, hc)
		}
		if err := s.append(t, c, o); err != nil && stop == nil {
			stop = err
		}
		if o.stop != nil && stop == nil {
			stop = o.stop
		}
	}
	return done, stop
}

func (s *Stage) collect(id string) *pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.early[id]
}

// again counts that the model did not give the structured answer, in words or in a call that was refused, and ends the
// turn when that happened too often.
func (s *Stage) again(t *turn.Turn) error {
	if s.asked[t.ID]++; s.asked[t.ID] <= s.StructuredRetries {
		return nil
	}
	return &turn.Stop{
		Subtype: event.ErrStructured, Terminal: "structured_output_retry_exhausted",
		Errors: []string{"the model gave no answer that fits the schema"},
	}
}

// finish ends the turn on a reply that asks for no tool, unless a structured answer is still owed.
func (s *Stage) finish(_ context.Context, t *turn.Turn) error {
	if s.Structured == nil {
		t.Done = true
		return nil
	}
	if err := s.again(t); err != nil {
		return err
	}
	return t.Append(msg.Message{
		Kind: msg.KindUser, Meta: true,
		Blocks: []msg.Block{msg.Text("Give your answer by calling the " + answers + " tool, so that it fits the schema.")},
	})
}
