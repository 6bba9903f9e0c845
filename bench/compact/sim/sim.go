// Package sim runs whole sessions through the real pipeline, with tools that invent their results and a model that
// follows a plan, against the strict fake API: for the table of compaction policies and for property tests. A session
// can be left and resumed, as by another process, at any time; the clock is the caller's.
package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"lathe/internal/engine"
	"lathe/internal/event"
	"lathe/internal/fakeapi"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/pipeline"
	"lathe/internal/pipeline/account"
	"lathe/internal/pipeline/attach"
	"lathe/internal/pipeline/compact"
	"lathe/internal/pipeline/input"
	"lathe/internal/pipeline/model"
	"lathe/internal/pipeline/normalize"
	"lathe/internal/pipeline/prompt"
	"lathe/internal/pipeline/tools"
	"lathe/internal/price"
	"lathe/internal/provider"
	"lathe/internal/provider/anthropic"
	"lathe/internal/session"
	"lathe/internal/session/jsonl"
	"lathe/internal/tool"
	"lathe/internal/tool/todo"
	"lathe/internal/turn"
)

// Rules is what the session's instruction file says.
const Rules = "RULE: every function has a test."

// SummaryAsk is in every question for a summary.
const SummaryAsk = "write a summary of this conversation"

// Clock is a clock that stands still until it is moved.
type Clock struct {
	mu sync.Mutex
	t  time.Time
}

