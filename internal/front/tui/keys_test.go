package tui

import (
	"context"
	"encoding/json"
	"iter"
	"testing"
	"time"

	"lathe/internal/event"
	"lathe/internal/front/tui/editor"
	"lathe/internal/front/tui/term"
	"lathe/internal/perm"
)

// bare is a screen without a terminal and without a session; now is its clock.
func bare(now *time.Time) *ui {
	u := &ui{o: Options{Now: func() time.Time { return *now }, Getenv: func(string) string { return "" }}, ctx: context.Background(), prompt: newPrompt(), replies: map[string]func(event.Reply){}, cols: 80, rows: 30}
	u.prompt.saving = time.AfterFunc(time.Hour, func() {})
	u.prompt.saving.Stop()
	return u
}

// types sends keys, one a character.
func (u *ui) types(text string) {
	for _, r := range text {
		u.key(term.Key{Code: r, Text: string(r)})
	}
}

// A word that is being typed when a question comes must not answer it.
func TestDialogWhileTyping(t *testing.T) {
	now := time.Unix(1e9, 0)
	u := bare(&now)
	u.types("wh")
	answer := ""
	u.open(&choice{body: func(int) []string { return nil }, options: []option{
		{label: "Yes", hotkey: "y", do: func(string) { answer = "yes" }}, {label: "No", hotkey: "n", do: func(string) { answer = "no" }},
	}})
	now = now.Add(100 * time.Millisecond)
	u.types("y")
	now = now.Add(typingPause - time.Millisecond)
	u.types("y")
	u.key(term.Key{Code: term.Enter})
	if answer != "" || u.dialog() == nil || u.prompt.ed.Text() != "whyy" {
		t.Fatalf("the answer is %q, the prompt %q", answer, u.prompt.ed.Text())
	}
	now = now.Add(typingPause + time.Millisecond) // the person has seen it
	u.types("n")
	if answer != "no" || u.dialog() != nil || u.prompt.ed.Text() != "whyy" {
		t.Errorf("the answer is %q, the prompt %q", answer, u.prompt.ed.Text())
	}
}

// bindingsConn answers the query for the file of key bindings.
type bindingsConn struct {
	u    *ui
	file string
	n    int
}

func (c *bindingsConn) Send(_ context.Context, op event.Op) error {
	if q, ok := op.(event.Query); ok && q.Kind == "keybindings" {
		c.n++
		b, err := json.Marshal(map[string][]byte{"file": []byte(c.file)})
		c.u.replies[q.ID](event.Reply{ID: q.ID, Value: b})
		return err
	}
	return nil
}

func (c *bindingsConn) Events(context.Context) iter.Seq2[event.Envelope, error] { return nil }

// A file of key bindings that is written while the program runs counts after a pause in typing.
func TestKeybindingsAgain(t *testing.T) {
	now := time.Unix(1e9, 0)
	u := bare(&now)
	c := &bindingsConn{u: u}
	u.session = &Session{Conn: c}
	altQ := term.Key{Code: 'q', Mod: term.Alt}
	u.key(altQ)
	c.file = `{"bindings": [{"context": "Chat", "bindings": {"alt+q": "app:toggleTodos"}}]}`
	now = now.Add(bindingsRest / 2)
	u.key(altQ)
	if u.showTodo || c.n != 1 {
		t.Errorf("the file was asked for %d times while keys came", c.n)
	}
	now = now.Add(bindingsRest + time.Millisecond)
	u.key(altQ)
	if !u.showTodo || c.n != 2 {
		t.Errorf("the new binding does not hold; the file was asked for %d times", c.n)
	}
}

