package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lathe/internal/fakeapi"
	"lathe/internal/pipeline/compact"
)

// world is a session with what must not be lost in it.
type world struct {
	s       *Session
	server  *fakeapi.Server
	pins    []string
	waiting []string // prompts without an answer
	prompts int
}

func anyAnswer(t *rapid.T, i int) fakeapi.Answer {
	var blocks []fakeapi.Block
	if rapid.Bool().Draw(t, "thinks") {
		blocks = append(blocks, fakeapi.Block{Thinking: fmt.Sprint("thought ", i)})
	}
	file := map[string]any{"file_path": fmt.Sprintf("/f%d.go", rapid.IntRange(0, 3).Draw(t, "file"))}
	for range rapid.IntRange(1, 2).Draw(t, "calls") {
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0, 1, 2:
			blocks = append(blocks, fakeapi.Call("Read", file))
		case 3:
			blocks = append(blocks, fakeapi.Call("Edit", file))
		case 4:
			blocks = append(blocks, fakeapi.Call("Bash", map[string]any{"command": "go test"}))
		case 5:
			todos := []map[string]any{{"content": fmt.Sprint("thing ", i), "status": "pending", "activeForm": "Doing it"}}
			blocks = append(blocks, fakeapi.Call("TodoWrite", map[string]any{"todos": todos}))
		}
	}
	return fakeapi.Answer{Blocks: blocks}
}

