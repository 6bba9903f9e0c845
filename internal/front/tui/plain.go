package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"lathe/internal/event"
	"lathe/internal/front/tui/width"
	"lathe/internal/msg"
)

// plain is the interface for screen readers and for terminals that know no escape sequences: lines in, lines out,
// nothing is ever redrawn, and every state is told in words.
type plain struct {
	o       Options
	ctx     context.Context
	session *Session
	lines   chan string // what is typed; closed at its end
	mu      sync.Mutex
	asks    []plainAsk // questions that wait for an answer; the first is asked
	trust   chan TrustAnswer
	forms   []*plainForm // of MCP servers; the first is asked
	held    []event.Op   // what is sent once the person has chosen a session
	running bool
}

// plainAsk is a question, and the sub-agent that it comes from.
type plainAsk struct {
	event.Ask
	who event.Agent
}

func runPlain(ctx context.Context, o Options) (Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &plain{o: o, ctx: ctx, lines: make(chan string)}
	p.say("Lathe %s. Type a prompt and press enter. /help tells the commands, /exit leaves, an empty line while it works stops it.", o.Version)
	go p.read()
	type started struct {
		s   *Session
		err error
	}
	ready := make(chan started, 1)
	go func() {
		s, err := o.Start(ctx, Start{Trust: p.askTrust, Notice: func(level, text string) { p.say("%s: %s", level, text) }})
		ready <- started{s, err}
	}()
	var got started
	for got == (started{}) {
		select {
		case got = <-ready:
		case l, ok := <-p.lines:
			if !ok { // what is being started ends with us
				cancel()
				if got = <-ready; got.s != nil {
					got.s.Close()
				}
				return Outcome{}, nil
			}
			p.typed(l)
		}
	}
	if got.err != nil {
		return Outcome{Code: 1, Err: got.err}, nil
	}
	p.session = got.s
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	defer got.s.Close()
	wg.Go(p.events)
	if o.Pick { // the list, with the ids to name
		p.hold()
		p.send(event.Prompt{Text: "/resume"})
	} else if text := joined(got.s.First, o.Prompt); text != "" || len(o.Images) > 0 {
		p.send(event.Prompt{Text: text, Images: o.Images})
	}
	p.say("Ready. Model %s, permission mode %s.", got.s.Model, got.s.Mode)
	for {
		select {
		case l, ok := <-p.lines:
			if !ok || l == "/exit" || l == "/quit" {
				_ = p.session.Conn.Send(ctx, event.Interrupt{DropQueued: true})
				_ = p.session.Conn.Send(ctx, event.Close{})
				return Outcome{}, nil
			}
			p.typed(l)
		case <-ctx.Done():
			return Outcome{}, nil
		}
	}
}

// hold keeps what the command line says to begin with until a session is chosen.
func (p *plain) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.o.Fork {
		p.held = append(p.held, event.Prompt{Text: "/fork"})
	}
	if p.o.Prompt != "" || len(p.o.Images) > 0 {
		p.held = append(p.held, event.Prompt{Text: p.o.Prompt, Images: p.o.Images})
	}
}

// chosen sends what was held.
func (p *plain) chosen() {
	p.mu.Lock()
	held := p.held
	p.held = nil
	p.mu.Unlock()
	for _, op := range held {
		p.send(op)
	}
}

func (p *plain) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = io.WriteString(p.o.Out, event.Inert(fmt.Sprintf(format, args...))+"\n")
}

func (p *plain) read() {
	defer close(p.lines)
	in := bufio.NewScanner(p.o.In)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		select {
		case p.lines <- in.Text():
		case <-p.ctx.Done():
			return
		}
	}
}

func (p *plain) send(op event.Op) {
	if err := p.session.Conn.Send(p.ctx, op); err != nil {
		p.say("%s", err)
	}
}

