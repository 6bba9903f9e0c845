package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

// What the model is told of calls that did not run to their end.
const (
	interruptedBefore = "not run: the user interrupted"
	endedBefore       = "not run: the turn was ended by the call before"
	interruptedDuring = "stopped: the user interrupted; what it did until then stands"
)

// call is one tool_use on its way: understood, judged, run.
type call struct {
	block    msg.Block
	input    json.RawMessage // canonical
	tool     tool.Tool
	plan     tool.Plan
	decision perm.Decision
	err      error         // the model's mistake: an error result, nothing runs
	stop     *turn.Stop    // a person's no that also ends the turn
	halt     *turn.Stop    // a hook ended the turn before the call ran
	said     []msg.Message // by hooks, before it ran
}

// parallel reports whether the call may run beside others.
func (c *call) parallel() bool { return c.err == nil && c.plan.Parallel }

// prepare understands and judges a call. It changes nothing.
func (s *Stage) prepare(ctx context.Context, b msg.Block) *call {
	if other := s.Aliases[b.Name]; other != "" {
		b.Name = other
	}
	c := &call{block: b}
	if c.err = s.redirect(&c.block); c.err != nil {
		return c
	}
	b = c.block
	t, ok := s.Registry.Get(b.Name)
	if !ok {
		c.err = fmt.Errorf("there is no tool named %s; the tools are %s", b.Name, strings.Join(s.Registry.Names(), ", "))
		return c
	}
	c.tool = t
	c.block.Name = t.Def().Name // the one that rules, hooks and people know
	c.understand(ctx, b.Input, s.Decide)
	return c
}

// redirect makes a call through a tool that stands for others a call of the one that it names.
func (s *Stage) redirect(b *msg.Block) error {
	t, _ := s.Registry.Get(b.Name)
	r, ok := t.(tool.Redirector)
	if !ok {
		return nil
	}
	name, input, err := r.Redirect(b.Input)
	if err != nil {
		return err
	}
	if t, _ := s.Registry.Get(name); t != nil {
		if _, again := t.(tool.Redirector); again {
			return fmt.Errorf("%s cannot call %s", b.Name, name)
		}
	}
	b.Name, b.Input = name, input
	return nil
}

func (c *call) understand(ctx context.Context, input json.RawMessage, decide func(perm.Request) perm.Decision) {
	c.input, c.err = tool.Canonical(c.tool, input)
	if c.err != nil {
		return
	}
	c.plan, c.err = c.tool.Plan(ctx, tool.Call{ID: c.block.ID, Input: c.input})
	if c.err != nil {
		return
	}
	c.decision = decide(c.request())
}

// answered takes the input that came back from a person, a host or a hook, and judges the call anew.
func (c *call) answered(ctx context.Context, input json.RawMessage, decide func(perm.Request) perm.Decision) {
	a, ok := c.tool.(tool.Answered)
	if !ok {
		c.understand(ctx, input, decide)
		return
	}
	asked := tool.Call{ID: c.block.ID, Input: c.input}
	c.input = input
	if c.plan, c.err = a.PlanAnswer(ctx, asked, tool.Call{ID: c.block.ID, Input: input}); c.err == nil {
		c.decision = decide(c.request())
	}
}

// byPerson reports whether the call waits for what a person says, and not only for a yes.
func (c *call) byPerson() bool { _, ok := c.tool.(tool.Answered); return ok }

// request is the call as the rules judge it.
func (c *call) request() perm.Request {
	return perm.Request{Tool: c.block.Name, Input: c.input, ReadOnly: c.plan.ReadOnly, Target: c.plan.Target, Also: c.plan.Also, Person: c.plan.Person}
}

// permit asks a person where the decision says so, and applies the answer.
func (s *Stage) permit(ctx context.Context, t *turn.Turn, c *call) {
	if c.err != nil || c.halt != nil || c.decision.Verdict == perm.Allow || c.decision.Verdict == perm.Deny {
		return
	}
	if s.reviewed(ctx, t, c) {
		return
	}
	answer, err, decided := s.ask(ctx, t, c)
	switch {
	case decided: // by a hook
	case errors.Is(err, turn.ErrNobody):
		c.decision.Verdict = perm.Deny
		c.decision.Reason = nobody(c.decision)
	case err != nil:
		c.decision = perm.Decision{Verdict: perm.Deny, Reason: interruptedBefore, Source: perm.Source{Kind: "interrupt"}}
	case !answer.Allow:
		s.update(t, answer.Updates)
		c.refused(answer)
	case answer.Input != nil:
		s.update(t, answer.Updates)
		c.answered(ctx, answer.Input, s.Decide)
		if c.err == nil && c.decision.Verdict != perm.Deny {
			c.decision.Verdict, c.decision.Source.Kind = perm.Allow, "person"
		}
	default:
		s.update(t, answer.Updates)
		s.remember(t, c.decision.Suggest, answer.Save)
		c.decision.Verdict, c.decision.Source.Kind = perm.Allow, "person"
	}
}

