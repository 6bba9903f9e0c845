package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lathe/agent"
	"lathe/internal/fakeapi"
)

// exampleDir is where the examples work.
var exampleDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "lathe-agent-*")
	if err != nil {
		panic(err)
	}
	exampleDir = dir
	os.Setenv("LATHE_HOME", filepath.Join(dir, "state")) // nothing of the machine's own configuration
	os.Setenv("CLAUDE_CONFIG_DIR", filepath.Join(dir, "config"))
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// bench is a place for sessions: a directory, a state directory and a fake API.
type bench struct {
	t   *testing.T
	dir string
	api *fakeapi.Server
}

func newBench(t *testing.T, answers ...fakeapi.Answer) *bench {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: filepath.Join(root, "work")}
	if err := os.Mkdir(b.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if b.api, err = fakeapi.New(fakeapi.Options{Script: fakeapi.Sequence(answers...)}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.api.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, v := range b.api.Violations() {
			t.Errorf("request %d broke the rule %s: %v", v.Request, v.Rule, v)
		}
		b.api.Close()
	})
	return b
}

func (b *bench) open(o agent.Options) *agent.Session {
	b.t.Helper()
	o.Dir, o.StateDir = b.dir, filepath.Join(filepath.Dir(b.dir), "state")
	env := map[string]string{"ANTHROPIC_API_KEY": "test-key", "ANTHROPIC_BASE_URL": b.api.URL(), "CLAUDE_CONFIG_DIR": o.StateDir}
	maps.Copy(env, o.Env)
	o.Env = env
	s, err := agent.Open(o)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { s.Close() })
	return s
}

func calls(blocks ...fakeapi.Block) fakeapi.Answer { return fakeapi.Answer{Blocks: blocks} }

func bash(command string) fakeapi.Block {
	return fakeapi.Call("Bash", map[string]any{"command": command})
}

type sum struct {
	A int `json:"a"`
	B int `json:"b,omitempty" jsonschema:"the second one"`
}

func add(_ context.Context, in sum) (string, error) {
	if in.A < 0 {
		return "", errors.New("a is negative")
	}
	return strings.Repeat("|", in.A+in.B), nil
}

// A tool in Go is offered, judged, run and answered like any other.
func TestTools(t *testing.T) {
	b := newBench(t,
		calls(fakeapi.Call("add", map[string]any{"a": 2, "b": 3}), fakeapi.Call("add", map[string]any{"a": -1}), fakeapi.Call("add", map[string]any{"b": 1}),
			fakeapi.Call("boom", map[string]any{})), fakeapi.Text("five"))
	boom := agent.Tool{Name: "boom", Run: func(context.Context, json.RawMessage) (string, error) { panic("no") }}
	s := b.open(agent.Options{Tools: []agent.Tool{agent.NewTool("add", "Adds.", add), boom}, Allow: []string{"add", "boom"}, Builtin: []string{"Read"}})
	var done []agent.ToolDone
	var text string
	for e, err := range s.Submit(t.Context(), agent.Prompt{Text: "add 2 and 3"}) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case agent.ToolDone:
			done = append(done, e)
		case agent.Text:
			text += e.Text
		case agent.Done:
			if e.Result.Text != "five" || e.Result.IsError || e.Result.Turns != 2 || e.Result.Cost <= 0 {
				t.Errorf("result %+v", e.Result)
			}
		}
	}
	if text != "five" {
		t.Errorf("text %q", text)
	}
	want := []string{"|||||", "a is negative", "wrong input for add", "the tool panicked: no"}
	if len(done) != 4 {
		t.Fatalf("%d calls ended: %+v", len(done), done)
	}
	for i, d := range done {
		if !strings.Contains(d.Text, want[i]) || d.Failed != (i > 0) || d.Name == "" {
			t.Errorf("call %d: %+v", i, d)
		}
	}
	body := string(b.api.Requests()[0].Body)
	if !strings.Contains(body, `"the second one"`) || strings.Contains(body, `"name":"Bash"`) {
		t.Errorf("the tools that were sent: %s", body)
	}
}

