package tui

import (
	"context"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
)

// sends is a connection that keeps what is sent, and yields events.
type sends struct {
	ops    []event.Op
	events []event.Envelope
}

func (s *sends) Send(_ context.Context, op event.Op) error { s.ops = append(s.ops, op); return nil }

func (s *sends) Events(context.Context) iter.Seq2[event.Envelope, error] {
	return func(yield func(event.Envelope, error) bool) {
		for _, e := range s.events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func newPlain(t *testing.T, o Options, events ...event.Envelope) (p *plain, conn *sends, said func() string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = out.Close() })
	o.Out = out
	conn = &sends{events: events}
	return &plain{o: o, ctx: t.Context(), session: &Session{Conn: conn}}, conn, func() string {
		b, err := os.ReadFile(out.Name())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

// Questions that wait at the same time are asked one after the other, each is answered by its own answer, and one that is taken
// back takes no other with it.
func TestPlainQuestionsWaitForEachOther(t *testing.T) {
	ask := func(id, tool string, who event.Agent) event.Envelope {
		return event.Envelope{Event: event.Ask{ID: id, Tool: tool}, Agent: who}
	}
	p, conn, said := newPlain(t, Options{},
		ask("a", "First", event.Agent{}), ask("b", "Second", event.Agent{ID: "x", Type: "helper"}), ask("c", "Third", event.Agent{}), ask("d", "Fourth", event.Agent{}),
		event.Envelope{Event: event.AskWithdrawn{ID: "c"}})
	p.events()
	if text := said(); !strings.Contains(text, "First") || strings.Contains(text, "Second") || strings.Contains(text, "helper") || strings.Contains(text, "taken back") {
		t.Errorf("at first it says\n%s", text)
	}
	p.typed("yes")
	if text := said(); !strings.Contains(text, "helper") || !strings.Contains(text, "Second") {
		t.Errorf("then it says\n%s", text)
	}
	p.typed("no use another")
	conn.events = []event.Envelope{{Event: event.AskWithdrawn{ID: "d"}}}
	p.events()
	if text := said(); !strings.Contains(text, "Fourth") || strings.Contains(text, "Third") || !strings.HasSuffix(text, "The question is taken back.\n") {
		t.Errorf("at last it says\n%s", text)
	}
	p.typed("go on")
	want := []event.Op{event.Answer{ID: "a", Allow: true}, event.Answer{ID: "b", Message: "use another"}, event.Prompt{Text: "go on"}}
	if diff := cmp.Diff(want, conn.ops); diff != "" {
		t.Error(diff)
	}
}

// What the command line says beside -r goes to the session that is chosen, once.
func TestPlainPromptWaitsForTheChoice(t *testing.T) {
	reset := func(trigger string) event.Envelope {
		return event.Envelope{Event: event.ConversationReset{Trigger: trigger}}
	}
	p, conn, _ := newPlain(t, Options{Prompt: "go on", Fork: true}, reset("clear"))
	p.hold()
	p.events()
	if len(conn.ops) != 0 {
		t.Errorf("sent before there was a choice: %v", conn.ops)
	}
	conn.events = []event.Envelope{reset("resume"), reset("fork"), reset("resume")}
	p.events()
	if diff := cmp.Diff([]event.Op{event.Prompt{Text: "/fork"}, event.Prompt{Text: "go on"}}, conn.ops); diff != "" {
		t.Error(diff)
	}
}

// When the input ends while a session is being started, that is ended too before the program goes on.
func TestPlainEndsTheStart(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	closed := false
	out, err := runPlain(t.Context(), Options{
		In: null, Out: null,
		Start: func(ctx context.Context, _ Start) (*Session, error) {
			<-ctx.Done()
			return &Session{Close: func() { closed = true }}, nil
		},
	})
	if err != nil || out.Code != 0 || !closed {
		t.Errorf("%+v, %v, closed %v", out, err, closed)
	}
}

func TestTrustWord(t *testing.T) {
	for word, want := range map[string]TrustAnswer{"yes": TrustYes, " Y ": TrustYes, "n": TrustNo, "No": TrustNo, "q": TrustQuit} {
		if got, ok := trustWord(word); !ok || got != want {
			t.Errorf("%q: %v, %t", word, got, ok)
		}
	}
	if _, ok := trustWord("yep"); ok {
		t.Error("yep is taken for an answer")
	}
}

// A change of a file is said by its lines, not by the whole text of the file; where its place is not known, the call is said as it is.
func TestPlainSaysChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(path, []byte("one\n\ttwo\n3\n4\n5\n6\n7\n8\n9\nten\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, want, not string
		in              map[string]any
	}{
		{"Write", "Change 1 of 2:\n  line 2 removed:     two\n  line 2 added:     zwei\x1b\nChange 2 of 2:\n  line 10 removed: ten\n  line 10 added: zehn (without a line end)\n", "one", map[string]any{"content": "one\n\tzwei\x1b\n3\n4\n5\n6\n7\n8\n9\nzehn"}},
		{"Edit", "  line 2 removed:     two\n  line 2 added:     zwei\n", "one", map[string]any{"old_string": "\ttwo", "new_string": "\tzwei"}},
		{"Edit", "  old_string: none\n", "removed", map[string]any{"old_string": "none", "new_string": "other"}},
	} {
		c.in["file_path"] = path
		p, _, said := newPlain(t, Options{}, event.Envelope{Event: event.Ask{ID: "a", Tool: c.tool, Input: event.Encode(c.in)}})
		p.events()
		if text := said(); !strings.Contains(text, event.Inert(c.want)) || strings.Contains(text, c.not) || !strings.Contains(text, path) {
			t.Errorf("%s %v: it says\n%s", c.tool, c.in, text)
		}
	}
	fresh := filepath.Join(t.TempDir(), "b.go")
	p, _, said := newPlain(t, Options{}, event.Envelope{Event: event.Ask{ID: "a", Tool: "Write", Input: event.Encode(map[string]any{"file_path": fresh, "content": "a\n\tb\n"})}})
	p.events()
	if text := said(); !strings.HasPrefix(text, "Write "+fresh+"?\n  a\n      b\n") {
		t.Errorf("of a new file it says\n%s", text)
	}
}