// ask puts a question to the hooks and to the person at the same time. Whoever decides first counts, and the other is
// not waited for.
func (s *Stage) ask(ctx context.Context, t *turn.Turn, c *call) (answer event.Answer, err error, decided bool) {
	question := event.Ask{
		ID: "ask-" + c.block.ID, CallID: c.block.ID, Tool: c.block.Name,
		Input: c.input, Summary: c.plan.Summary, Decision: c.decision,
	}
	if s.Offer != nil {
		question.Updates, question.Blocked = s.Offer(c.request(), c.decision)
	}
	if s.Server != nil {
		question.Server = s.Server(c.block.Name)
	}
	if s.Hooks == nil || !s.Hooks.Answers(c.block.Name) {
		answer, err = t.Ask(ctx, question)
		return answer, err, false
	}
	type reply struct {
		answer event.Answer
		err    error
	}
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	hooks, person := make(chan turn.Hooked, 1), make(chan reply, 1)
	hc, asked := c.hookCall(), c.decision
	go func() { hooks <- s.Hooks.Asked(both, t, hc, asked) }()
	go func() {
		a, err := t.Ask(both, question)
		person <- reply{a, err}
	}()
	select {
	case r := <-person:
		if errors.Is(r.err, turn.ErrNobody) {
			return r.answer, r.err, s.heard(ctx, t, c, <-hooks)
		}
		cancel()
		<-hooks
		return r.answer, r.err, false
	case h := <-hooks:
		if s.heard(ctx, t, c, h) {
			cancel()
			<-person
			return answer, nil, true
		}
		r := <-person
		return r.answer, r.err, false
	}
}

// update applies what a host grants with its answer.
func (s *Stage) update(t *turn.Turn, updates json.RawMessage) {
	if s.Update == nil || len(updates) == 0 {
		return
	}
	if err := s.Update(updates); err != nil {
		_ = t.Emit(event.Notice{Level: "warning", Text: "permission updates were not applied: " + err.Error()})
	}
}

// remember keeps a lasting answer: exactly the rules that were shown with the question. A changed input was not
// shown, so its answer never lasts. What cannot be kept is said, and the call runs all the same.
func (s *Stage) remember(t *turn.Turn, rules []perm.Rule, where event.Scope) {
	if where == "" || s.Remember == nil || len(rules) == 0 {
		return
	}
	if err := s.Remember(rules, where); err != nil {
		_ = t.Emit(event.Notice{Level: "warning", Text: "the answer holds for this call only: " + err.Error()})
	}
}

// reviewed lets the classifier of mode auto answer where the decision leaves it to it. Without an answer the call is
// asked like any other.
func (s *Stage) reviewed(ctx context.Context, t *turn.Turn, c *call) bool {
	if s.Classify == nil || c.decision.Source.Kind != "classifier" {
		return false
	}
	d, err := s.Classify(ctx, t, perm.Request{Tool: c.block.Name, Input: c.input}, c.decision)
	if err != nil {
		t.Note("%s: %v", c.block.Name, err)
		return false
	}
	c.decision = d
	if d.Verdict == perm.Deny && s.Hooks != nil {
		c.said = append(c.said, s.Hooks.Refused(ctx, t, c.hookCall(), d).Messages...)
	}
	return d.Verdict == perm.Allow || d.Verdict == perm.Deny
}

// refused notes a person's no. It is told to the model with the person's words.
func (c *call) refused(a event.Answer) {
	reason := "the user refused this call"
	if a.Message != "" {
		reason += ": " + a.Message
	}
	if w, ok := c.tool.(tool.Refusable); ok {
		reason = w.Refused(a.Message)
	}
	c.decision = perm.Decision{Verdict: perm.Deny, Reason: reason, Source: perm.Source{Kind: "person"}}
	if a.Stop {
		c.stop = &turn.Stop{Subtype: event.ErrDuring, Terminal: "aborted_tools", Errors: []string{reason}}
	}
}

// nobody explains a denial that only happens because no one can be asked, and which rule would allow the call.
func nobody(d perm.Decision) string {
	reason := d.Reason
	if reason == "" {
		reason = "no rule covers this call"
	}
	if len(d.Suggest) == 0 {
		return reason + "; nobody is there to ask, so it was denied"
	}
	var rules []string
	for _, r := range d.Suggest {
		rules = append(rules, r.Text)
	}
	return fmt.Sprintf("%s; nobody is there to ask, so it was denied. Allowed by: --allowedTools %q",
		reason, strings.Join(rules, ","))
}