func TestPermission(t *testing.T) {
	b := newBench(t, calls(bash("touch one")), calls(bash("touch two")), calls(bash("touch three")), calls(bash("mkdir four")), fakeapi.Text("done"))
	var asked []string
	s := b.open(agent.Options{Permission: func(_ context.Context, q agent.Question) (agent.Answer, error) {
		asked = append(asked, q.Summary)
		switch len(asked) {
		case 1:
			return agent.Answer{Allow: true, Input: json.RawMessage(`{"command":"touch changed"}`)}, nil
		case 2:
			return agent.Answer{Allow: true, Remember: true}, nil
		}
		return agent.Answer{}, errors.New("nobody is there")
	}})
	r, err := s.Run(t.Context(), "go")
	if err != nil || r.Text != "done" || len(r.Denials) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := strings.Join(asked, "; "); got != "touch one; touch two; mkdir four" {
		t.Errorf("asked: %s", got)
	}
	for name, want := range map[string]bool{"one": false, "changed": true, "two": true, "three": true, "four": false} {
		if _, err := os.Stat(filepath.Join(b.dir, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHooks(t *testing.T) {
	b := newBench(t, calls(bash("touch one"), bash("touch two")), fakeapi.Text("done"))
	var seen []string
	hook := func(_ context.Context, in agent.HookInput) (agent.HookOutput, error) {
		seen = append(seen, in.Event+" "+in.Tool)
		var call struct{ Command string }
		_ = json.Unmarshal(in.ToolInput, &call)
		if call.Command == "touch one" && in.Event == "PreToolUse" {
			return agent.HookOutput{Decision: "deny", Reason: "not one"}, nil
		}
		return agent.HookOutput{}, nil
	}
	s := b.open(agent.Options{Allow: []string{"Bash"}, Hooks: []agent.Hook{
		{Event: "PreToolUse", Matcher: "Bash", Run: hook},
		{Event: "PostToolUse", Run: hook},
		{Event: "UserPromptSubmit", Run: func(_ context.Context, in agent.HookInput) (agent.HookOutput, error) {
			return agent.HookOutput{Context: "the prompt was: " + in.Prompt}, nil
		}},
	}})
	r, err := s.Run(t.Context(), "go on")
	if err != nil || r.Text != "done" {
		t.Errorf("%+v, %v", r, err)
	}
	if got := strings.Join(seen, ", "); got != "PreToolUse Bash, PreToolUse Bash, PostToolUse Bash" {
		t.Errorf("hooks saw %s", got)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "one")); err == nil {
		t.Error("the denied call ran")
	}
	if body := string(b.api.Requests()[1].Body); !strings.Contains(body, "not one") || !strings.Contains(body, "the prompt was: go on") {
		t.Errorf("the model was not told: %s", body)
	}
}

// The model asks the user by way of the program; without the function there is no such tool.
func TestAsk(t *testing.T) {
	ask := fakeapi.Call("AskUserQuestion", map[string]any{"questions": []any{map[string]any{
		"question": "Which colour?", "header": "Colour", "multiSelect": false,
		"options": []any{map[string]any{"label": "red", "description": "warm"}, map[string]any{"label": "blue", "description": "cold"}},
	}}})
	var got []agent.UserQuestion
	var fail error
	b := newBench(t, calls(ask), fakeapi.Text("one"), calls(ask), fakeapi.Text("two"), calls(bash("touch x")), fakeapi.Text("three"), fakeapi.Text("four"))
	s := b.open(agent.Options{Ask: func(_ context.Context, q []agent.UserQuestion) (map[string]string, error) {
		got = q
		return map[string]string{"Which colour?": "blue"}, fail
	}})
	run := func(want string) string {
		t.Helper()
		if r, err := s.Run(t.Context(), "go"); err != nil || r.Text != want {
			t.Fatalf("%+v, %v", r, err)
		}
		all := b.api.Requests()
		return all[len(all)-1].LastToolResult()
	}
	if told := run("one"); len(got) != 1 || got[0].Options[1].Label != "blue" || !strings.Contains(told, "blue") {
		t.Errorf("asked %+v, told %q", got, told)
	}
	fail = errors.New("nobody is in")
	if told := run("two"); !strings.Contains(told, "nobody is in") {
		t.Errorf("told %q", told)
	}
	if told := run("three"); !strings.Contains(told, "nobody is there to allow it") {
		t.Errorf("a command without somebody to allow it: %q", told)
	}
	s.Close()
	b.open(agent.Options{Permission: func(context.Context, agent.Question) (agent.Answer, error) { return agent.Answer{Allow: true}, nil }}).Run(t.Context(), "go")
	all := b.api.Requests()
	if slices.Contains(all[len(all)-1].ToolNames(), "AskUserQuestion") || !slices.Contains(all[0].ToolNames(), "AskUserQuestion") {
		t.Error("the tool is offered wrongly")
	}
}

// A session goes on with what it was, wherever it is kept; and the kept form survives encoding/json.
func TestStores(t *testing.T) {
	for name, store := range map[string]agent.Store{"files": nil, "memory": &agent.Memory{}, "a program's own": &jsonStore{}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, calls(fakeapi.Block{Thinking: "hm"}, bash("echo hi")), fakeapi.Text("one"), fakeapi.Text("two"), fakeapi.Text("three"), fakeapi.Text("four"))
			s := b.open(agent.Options{Store: store, Allow: []string{"Bash"}})
			if r, err := s.Run(t.Context(), "first"); err != nil || r.Text != "one" {
				t.Fatalf("%+v, %v", r, err)
			}
			id := s.ID()
			s.Close()
			s = b.open(agent.Options{Store: store, Allow: []string{"Bash"}, Resume: id})
			if n := len(s.Messages()); n < 4 {
				t.Errorf("%d messages after resuming", n)
			}
			if r, err := s.Run(t.Context(), "second"); err != nil || r.Text != "two" || s.ID() != id {
				t.Fatalf("%+v, %v", r, err)
			}
			s.Close()
			s = b.open(agent.Options{Store: store, Allow: []string{"Bash"}, Continue: true})
			if r, err := s.Run(t.Context(), "third"); err != nil || r.Text != "three" || s.ID() != id {
				t.Fatalf("%+v, %v", r, err)
			}
			s.Close()
			forked := b.open(agent.Options{Store: store, Allow: []string{"Bash"}, Resume: id, Fork: true})
			if r, err := forked.Run(t.Context(), "aside"); err != nil || r.Text != "four" || forked.ID() == id {
				t.Fatalf("%+v, %v", r, err)
			}
			forked.Close()
			s = b.open(agent.Options{Store: store, Allow: []string{"Bash"}, Resume: id})
			for _, m := range s.Messages() {
				if strings.Contains(m.Text(), "aside") {
					t.Error("the fork wrote into the session that it comes from")
				}
			}
			all := b.api.Requests()
			first, last := trimmed(all[1].Body), string(all[len(all)-1].Body)
			if !strings.Contains(last, "third") || !strings.HasPrefix(last, first[:len(first)/2]) {
				t.Errorf("the last request does not go on with the first:\n%s\n%s", first, last)
			}
			if _, err := agent.Open(agent.Options{Store: store, Dir: b.dir, StateDir: filepath.Join(b.dir, "x"), Env: map[string]string{"ANTHROPIC_API_KEY": "k"}, Resume: "11111111-2222-4333-8444-555555555555"}); !errors.Is(err, agent.ErrNotFound) {
				t.Errorf("no such session: %v", err)
			}
		})
	}
}