func newWorld(t *rapid.T, dir string) *world {
	clock := NewClock()
	server, err := fakeapi.New(fakeapi.Options{Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	brain := &Brain{Summary: "what was done", Fails: rapid.SampledFrom([]int{0, 0, 1, 2, 9}).Draw(t, "fails")}
	for i := range rapid.IntRange(5, 40).Draw(t, "answers") {
		if rapid.IntRange(0, 3).Draw(t, "ends") == 0 {
			brain.Answers = append(brain.Answers, fakeapi.Answer{Blocks: []fakeapi.Block{{Thinking: "so"}, {Text: fmt.Sprint("answer ", i)}}})
			continue
		}
		brain.Answers = append(brain.Answers, anyAnswer(t, i))
	}
	if err := server.AddScript("key", brain.Script()); err != nil {
		t.Fatal(err)
	}
	url, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{
		Dir: filepath.Join(dir, "state"), Work: dir, URL: url, Key: "key", Model: "claude-opus-5-5", Clock: clock,
		Window: rapid.SampledFrom([]int{14_000, 24_000, 60_000}).Draw(t, "window"),
		Config: compact.Config{Auto: true},
		Size:   func(r *rand.Rand) int { return 2000 + r.IntN(8000) },
	}
	if rapid.Bool().Draw(t, "always") {
		s.Config.Always = []string{"microcompact", "collapse"}
	}
	if rapid.Bool().Draw(t, "some off") {
		s.Config.Off = rapid.SampledFrom([][]string{{"microcompact"}, {"collapse"}, {"snip"}, {"microcompact", "collapse", "snip"}}).Draw(t, "off")
	}
	return &world{s: s, server: server}
}

// TestNothingIsLost runs random sessions with compactions, undos, resumes, interrupts, pauses and changes of model.
// The API refuses nothing, thinking that is bound to its prefix included; pins, rules, the to-do list and what waits
// for an answer are in every request; and a resumed session builds on the bytes of the one before.
func TestNothingIsLost(t *testing.T) {
	base := t.TempDir()
	n := 0
	seen := map[string]int{}
	defer func() { t.Logf("in %d sessions: %v", n, seen) }()
	rapid.Check(t, func(t *rapid.T) {
		n++
		w := newWorld(t, filepath.Join(base, fmt.Sprint(n)))
		defer w.server.Close()
		if err := w.s.Open(); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(2, 8).Draw(t, "steps") {
			w.step(t)
		}
		w.prompt(t, "the end", 0)
		for _, v := range w.server.Violations() {
			t.Fatalf("the API refused a request: %v", v)
		}
		if err := w.s.Leave(); err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(w.s.Path())
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{`"trigger":"auto"`, `"trigger":"manual"`, `"trigger":"undo"`, `"step":"snip"`, `"step":"microcompact"`, `"step":"collapse"`} {
			seen[what] += strings.Count(string(kept), what)
		}
	})
}

func (w *world) step(t *rapid.T) {
	switch rapid.IntRange(0, 9).Draw(t, "step") {
	case 0:
		_, _ = w.s.Prompt(context.Background(), "/compact", 0)
	case 1:
		_, _ = w.s.Prompt(context.Background(), "/compact undo", 0)
	case 2:
		if err := w.s.Leave(); err != nil {
			t.Fatal(err)
		}
		if w.prompts == 0 {
			w.s.path = ""
		}
		if err := w.s.Open(); err != nil {
			t.Fatal(err)
		}
	case 3:
		w.s.Clock.Add(10 * time.Minute)
	case 4:
		w.s.Model = rapid.SampledFrom([]string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-4-5"}).Draw(t, "model")
	case 5:
		w.prompt(t, fmt.Sprintf("remember %d #pin", w.prompts), 0)
	case 6:
		w.prompt(t, fmt.Sprintf("stopped %d", w.prompts), rapid.IntRange(4, 12).Draw(t, "stop"))
	default:
		w.prompt(t, fmt.Sprintf("do thing %d", w.prompts), 0)
	}
}

func (w *world) prompt(t *rapid.T, text string, stop int) {
	w.prompts++
	if strings.Contains(text, "#pin") {
		w.pins = append(w.pins, text)
	}
	w.waiting = append(w.waiting, text)
	from := len(w.server.Requests())
	r, err := w.s.Prompt(context.Background(), text, stop)
	if err != nil {
		t.Fatal(err)
	}
	mine, last := 0, ""
	for _, req := range w.server.Requests()[from:] {
		body := string(req.Body)
		if !strings.Contains(body, quoted(text)) {
			continue // of the turn before, which was interrupted
		}
		mine++
		last = body
		for _, want := range append(append([]string{Rules}, w.pins...), w.waiting...) {
			if !strings.Contains(body, quoted(want)) {
				t.Fatalf("a request has lost %q\n%.3000s", want, body[strings.Index(body, `"messages"`):])
			}
		}
	}
	if mine == 0 && !r.IsError {
		t.Fatalf("no request holds the prompt %q", text)
	}
	if w.s.Answered {
		w.waiting = nil
	}
	if r.IsError && stop == 0 && r.Terminal != "blocking_limit" { // which comes when there is neither a summary nor snip
		t.Fatalf("%+v\n%s", r, strings.Join(w.s.Notices, "\n"))
	}
	if mine > 0 && !r.IsError {
		w.hasTodos(t, last)
	}
}

// hasTodos checks the last request for what is still to be done; the last answer ended the turn, so the list is as
// it was then.
func (w *world) hasTodos(t *rapid.T, body string) {
	for _, line := range strings.Split(strings.TrimSpace(w.s.Todos()), "\n") {
		if _, what, ok := strings.Cut(line, ": "); ok && !strings.Contains(body, what) {
			t.Fatalf("the request does not have the open item %q", what)
		}
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return strings.Trim(string(b), `"`)
}

// TestTwoProcesses: the next request of a session is the same, byte for byte, whoever builds it.
func TestTwoProcesses(t *testing.T) {
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		dir := filepath.Join(base, fmt.Sprint(n))
		w := newWorld(t, dir)
		defer w.server.Close()
		if err := w.s.Open(); err != nil {
			t.Fatal(err)
		}
		w.prompt(t, "begin", 0)
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			w.step(t)
		}
		kept, err := os.ReadFile(w.s.Path())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.s.Prompt(context.Background(), "next", 0)
		_ = w.s.Leave()
		one := w.server.Requests()
		if err := os.WriteFile(w.s.Path(), kept, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := w.s.Open(); err != nil {
			t.Fatal(err)
		}
		w.s.ids += 1000
		_, _ = w.s.Prompt(context.Background(), "next", 0)
		_ = w.s.Leave()
		two := w.server.Requests()
		find := func(list []fakeapi.Request) string {
			for _, r := range list {
				if i := strings.LastIndex(string(r.Body), `"next"`); i > 0 {
					return string(r.Body)
				}
			}
			return ""
		}
		a, b := find(one), find(two[len(one):])
		if a != b {
			at := 0
			for at < min(len(a), len(b)) && a[at] == b[at] {
				at++
			}
			t.Fatalf("different from byte %d on:\n%.600s\n%.600s", at, a[max(0, at-100):], b[max(0, at-100):])
		}
	})
}

// TestMain keeps the number of sessions small; -rapid.checks asks for more.
func TestMain(m *testing.M) {
	more := false
	for _, a := range os.Args {
		more = more || strings.Contains(a, "rapid.")
	}
	if !more {
		os.Args = append(os.Args, "-rapid.checks=40")
	}
	os.Exit(m.Run())
}