// askTrust asks about the folder.
func (p *plain) askTrust(t Trust) TrustAnswer {
	since := ""
	if t.Changed {
		since = " You trusted it before, and this has changed since."
	}
	p.say("Do you trust the folder %s?%s Its files want to grant or run the following:", t.Dir, since)
	for _, g := range t.Grants {
		state := ""
		if g.State != "" {
			state = g.State + ": "
		}
		p.say("  %s%s (%s line %d): %s", state, width.Inert(g.Name), g.File, g.Line, strings.ReplaceAll(g.Text, "\n", "\n    "))
	}
	for _, name := range t.Gone {
		p.say("  no longer there: %s", width.Inert(name))
	}
	p.say("Type yes, no (go on without any of it), or quit.")
	answer := make(chan TrustAnswer, 1)
	p.mu.Lock()
	p.trust = answer
	p.mu.Unlock()
	select {
	case a := <-answer:
		return a
	case <-p.ctx.Done():
		return TrustQuit
	}
}

// typed takes a line: an answer where something is asked, else a prompt.
func (p *plain) typed(l string) {
	p.mu.Lock()
	asks, trust, running := p.asks, p.trust, p.running
	var form *plainForm
	if len(p.forms) > 0 {
		form = p.forms[0]
	}
	p.mu.Unlock()
	switch {
	case trust != nil:
		a, ok := trustWord(l)
		if !ok {
			p.say("Type yes, no or quit.")
			return
		}
		p.mu.Lock()
		p.trust = nil
		p.mu.Unlock()
		trust <- a
	case len(asks) > 0:
		p.answer(asks[0].ID, strings.TrimSpace(l))
	case form != nil:
		p.formLine(form, l)
	case strings.TrimSpace(l) == "":
		if running {
			p.say("Stopping.")
			p.send(event.Interrupt{})
		}
	case p.session == nil:
		p.say("Not ready yet.")
	default:
		p.send(event.Prompt{Text: l})
	}
}

func (p *plain) answer(id, l string) {
	out := event.Answer{ID: id}
	word, rest, _ := strings.Cut(l, " ")
	switch strings.ToLower(word) {
	case "yes", "y":
		out.Allow = true
	case "session":
		out.Allow, out.Save = true, event.SaveSession
	case "always":
		out.Allow, out.Save = true, event.SaveLocal
	case "no", "n":
		out.Message, out.Stop = rest, rest == ""
	default:
		p.say("Type yes, no, or no and what to do instead.")
		return
	}
	p.send(out)
	p.dropAsk(id, "")
}

func (p *plain) events() {
	for env, err := range p.session.Conn.Events(p.ctx) {
		if err != nil {
			return
		}
		switch e := env.Event.(type) {
		case event.Ask: // a sub-agent waits for its answer, too
			p.asked(plainAsk{e, env.Agent})
		case event.AskWithdrawn:
			p.dropAsk(e.ID, "The question is taken back.")
		default:
			if env.Parent == "" {
				p.event(e)
			}
		}
	}
}

func (p *plain) event(e event.Event) {
	switch e := e.(type) {
	case event.State:
		p.mu.Lock()
		p.running = e.State == "running"
		p.mu.Unlock()
		if e.State == "idle" {
			p.say("Waiting for you.")
		}
	case event.TurnStarted:
		p.say("Working.")
	case event.Notice:
		p.say("%s: %s", e.Level, e.Text)
	case event.Retry:
		p.say("%s.", strings.TrimRight(e.Line(), "."))
	case event.ToolStarted:
		p.say("Running %s %s.", e.Name, width.Inert(callText(e.Name, e.Summary, e.Input)))
	case event.ToolDone:
		state := "Done"
		if e.IsError {
			state = "Failed"
		}
		p.say("%s: %s, %s.", state, e.Name, span(e.Dur))
	case event.Denied:
		p.say("Denied: %s. %s", e.Name, e.Decision.Reason)
	case event.ConversationReset:
		if e.Trigger == "resume" {
			p.chosen()
		}
	case event.Call:
		p.called(e)
	case event.CallCancelled:
		p.uncalled(e.ID)
	case event.ModelChanged:
		p.say("%s", e.Reason)
	case event.Discarded:
		p.say("The answer was cut off: %s", e.Reason)
	case event.Message:
		p.message(e.Msg)
	case event.TurnDone:
		for _, t := range e.Result.Errors {
			p.say("Error: %s", t)
		}
	}
}