func trimmed(b []byte) string { return string(b) }

// jsonStore keeps everything as JSON text.
type jsonStore struct{ logs map[string]*jsonLog }

type jsonLog struct {
	id, dir  string
	messages []string
	frozen   string
	kept     map[string]string
}

func (s *jsonStore) Create(id, dir string) (agent.Log, error) {
	if s.logs == nil {
		s.logs = map[string]*jsonLog{}
	}
	s.logs[id] = &jsonLog{id: id, dir: dir, kept: map[string]string{}}
	return s.logs[id], nil
}

func (s *jsonStore) Open(id string) (*agent.State, agent.Log, error) {
	l := s.logs[id]
	if l == nil {
		return nil, nil, agent.ErrNotFound
	}
	state := &agent.State{Meta: agent.Meta{ID: id, Dir: l.dir}, Kept: map[string]json.RawMessage{}}
	for _, text := range l.messages {
		var m agent.Message
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			return nil, nil, err
		}
		state.Messages = append(state.Messages, m)
	}
	if l.frozen != "" {
		state.Frozen = &agent.Frozen{}
		if err := json.Unmarshal([]byte(l.frozen), state.Frozen); err != nil {
			return nil, nil, err
		}
	}
	for k, v := range l.kept {
		state.Kept[k] = json.RawMessage(v)
	}
	return state, l, nil
}

func (s *jsonStore) List(string) ([]agent.Meta, error) {
	var out []agent.Meta
	for id, l := range s.logs {
		out = append(out, agent.Meta{ID: id, Dir: l.dir})
	}
	return out, nil
}

func (l *jsonLog) ID() string   { return l.id }
func (l *jsonLog) Path() string { return "" }
func (l *jsonLog) Close() error { return nil }

func (l *jsonLog) Append(ms ...agent.Message) error {
	for _, m := range ms {
		b, err := json.Marshal(m)
		if err != nil {
			return err
		}
		l.messages = append(l.messages, string(b))
	}
	return nil
}

func (l *jsonLog) Freeze(f agent.Frozen) error {
	b, err := json.Marshal(f)
	l.frozen = string(b)
	return err
}

func (l *jsonLog) Keep(kind string, v any) error {
	b, err := json.Marshal(v)
	l.kept[kind] = string(b)
	return err
}