// run carries out a judged call and always returns an outcome.
func (s *Stage) run(ctx context.Context, t *turn.Turn, c *call) (o outcome) {
	o.decision = c.decision
	switch {
	case c.err != nil:
		o.result, o.stop = failed(c.err.Error()), c.halt
		return o
	case c.halt != nil:
		o.result, o.stop = halted(c.halt), c.halt
		return o
	case c.decision.Verdict != perm.Allow:
		o.result = failed(c.decision.Reason)
		o.stop = c.stop
		return o
	case ctx.Err() != nil:
		o.result = failed(interruptedBefore)
		return o
	}
	_ = t.Emit(event.ToolStarted{ID: c.block.ID, Name: c.block.Name, Summary: c.plan.Summary, Input: c.input})
	start := time.Now()
	o.began = start
	progress, over := untilOver(func(text string) {
		_ = t.Emit(event.ToolProgress{ID: c.block.ID, Name: c.block.Name, Text: text, Elapsed: time.Since(start)})
	})
	stop := s.beat(func() { progress("") })
	o.result = s.guarded(ctx, c, progress)
	stop()
	over()
	took := time.Since(start)
	o.took = took
	s.after(ctx, t, c, &o, took)
	_ = t.Emit(event.ToolDone{ID: c.block.ID, Name: c.block.Name, Dur: took, IsError: o.result.IsError, Decision: c.decision})
	return o
}

// untilOver passes on what a call says, until over has been called: who reports late, such as a server or a call that went on
// in the background, must not reach a turn that has ended.
func untilOver(tell func(text string)) (progress tool.Progress, over func()) {
	var mu sync.Mutex
	ended := false
	progress = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if !ended {
			tell(text)
		}
	}
	return progress, func() { mu.Lock(); ended = true; mu.Unlock() }
}

// beat calls tell again and again until stop is called, which returns when it no longer runs.
func (s *Stage) beat(tell func()) (stop func()) {
	if s.Heartbeat <= 0 {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(s.Heartbeat)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				tell()
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

// guarded runs the tool; a panic in it becomes a failed result, since a broken tool must not end the session.
func (s *Stage) guarded(ctx context.Context, c *call, progress tool.Progress) (res tool.Result) {
	defer func() {
		if p := recover(); p != nil {
			res = failed(fmt.Sprintf("the tool failed inside: %v\n%s", p, debug.Stack()))
		}
	}()
	res, err := c.plan.Run(ctx, progress)
	if err != nil {
		if ctx.Err() != nil {
			return failed(interruptedDuring)
		}
		return failed(err.Error())
	}
	return res
}

func failed(text string) tool.Result {
	return tool.Result{Blocks: []msg.Block{msg.Text(text)}, IsError: true, Output: "Error: " + text}
}

// append turns an outcome into a message: budget, permission record, disk, screen.
func (s *Stage) append(t *turn.Turn, c *call, o outcome) error {
	res := o.result
	if x := t.Tracer(); x != nil {
		x.Sub(t, c.record(x, o))
	}
	if s.Budget != nil && !res.Budgeted {
		s.Budget(c.block.ID, c.block.Name, &res)
	}
	if s.Touched != nil && len(res.Touched) > 0 {
		s.Touched(res.Touched)
	}
	if s.Changed != nil && res.LinesAdded+res.LinesRemoved > 0 {
		s.Changed(res.LinesAdded, res.LinesRemoved)
	}
	if c.err == nil && o.decision.Verdict == perm.Deny {
		t.Denials = append(t.Denials, event.Denial{Tool: c.block.Name, ID: c.block.ID, Input: c.input})
		if kind := o.decision.Source.Kind; kind != "person" && kind != "interrupt" {
			_ = t.Emit(event.Denied{ID: c.block.ID, Name: c.block.Name, Input: c.input, Decision: o.decision})
		}
	}
	if err := s.appendResult(t, c.block.ID, res); err != nil {
		return err
	}
	return t.Append(append(c.said, o.said...)...)
}

func (s *Stage) appendResult(t *turn.Turn, id string, res tool.Result) error {
	m := msg.Message{
		Kind: msg.KindUser, SourceAssistant: s.source(t, id),
		Blocks: []msg.Block{msg.ToolResult(id, res.IsError, withoutEmpty(res.Blocks)...)},
	}
	if res.Output != nil {
		out, err := encode(res.Output)
		if err != nil {
			t.Note("the structured output of %s could not be encoded: %v", id, err)
		}
		m.ToolOutput = out
	}
	return t.Append(m)
}

// refuse answers calls that will not run.
func (s *Stage) refuse(t *turn.Turn, calls []msg.Block, why string) error {
	for _, b := range calls {
		if err := s.appendResult(t, b.ID, failed(why)); err != nil {
			return err
		}
	}
	return nil
}

// source finds the message that holds the call.
func (s *Stage) source(t *turn.Turn, id string) string {
	for i := len(t.Messages) - 1; i >= 0; i-- {
		for _, b := range t.Messages[i].Blocks {
			if b.Type == msg.TypeToolUse && b.ID == id {
				return t.Messages[i].ID
			}
		}
	}
	return ""
}

// withoutEmpty drops empty text, which the API refuses, and never returns an empty result.
func withoutEmpty(blocks []msg.Block) []msg.Block {
	var out []msg.Block
	for _, b := range blocks {
		if b.Type != msg.TypeText || strings.TrimSpace(b.Text) != "" {
			out = append(out, b)
		}
	}
	if len(out) == 0 {
		return []msg.Block{msg.Text("(no output)")}
	}
	return out
}

func encode(v any) (json.RawMessage, error) {
	var sb strings.Builder
	enc := json.NewEncoder(&sb)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return json.RawMessage(strings.TrimSuffix(sb.String(), "\n")), nil
}
