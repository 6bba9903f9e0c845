package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lathe/internal/perm"
	"lathe/internal/proc"
)

// Deps is what handlers need. Procs, Environ and Base must be there.
type Deps struct {
	Set     *Set
	Procs   *proc.Group
	Environ func() []string // the environment of the session's children
	Getenv  func(string) string
	// Base returns the session's share of a handler's input and environment at this moment.
	Base func() Base
	// Perm is the workspace against which "if" is judged; its rules and mode do not count.
	Perm func() perm.Env
	// Ask asks a model and returns its text; model is empty for the usual one. Nil: prompt hooks fail.
	Ask func(ctx context.Context, model, prompt string) (string, error)
	// Tool calls a tool of an MCP server and returns its text. Nil: such hooks fail.
	Tool func(ctx context.Context, server, tool string, input json.RawMessage) (string, error)
	// Agent runs a sub-agent with tools that only read, and returns its last text. Nil: such hooks fail.
	Agent func(ctx context.Context, model, prompt string) (string, error)
	// Spill keeps a text that is too long and returns the path of its file. Nil: it is cut.
	Spill func(text string) (string, error)
	// Refuse says why a command of a source is not run now in dir, "" if it is. Nil: all are. What it would have judged is held up.
	Refuse func(source perm.Source, command string, args []string, dir string) string
	// HTTP sends the requests of http hooks; nil is the usual transport.
	HTTP http.RoundTripper
	// URLs are patterns of the URLs that http hooks may use; nil: all.
	URLs []string
	// Call runs a callback of the host: its id, the tool use it is about (or ""), the input. Nil: such hooks fail.
	Call func(ctx context.Context, id, callID string, input json.RawMessage) (json.RawMessage, error)
	// HeaderVars are the environment variables that headers of http hooks may hold; nil: what each hook lists.
	HeaderVars []string
}

// Base is the session's share of every input.
type Base struct {
	Session    string
	Transcript string
	Cwd        string
	Project    string // where the session started: CLAUDE_PROJECT_DIR
	Mode       string
	Effort     string
	EnvFile    string // for events whose handlers may set variables for later commands
}

// Payload is what happens.
type Payload struct {
	Event  Event
	Match  string         // what matchers are compared with; empty for events without
	Fields map[string]any // the event's own input fields
	Call   *perm.Request  // for tool events: what "if" is judged on
	Prompt string         // id of the turn's prompt
	Model  bool           // "effort" is part of the input
	// Started and Done are told of each command, from the goroutine that runs it. Nil: nobody is.
	Started func(Run)
	Done    func(Run)
	Limit   time.Duration // for all handlers together; 0: each has its own
	Also    *Set          // further handlers: of the agent in which it happens
}

// Outcome is what the handlers together want.
type Outcome struct {
	// Decision is nil when no handler decided. Deny also stands for a block. Its source names the handler.
	Decision *perm.Decision
	Held     bool            // the decision is an Ask because a handler is not run
	Deferred bool            // the decision is an Ask because a handler deferred it
	Input    json.RawMessage // replaces the tool's input
	Output   json.RawMessage // replaces the tool's output
	Context  []string        // to add to the conversation
	Stop     bool            // end the turn
	Reason   string          // why, for the person
	System   []string        // to show to the person
	Problems []string        // what went wrong, to show to the person
	First    string          // SessionStart: a first message of the user
	Title    string          // of the session
	Elicited json.RawMessage // Elicitation, ElicitationResult: the answer, {"action", "content"}
	Hide     bool            // UserPromptSubmit: do not show the blocked prompt
	Abort    bool            // PermissionRequest: a refusal that ends the turn
	Updates  json.RawMessage // PermissionRequest: permission updates that come with an allow
	Path     string          // WorktreeCreate: the folder that a hook has made
	Watch    []string        // SessionStart, CwdChanged, FileChanged: further files to watch
	Display  *string         // MessageDisplay: what to show instead
	Ran      []Run
}

// Bus fires hooks. It is safe for concurrent use.
type Bus struct {
	deps Deps
	seq  atomic.Int64
	host atomic.Pointer[Set] // what a host registered; nil: nothing
	back background
}

// New returns a bus.
func New(d Deps) *Bus { return &Bus{deps: d} }

// Has reports whether anything would be looked at for an event: a handler that matches, or a matcher that cannot
// be evaluated and blocks.
func (b *Bus) Has(e Event, match string) bool {
	if b == nil {
		return false
	}
	return looked(e, match, b.groups(e, nil))
}