func (p *plain) message(m msg.Message) {
	switch {
	case m.Kind == msg.KindAssistant && m.Text() != "":
		p.say("%s", m.Text())
	case m.Kind == msg.KindSystem && m.Subtype == msg.SubLocalCommand:
		p.say("%s", m.Text())
	}
}

// asked asks a question, once those before it are answered: calls that run beside each other may wait at the same time.
func (p *plain) asked(a plainAsk) {
	p.mu.Lock()
	p.asks = append(p.asks, a)
	n := len(p.asks)
	p.mu.Unlock()
	if n == 1 {
		p.showAsk(a)
	}
}

// dropAsk takes a question off the list. Where it was the one that is asked, word is said of that, and the next one is asked.
func (p *plain) dropAsk(id, word string) {
	p.mu.Lock()
	shown := len(p.asks) > 0 && p.asks[0].ID == id
	p.asks = slices.DeleteFunc(slices.Clone(p.asks), func(a plainAsk) bool { return a.ID == id })
	left := p.asks
	p.mu.Unlock()
	if shown && word != "" {
		p.say("%s", word)
	}
	if shown && len(left) > 0 {
		p.showAsk(left[0])
	}
}

func (p *plain) showAsk(a plainAsk) {
	if a.who.ID != "" {
		p.say("%s", agentName(a.who))
	}
	if !p.sayChange(a.Ask) {
		p.say("%s", askTitle(a.Ask))
		for _, f := range fields(a.Input) {
			p.say("  %s: %s", f.name, exact(f.value))
		}
	}
	if a.Decision.Reason != "" {
		p.say("Why: %s", a.Decision.Reason)
	}
	more := ""
	if rules := ruleTexts(a.Decision.Suggest); rules != "" {
		more = ", session or always (these save " + rules + ")"
	}
	p.say("Type yes%s, no, or no and what to do instead.", more)
}

// sayChange says what a change of a file removes and adds, line by line, and leaves out what stays. It reports false where the place
// in the file is not known: then the call is said as it is.
func (p *plain) sayChange(e event.Ask) bool {
	if e.Tool != "Edit" && e.Tool != "Write" {
		return false
	}
	d := newEditAsk(e)
	if !d.whole && !d.placed && !d.all || len(d.diff.Hunks) == 0 {
		return false
	}
	p.say("%s", d.title())
	for i, h := range d.diff.Hunks {
		if len(d.diff.Hunks) > 1 {
			p.say("Change %d of %d:", i+1, len(d.diff.Hunks))
		}
		for _, r := range h.Rows {
			end := ""
			if r.NoEOL {
				end = " (without a line end)"
			}
			switch {
			case r.Kind == '-':
				p.say("  line %d removed: %s%s", r.OldNo, width.Tabs(event.Inert(r.Text)), end)
			case r.Kind == '+' && d.fresh:
				p.say("  %s%s", width.Tabs(event.Inert(r.Text)), end)
			case r.Kind == '+':
				p.say("  line %d added: %s%s", r.NewNo, width.Tabs(event.Inert(r.Text)), end)
			}
		}
	}
	return true
}

// trustWord reads an answer to the question whether a folder is trusted, a word or its first letter.
func trustWord(text string) (a TrustAnswer, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "yes", "y":
		return TrustYes, true
	case "no", "n":
		return TrustNo, true
	case "quit", "q":
		return TrustQuit, true
	}
	return TrustNo, false
}
