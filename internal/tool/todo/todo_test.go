package todo

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

func TestTodoWrite(t *testing.T) {
	list := NewList()
	tl := New(list, nil)
	write := func(input string) (tool.Result, error) {
		canonical, err := tool.Canonical(tl, json.RawMessage(input))
		if err != nil {
			return tool.Result{}, err
		}
		plan, err := tl.Plan(t.Context(), tool.Call{Input: canonical})
		if err != nil {
			return tool.Result{}, err
		}
		if !plan.ReadOnly || plan.Parallel {
			t.Error("TodoWrite must be read-only and not parallel")
		}
		return plan.Run(t.Context(), nil)
	}
	res, err := write(`{"todos":[{"content":"a","status":"in_progress","activeForm":"Doing a"},{"content":"b","status":"pending"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	first := []Item{{"a", InProgress, "Doing a"}, {"b", Pending, "b"}}
	if d := cmp.Diff(Output{OldTodos: []Item{}, NewTodos: first}, res.Output); d != "" {
		t.Error(d)
	}
	if got, want := msg.JoinText(res.Blocks), "To-do list saved: 0 completed, 1 in progress, 1 pending."; got != want {
		t.Error(got)
	}
	res, err = write(`{"todos":[]}`)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Output{OldTodos: first, NewTodos: []Item{}}, res.Output); d != "" {
		t.Error(d)
	}
	for input, want := range map[string]string{
		`{"todos":[{"content":" ","status":"pending"}]}`: "todos[0].content is empty",
		`{"todos":[{"content":"a","status":"done"}]}`:    "wrong input for TodoWrite: todos[0].status must be one of pending, in_progress, completed",
		`{"todos":"x"}`: "wrong input for TodoWrite: todos must be an array",
	} {
		if _, err := write(input); err == nil || err.Error() != want {
			t.Errorf("%s: %v", input, err)
		}
	}
	if def := tl.Def(); (len(def.Description)+len(def.InputSchema))/4 > 130 || !json.Valid(def.InputSchema) {
		t.Errorf("the definition is too long (%d) or no JSON", (len(def.Description)+len(def.InputSchema))/4)
	}
}

func TestRestore(t *testing.T) {
	use := func(id, content string) msg.Message {
		in, _ := json.Marshal(Input{[]Item{{content, Pending, content}}})
		return msg.Message{Kind: msg.KindAssistant, Blocks: []msg.Block{msg.Text("x"), msg.ToolUse(id, Name, in)}}
	}
	result := func(id string, failed bool) msg.Message {
		return msg.Message{Kind: msg.KindUser, Blocks: []msg.Block{msg.ToolResult(id, failed, msg.Text("x"))}}
	}
	side := use("s", "sub-agent's")
	side.Sidechain = true
	broken := msg.Message{Kind: msg.KindAssistant, Blocks: []msg.Block{msg.ToolUse("b", Name, json.RawMessage(`{"todos":7}`))}}
	cases := []struct {
		name     string
		messages []msg.Message
		want     []Item
	}{
		{"empty", nil, nil},
		{"the last", []msg.Message{use("1", "one"), result("1", false), use("2", "two"), result("2", false)}, []Item{{"two", Pending, "two"}}},
		{"refused", []msg.Message{use("1", "one"), result("1", false), use("2", "two"), result("2", true)}, []Item{{"one", Pending, "one"}}},
		{"no result", []msg.Message{use("1", "one")}, []Item{{"one", Pending, "one"}}},
		{"others", []msg.Message{use("1", "one"), side, broken}, []Item{{"one", Pending, "one"}}},
	}
	for _, c := range cases {
		l := NewList(Item{"stale", Pending, "stale"})
		l.Restore(c.messages)
		if d := cmp.Diff(c.want, l.Items()); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}