// NewClock returns a clock that shows a time.
func NewClock() *Clock { return &Clock{t: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

// Now is the time on the clock.
func (c *Clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.t }

// Add moves the clock.
func (c *Clock) Add(d time.Duration) { c.mu.Lock(); c.t = c.t.Add(d); c.mu.Unlock() }

// Session is one conversation, kept in a file; Open and Leave are what processes do.
type Session struct {
	Dir    string // of the state; absolute
	Work   string
	URL    string
	Key    string // API key: each has a prompt cache of its own
	Model  string
	Window int // of the model; 0: as the table says
	Config compact.Config
	Clock  *Clock
	Size   func(r *rand.Rand) int // of a result, in bytes

	Notices  []string
	Answered bool // the last prompt got an answer, whatever came after it
	Cost     float64

	log    *jsonl.Log
	path   string
	eng    *engine.Session
	todos  *todo.List
	ledger *account.Ledger
	ids    int
}

// table is the model table, with the window that was asked for.
func (s *Session) table() *price.Table {
	return price.Default().With(price.Overrides{Window: s.Window})
}

// Open begins the session, or goes on with it as a new process would.
func (s *Session) Open() error {
	store := jsonl.Store{StateDir: s.Dir}
	start := jsonl.Start{Dir: s.Work}
	state := &session.State{}
	var err error
	if s.path == "" {
		s.log, err = store.Create(start)
	} else {
		state, s.log, err = store.OpenPath(start, s.path)
	}
	if err != nil {
		return err
	}
	s.path = s.log.Path()
	s.todos = todo.NewList()
	s.todos.Restore(state.Messages)
	if raw, ok := state.Kept["todos"]; ok && len(s.todos.Items()) == 0 {
		var items []todo.Item
		if err := json.Unmarshal(raw, &items); err != nil {
			return err
		}
		s.todos.Set(items)
	}
	s.eng = engine.New(engine.Config{
		Log: s.log, State: *state, Ready: func() event.Ready { return event.Ready{} }, Model: s.Model, NewID: s.newID, Now: s.Clock.Now,
	})
	table := s.table()
	s.ledger = account.New(account.Deps{Price: table, Keep: s.log.Keep}, account.Config{NoCache: s.Config.NoCache})
	if err := s.ledger.Restore(state.Kept[account.KeepKind], state.Messages); err != nil {
		return err
	}
	deps, err := s.deps(table, state)
	if err != nil {
		return err
	}
	s.eng.Use(pipeline.Stages(deps))
	return nil
}

// newID makes ids that are the same in each run of a test.
func (s *Session) newID() string {
	s.ids++
	return fmt.Sprintf("00000000-0000-4000-8000-%012d", s.ids)
}

func (s *Session) deps(table *price.Table, state *session.State) (pipeline.Deps, error) {
	client, err := anthropic.New(anthropic.Options{BaseURL: s.URL, APIKey: s.Key})
	if err != nil {
		return pipeline.Deps{}, err
	}
	custom := "You are a coding agent. " + strings.Repeat("Work with care. ", 200)
	registry := tool.NewRegistry(fakeTool{s, "Read"}, fakeTool{s, "Edit"}, fakeTool{s, "Bash"}, todo.New(s.todos, nil))
	norm := normalize.Deps{Info: table.Info}
	cfg := normalize.Config{NoCache: s.Config.NoCache}
	todos := func() string { return todoText(s.todos) }
	var guard compact.Guard
	_ = json.Unmarshal(state.Kept["compaction-guard"], &guard)
	stage := compact.NewStage(compact.Deps{
		Guard: guard, KeepGuard: func(g compact.Guard) error { return s.log.Keep("compaction-guard", g) },
		Info: table.Info, NewID: s.newID, Todos: todos, Summarise: s.summarise(client, normalize.New(norm, cfg)), Earlier: state.Earlier,
		TooLong: func(err error) bool {
			var e *provider.Error
			return errors.As(err, &e) && e.Kind == provider.TooLong
		},
		ReadFile: func(_ context.Context, path string) (string, error) { return content(path, 8000), nil },
		After: func(context.Context, *turn.Turn, string, string) turn.Hooked {
			return turn.Hooked{Stop: stopOf(s.log.Keep("todos", s.todos.Items()))}
		},
	}, s.Config)
	return pipeline.Deps{
		Input: input.Deps{Resolve: func(string) (string, bool) { return "", false }, Commands: func() []input.Command {
			return []input.Command{{Name: "compact", Run: func(ctx context.Context, t *turn.Turn, args string) (string, error) {
				if args == "undo" {
					return stage.Undo(t)
				}
				return stage.Compact(ctx, t, args)
			}}}
		}},
		Attach:  []attach.Source{rules(), attach.Date(), attach.Todo(todos)},
		Prompt:  prompt.Deps{Config: prompt.Config{Custom: &custom}, Tools: registry.Defs, Freeze: s.eng.Freeze},
		Compact: stage, Normalize: norm, NormalizeConfig: cfg,
		Model: model.Deps{
			Provider: client, Retarget: normalize.Retarget(norm, cfg),
			Sleep: func(context.Context, time.Duration) error { return nil },
		},
		Tools:   tools.New(tools.Deps{Registry: registry, Decide: func(perm.Request) perm.Decision { return perm.Decision{Verdict: perm.Allow} }}),
		Account: s.ledger,
	}, nil
}

func stopOf(err error) *turn.Stop {
	if err == nil {
		return nil
	}
	return &turn.Stop{Subtype: event.ErrDuring, Err: err}
}

// rules attaches the instruction file once, and again after it was lost.
func rules() attach.Source {
	return attach.Source{
		Name: "memory", When: func(t *turn.Turn, seen attach.Seen) bool { return t.Step <= 1 && !seen.Any("memory") },
		Collect: func(context.Context, *turn.Turn, attach.Seen) ([]attach.Item, error) {
			return []attach.Item{{Key: "start 1", Text: Rules}}, nil
		},
	}
}

func todoText(l *todo.List) string {
	var b strings.Builder
	for _, i := range l.Items() {
		if i.Status != todo.Completed {
			fmt.Fprintf(&b, "%s: %s\n", i.Status, i.Content)
		}
	}
	return b.String()
}

// Todos is the list in words.
func (s *Session) Todos() string { return todoText(s.todos) }

// summarise asks for a summary as the program does.
func (s *Session) summarise(p provider.Provider, norm func(context.Context, *turn.Turn) error) func(context.Context, *turn.Turn, []msg.Message, string) (string, error) {
	return func(ctx context.Context, t *turn.Turn, view []msg.Message, instruction string) (string, error) {
		ask := *t
		ask.View = append(slices.Clip(view), msg.Message{Kind: msg.KindUser, Meta: true, Blocks: []msg.Block{msg.Text(instruction)}})
		if err := norm(ctx, &ask); err != nil {
			return "", err
		}
		var text strings.Builder
		var u msg.Usage
		for c, err := range p.Stream(ctx, ask.Request) {
			if err != nil {
				return "", err
			}
			if c.Kind == provider.ChunkBlockDelta && c.Delta == provider.DeltaText {
				text.WriteString(c.Text)
			}
			if c.Usage != nil && c.Kind == provider.ChunkStart {
				u = *c.Usage
			}
			if c.Usage != nil && c.Kind == provider.ChunkDelta {
				u.Output = c.Usage.Output
			}
		}
		s.ledger.Side("summary", t.Model, u, 0)
		return text.String(), nil
	}
}

// Prompt runs one turn. stopAfter, when it is not 0, interrupts it after so many messages.
func (s *Session) Prompt(ctx context.Context, text string, stopAfter int) (event.Result, error) {
	s.eng.SetModel(s.Model)
	s.Answered = false
	var result event.Result
	n := 0
	for env, err := range s.eng.Submit(ctx, event.Prompt{Text: text}) {
		if err != nil {
			return result, err
		}
		switch e := env.Event.(type) {
		case event.TurnDone:
			result = e.Result
		case event.Notice:
			s.Notices = append(s.Notices, e.Text)
		case event.Message:
			s.Answered = s.Answered || e.Msg.Kind == msg.KindAssistant && e.Msg.StopReason == "end_turn"
			if n++; n == stopAfter {
				s.eng.Interrupt(turn.ErrInterrupted)
			}
		}
	}
	s.Cost = s.ledger.Totals().Cost
	return result, nil
}

// Leave ends the process that Open began.
func (s *Session) Leave() error { return s.log.Close() }

// Path is the transcript.
func (s *Session) Path() string { return s.path }

// fakeTool invents results; calls of one name and input give texts that begin alike and differ in the rest.
type fakeTool struct {
	s    *Session
	name string
}

// Def implements tool.Tool.
func (f fakeTool) Def() msg.ToolDef {
	return msg.ToolDef{Name: f.name, Description: "Does it.", InputSchema: json.RawMessage(`{"type":"object","properties":{"file_path":{"type":"string"},"command":{"type":"string"}}}`)}
}

// Plan implements tool.Tool.
func (f fakeTool) Plan(_ context.Context, c tool.Call) (tool.Plan, error) {
	return tool.Plan{Summary: f.name, Run: func(context.Context, tool.Progress) (tool.Result, error) {
		if f.name == "Edit" {
			return tool.TextResult("Edited."), nil
		}
		f.s.Clock.Add(2 * time.Second)
		r := rand.New(rand.NewPCG(uint64(len(c.ID)), hash(c.ID)))
		return tool.TextResult(content(string(c.Input), f.s.Size(r))), nil
	}}, nil
}

func hash(text string) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range []byte(text) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return h
}

// content is source code, more or less.
func content(name string, size int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "of %s\n", name)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "%d\tfunc part%d(in []byte) (out string, err error) { return call(%d, in) }\n", i, i, hash(fmt.Sprint(name, i))%10000)
	}
	return b.String()
}

// Brain is a model that follows a plan: each call that is no question for a summary gives the next answer.
type Brain struct {
	Answers []fakeapi.Answer
	Summary string
	Fails   int // so many questions for a summary get none
	next    int
}

// Script is the plan for a server. One session uses it at a time.
func (b *Brain) Script() *fakeapi.Script {
	return &fakeapi.Script{Func: func(r fakeapi.Request) *fakeapi.Answer {
		if tail := r.Body[max(0, len(r.Body)-8000):]; strings.Contains(string(tail), SummaryAsk) {
			if b.Fails > 0 {
				b.Fails--
				return &fakeapi.Answer{Faults: []fakeapi.Fault{{Kind: fakeapi.FaultStatus, Status: 500}}}
			}
			return &fakeapi.Answer{Blocks: []fakeapi.Block{{Thinking: "sum up"}, {Text: "<summary>" + b.Summary + "</summary>"}}}
		}
		if b.next >= len(b.Answers) {
			return &fakeapi.Answer{Text: "done"}
		}
		b.next++
		return &b.Answers[b.next-1]
	}}
}