// Leaving the loop, ending the context and Interrupt stop the turn, whatever it does, and the session goes on.
func TestInterrupts(t *testing.T) {
	b := newBench(t, calls(bash("sleep 300")), calls(bash("sleep 300")), calls(bash("sleep 300")), fakeapi.Text("on"))
	s := b.open(agent.Options{Allow: []string{"Bash"}})
	for range s.Submit(t.Context(), agent.Prompt{Text: "leave"}) {
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e, err := range s.Submit(ctx, agent.Prompt{Text: "end the context"}) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := e.(type) {
		case agent.ToolStarted:
			cancel()
		case agent.Done:
			if !e.Result.IsError || !strings.HasPrefix(e.Result.Terminal, "aborted") {
				t.Errorf("result %+v", e.Result)
			}
		}
	}
	if _, err := s.Run(ctx, "ended"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
	for e := range s.Submit(t.Context(), agent.Prompt{Text: "interrupt"}) {
		if _, ok := e.(agent.ToolStarted); ok {
			if _, err := s.Run(t.Context(), "busy"); !errors.Is(err, agent.ErrBusy) {
				t.Errorf("a second prompt: %v", err)
			}
			if err := s.SetMode(t.Context(), "plan"); err != nil {
				t.Errorf("a query inside the loop: %v", err)
			}
			s.Interrupt()
		}
	}
	if err := s.SetModel(t.Context(), "claude-haiku-5-5"); err != nil {
		t.Error(err)
	}
	if r, err := s.Run(t.Context(), "and now?"); err != nil || r.Text != "on" {
		t.Errorf("afterwards: %+v, %v", r, err)
	}
	if all := b.api.Requests(); !strings.Contains(string(all[len(all)-1].Body), `"claude-haiku-5-5"`) {
		t.Error("the model was not changed")
	}
	s.Close()
	if _, err := s.Run(t.Context(), "closed"); !errors.Is(err, agent.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// Close may be called by the loop itself, however much it has not read, and a second Close waits for the first.
func TestCloseByTheLoop(t *testing.T) {
	many := make([]fakeapi.Block, 200)
	for i := range many {
		many[i] = bash("sleep 300")
	}
	b := newBench(t, calls(many...))
	s := b.open(agent.Options{Allow: []string{"Bash"}})
	read := 0
	for range s.Submit(t.Context(), agent.Prompt{Text: "go"}) {
		if read++; read > 1 {
			continue
		}
		for end := time.Now().Add(time.Minute); !agent.Full(s); time.Sleep(time.Millisecond) { // more comes than is kept for a reader
			if time.Now().After(end) {
				t.Fatal("less comes than is kept for a reader")
			}
		}
		s.Close()
	}
	if read > 100 {
		t.Errorf("%d events after Close", read)
	}
	var again sync.WaitGroup
	s = b.open(agent.Options{})
	for range 2 {
		again.Go(func() {
			s.Close()
			if _, err := s.Run(t.Context(), "closed"); !errors.Is(err, agent.ErrClosed) {
				t.Errorf("closed: %v", err)
			}
		})
	}
	again.Wait()
}

func TestStructured(t *testing.T) {
	b := newBench(t, calls(fakeapi.Call("StructuredOutput", map[string]any{"n": 3})), fakeapi.Text("ok"))
	s := b.open(agent.Options{Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`), NoPersist: true})
	if r, err := s.Run(t.Context(), "count"); err != nil || string(r.Structured) != `{"n":3}` {
		t.Errorf("%+v, %v", r, err)
	}
	if list, _ := filepath.Glob(filepath.Join(filepath.Dir(b.dir), "state", "projects", "*", "*.jsonl")); len(list) > 0 {
		t.Errorf("kept: %v", list)
	}
}

func TestWrongOptions(t *testing.T) {
	run := func(context.Context, json.RawMessage) (string, error) { return "", nil }
	for want, o := range map[string]agent.Options{
		"tool name":      {Tools: []agent.Tool{{Name: "no good", Run: run}}},
		"two tools":      {Tools: []agent.Tool{{Name: "a", Run: run}, {Name: "a", Run: run}}},
		"no function":    {Tools: []agent.Tool{{Name: "a"}}},
		"type object":    {Tools: []agent.Tool{{Name: "a", Run: run, Schema: json.RawMessage(`{"type":"string"}`)}}},
		"needs an event": {Hooks: []agent.Hook{{}}},
		"contradict":     {Store: &agent.Memory{}, NoPersist: true},
		"not one of":     {Mode: "nonsense"},
		"no API key":     {Env: map[string]string{"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": ""}},
		"cannot be used": {Dir: "/does/not/exist"},
	} {
		o.StateDir = t.TempDir()
		if o.Env == nil {
			o.Env = map[string]string{"ANTHROPIC_API_KEY": "k"}
		}
		if _, err := agent.Open(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