// Bindings of the user's file hold in dialogs, lists and the transcript, in the contexts that the file names; their defaults are
// the dialogs' own, so that a letter can be typed.
func TestBindingsInDialogs(t *testing.T) {
	now := time.Unix(1e9, 0)
	u := bare(&now)
	u.bindings([]byte(`{"bindings": [{"context": "Confirmation", "bindings": {"ctrl+y": "confirm:yes", "n": null, "x": "confirm:next"}},
		{"context": "Select", "bindings": {"ctrl+j": "select:next", "ctrl+x e": "select:last"}}, {"context": "Chat", "bindings": {"y": "chat:stash"}}]}`))
	answer := ""
	c := &choice{body: func(int) []string { return nil }, options: []option{
		{label: "Yes", hotkey: "y", do: func(string) { answer = "yes" }}, {label: "No", hotkey: "n", do: func(string) { answer = "no" }},
	}}
	u.open(c)
	u.types("nx")
	if answer != "" || c.sel != 1 {
		t.Errorf("the answer is %q, row %d is chosen", answer, c.sel)
	}
	u.key(term.Key{Code: 'y', Mod: term.Ctrl})
	if answer != "yes" || u.dialog() != nil {
		t.Errorf("the answer is %q", answer)
	}
	p := newPicker("A list", []entry{{name: "one"}, {name: "jay"}, {name: "three"}}, func(entry) {})
	u.open(p)
	u.key(term.Key{Code: 'j', Mod: term.Ctrl})
	if e := p.chosen(); e == nil || e.name != "jay" {
		t.Errorf("%v is chosen", e)
	}
	u.key(term.Key{Code: 'x', Mod: term.Ctrl})
	u.types("e")
	if e := p.chosen(); e == nil || e.name != "three" {
		t.Errorf("%v is chosen", e)
	}
	u.types("j")
	if e := p.chosen(); e == nil || e.name != "jay" || p.ed.Text() != "j" {
		t.Errorf("%v is chosen, %q is searched", e, p.ed.Text())
	}
}

// Up and Down go on past what a menu of completions would open for; typing opens it again.
func TestHistoryPastMenus(t *testing.T) {
	now := time.Unix(1e9, 0)
	u := bare(&now)
	u.takeCommands([]command{{Name: "cost"}})
	for _, text := range []string{"first", "/cost", "look at @a.go"} {
		u.prompt.remember(u, editor.Draft{Text: text})
	}
	for _, want := range []string{"look at @a.go", "/cost", "first"} {
		if u.key(term.Key{Code: term.Up}); u.prompt.ed.Text() != want || u.menu != nil {
			t.Fatalf("up brings %q, want %q; a menu is open: %v", u.prompt.ed.Text(), want, u.menu != nil)
		}
	}
	if u.key(term.Key{Code: term.Down}); u.prompt.ed.Text() != "/cost" || u.menu != nil {
		t.Fatalf("down brings %q; a menu is open: %v", u.prompt.ed.Text(), u.menu != nil)
	}
	if u.key(term.Key{Code: term.Backspace}); u.menu == nil {
		t.Error("typing does not open the menu")
	}
}

// opsConn keeps what is sent, but for queries.
type opsConn struct{ ops []event.Op }

func (c *opsConn) Send(_ context.Context, op event.Op) error {
	if _, ok := op.(event.Query); !ok {
		c.ops = append(c.ops, op)
	}
	return nil
}

func (c *opsConn) Events(context.Context) iter.Seq2[event.Envelope, error] { return nil }

// Every answer to a permission question takes a comment: what is typed behind Tab never answers by its letters.
func TestCommentWithEveryAnswer(t *testing.T) {
	now := time.Unix(1e9, 0)
	updates := json.RawMessage(`[{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]`)
	ask := event.Ask{ID: "1", Tool: "Write", Input: json.RawMessage(`{"file_path": "/a.go", "content": "x"}`), Updates: updates}
	ask.Decision.Suggest = []perm.Rule{{Text: "Edit(/a.go)"}}
	bash := ask
	bash.Tool, bash.Input, bash.Updates = "Bash", json.RawMessage(`{"command": "touch a"}`), nil
	for _, e := range []event.Ask{ask, bash} {
		for i, n := 0, 1; i < n; i++ {
			u, conn := bare(&now), &opsConn{}
			u.session = &Session{Conn: conn}
			c := u.askDialog(e).(*choice)
			u.open(c)
			n = len(c.options)
			label := c.options[i].label
			c.sel = i
			u.key(term.Key{Code: term.Tab})
			u.types("yan")
			if len(conn.ops) > 0 || u.dialog() == nil {
				t.Fatalf("%s, %q: a letter of the comment answers: %+v", e.Tool, label, conn.ops)
			}
			u.key(term.Key{Code: term.Enter})
			a, _ := conn.ops[0].(event.Answer)
			said := a.Message
			if a.Allow && len(conn.ops) == 2 {
				p, _ := conn.ops[1].(event.Prompt)
				said = p.Text
			}
			if a.ID != "1" || a.Allow == (i == n-1) || a.Stop || said != "yan" {
				t.Errorf("%s, %q: %+v", e.Tool, label, conn.ops)
			}
		}
	}
}