// Files are the names of files that the FileChanged handlers name, to be watched where the session works; ok is false
// where there is no such handler.
func (b *Bus) Files() (names []string, ok bool) {
	if b == nil {
		return nil, false
	}
	groups := b.groups(FileChanged, nil)
	for _, g := range groups {
		for _, n := range strings.Split(g.text, "|") {
			if n = strings.TrimSpace(n); n != "" && n != "*" {
				names = append(names, n)
			}
		}
	}
	return names, len(groups) > 0
}

func looked(e Event, match string, groups []group) bool {
	info, _ := infoOf(e)
	for _, g := range groups {
		if !info.match || g.matcher.match(match) || g.matcher.broken != "" && guards(e) {
			return true
		}
	}
	return false
}

// Fire runs every handler that matches, beside each other, and joins their answers. It returns when all have ended,
// except those that run in the background.
func (b *Bus) Fire(ctx context.Context, p Payload) Outcome {
	if b == nil || len(b.groups(p.Event, p.Also)) == 0 {
		return Outcome{}
	}
	info, _ := infoOf(p.Event)
	handlers, broken := b.pick(p, info)
	if broken != "" {
		src := perm.Source{Kind: "hook", Rule: broken}
		return Outcome{Decision: &perm.Decision{Verdict: perm.Deny, Reason: broken, Source: src}}
	}
	if len(handlers) == 0 {
		return Outcome{}
	}
	if p.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.Limit)
		defer cancel()
	}
	base := b.deps.Base()
	in := input(p, base)
	replies := make([]reply, len(handlers))
	var wg sync.WaitGroup
	for i, h := range handlers {
		wg.Go(func() { replies[i] = b.one(ctx, p, info, h, base, in) })
	}
	wg.Wait()
	return b.merge(p.Event, info, replies)
}

// pick returns the handlers that are meant, each once. broken is the reason for which the call must not run.
func (b *Bus) pick(p Payload, info eventInfo) (out []*handler, broken string) {
	seen := map[string]bool{}
	for _, g := range b.groups(p.Event, p.Also) {
		if info.match && !g.matcher.match(p.Match) {
			if g.matcher.broken != "" && guards(p.Event) {
				return nil, fmt.Sprintf("the matcher %q of a %s hook cannot be evaluated (%s): %s", g.text, p.Event, g.where, g.matcher.broken)
			}
			continue
		}
		for _, h := range g.handlers {
			if h.never || seen[h.key] || p.Call != nil && h.cond.rules != nil && !h.cond.holds(*p.Call, b.deps.Perm()) {
				continue
			}
			seen[h.key] = true
			out = append(out, h)
		}
	}
	return out, ""
}

// one runs a handler and judges what came of it.
func (b *Bus) one(ctx context.Context, p Payload, info eventInfo, h *handler, base Base, in []byte) reply {
	run := Run{ID: "hook-" + strconv.FormatInt(b.seq.Add(1), 10), Name: name(p), Event: p.Event, Kind: h.Type, Title: h.title(), Where: h.where}
	tell := h.kind == kindCommand
	if tell && p.Started != nil {
		p.Started(run)
	}
	start := time.Now()
	limited, cancel := context.WithTimeout(ctx, h.limit(info))
	r, v := b.run(ctx, limited, p, info, h, base, in)
	cancel()
	if r.problem != "" && errors.Is(ctx.Err(), context.Canceled) {
		r.cancelled = true
	}
	rep := judge(p.Event, info, h, r)
	rep.model = v
	got := rep.run
	rep.run = run
	rep.run.Code, rep.run.Outcome, rep.run.Problem, rep.run.Blocked = got.Code, got.Outcome, got.Problem, got.Blocked
	rep.run.Stdout, rep.run.Stderr, rep.run.Dur = inert(got.Stdout), inert(got.Stderr), time.Since(start)
	if tell && p.Done != nil {
		p.Done(rep.run)
	}
	return rep
}

// run carries out a handler. A command that must end early is told so by ctx, and keeps its limit itself.
func (b *Bus) run(ctx, limited context.Context, p Payload, info eventInfo, h *handler, base Base, in []byte) (raw, *verdict) {
	if h.held != "" {
		return raw{held: h.held}, nil
	}
	switch h.kind {
	case kindCommand:
		return b.command(ctx, p, info, h, base, in), nil
	case kindHTTP:
		return b.post(limited, h, in), nil
	case kindTool:
		return b.tool(limited, h, in), nil
	case kindCallback:
		return b.callback(limited, p, h, in), nil
	}
	return b.model(limited, h, in)
}

func name(p Payload) string {
	if p.Match == "" {
		return string(p.Event)
	}
	return string(p.Event) + ":" + p.Match
}

// Close ends what runs in the background and waits for it.
func (b *Bus) Close() {
	if b != nil {
		b.back.close()
	}
}
