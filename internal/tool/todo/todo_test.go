package todo

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
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
	first := []Item{{Content: "a", Status: InProgress, ActiveForm: "Doing a"}, {Content: "b", Status: Pending, ActiveForm: "b"}}
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
		in, _ := json.Marshal(Input{[]Item{{Content: content, Status: Pending, ActiveForm: content}}})
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
		{"the last", []msg.Message{use("1", "one"), result("1", false), use("2", "two"), result("2", false)}, one("two")},
		{"refused", []msg.Message{use("1", "one"), result("1", false), use("2", "two"), result("2", true)}, one("one")},
		{"no result", []msg.Message{use("1", "one")}, one("one")},
		{"others", []msg.Message{use("1", "one"), side, broken}, one("one")},
	}
	for _, c := range cases {
		l := NewList(one("stale")...)
		l.Restore(c.messages)
		if d := cmp.Diff(c.want, l.Items()); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

func one(content string) []Item {
	return []Item{{Content: content, Status: Pending, ActiveForm: content}}
}

// bench runs calls of the task tools and keeps them as a conversation.
type bench struct {
	t        *testing.T
	list     *List
	check    func(ctx context.Context, old, now []Item) error
	messages []msg.Message
}

func (b *bench) call(name, input string) (string, any, error) {
	b.t.Helper()
	for _, tl := range Tasks(b.list, b.check) {
		if tl.Def().Name != name {
			continue
		}
		canonical, err := tool.Canonical(tl, json.RawMessage(input))
		if err != nil {
			b.t.Fatal(err)
		}
		var res tool.Result
		plan, err := tl.Plan(b.t.Context(), tool.Call{Input: canonical})
		if err == nil {
			res, err = plan.Run(b.t.Context(), nil)
		}
		text := msg.JoinText(res.Blocks)
		if err != nil {
			text = err.Error()
		}
		id := strconv.Itoa(len(b.messages))
		b.messages = append(b.messages, msg.Message{Kind: msg.KindAssistant, Blocks: []msg.Block{msg.ToolUse(id, name, canonical)}},
			msg.Message{Kind: msg.KindUser, Blocks: []msg.Block{msg.ToolResult(id, err != nil, msg.Text(text))}})
		return text, res.Output, err
	}
	b.t.Fatalf("no tool %s", name)
	return "", nil, nil
}

func TestTasks(t *testing.T) {
	b := &bench{t: t, list: NewList()}
	for _, c := range []struct{ name, input, text string }{
		{Show, `{}`, "There are no tasks."},
		{Create, `{"subject":"Write","description":"all of it","activeForm":"Writing","metadata":{"a":1}}`, "Task #1 was added: Write"},
		{Create, `{"subject":"Test","description":""}`, "Task #2 was added: Test"},
		{Create, `{"subject":"Ship","description":""}`, "Task #3 was added: Ship"},
		{Update, `{"taskId":"1","status":"in_progress","owner":"me","metadata":{"a":null,"b":2},"addBlocks":["2"]}`, "Task #1 was changed: status, owner, metadata, blocks"},
		{Update, `{"taskId":"3","addBlockedBy":["2"]}`, "Task #3 was changed: blockedBy"},
		{Update, `{"taskId":"1","status":"in_progress"}`, "Task #1 is like that already."},
		{Show, `{}`, "#1 [in_progress] Write (me)\n#2 [pending] Test [waits for #1]\n#3 [pending] Ship [waits for #2]"},
		{Get, `{"taskId":"1"}`, "Task #1: Write\nStatus: in_progress\nall of it\nWaited for by: #2"},
		{Update, `{"taskId":"3","status":"deleted"}`, "Task #3 was changed: deleted"},
		{Update, `{"taskId":"1","status":"completed"}`, "Task #1 was changed: status"},
		{Create, `{"subject":"More","description":""}`, "Task #4 was added: More"},
		{Show, `{}`, "#1 [completed] Write (me)\n#2 [pending] Test\n#4 [pending] More"},
		{Get, `{"taskId":"3"}`, "There is no task 3."},
		{Update, `{"taskId":"3","status":"pending"}`, "there is no task 3; TaskList shows those that there are"},
		{Update, `{"taskId":"2","addBlockedBy":["2"]}`, `task 2 cannot block, or be blocked by, task "2": there is no such other task`},
		{Create, `{"subject":" ","description":""}`, "subject is empty"},
	} {
		if text, _, _ := b.call(c.name, c.input); text != c.text {
			t.Errorf("%s %s:\n%s\nwant\n%s", c.name, c.input, text, c.text)
		}
	}
	_, out, _ := b.call(Get, `{"taskId":"2"}`)
	if d := cmp.Diff(map[string]any{"task": map[string]any{
		"id": "2", "subject": "Test", "description": "", "status": Pending, "blocks": []string{}, "blockedBy": []string{"1"},
	}}, out); d != "" {
		t.Error(d)
	}
	gone := deleted
	if items, _, _, err := updated(b.list.Items(), UpdateInput{ID: "1", Status: &gone}); err != nil || len(items) != 2 || len(items[0].BlockedBy) != 0 {
		t.Errorf("what waits for a task that is gone: %v %+v", err, items)
	}
	want := b.list.Items()
	for name, base := range map[string][]Item{"all of the conversation": nil, "on top of what was kept": want} {
		again := &bench{t: t, list: NewList()}
		again.list.Restore(b.messages, base...)
		sorted := again.list.Items()
		if d := cmp.Diff(want, sorted); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if text, _, _ := again.call(Create, `{"subject":"Next","description":""}`); text != "Task #5 was added: Next" {
			t.Errorf("%s: %s", name, text)
		}
	}
	b.check = func(context.Context, []Item, []Item) error { return errors.New("a hook says no") }
	if text, _, err := b.call(Create, `{"subject":"x","description":""}`); err == nil || text != "a hook says no" || len(b.list.Items()) != 3 {
		t.Errorf("%v %v", text, b.list.Items())
	}
	b.list.Restore(append(b.messages, msg.Message{Kind: msg.KindAssistant, Blocks: []msg.Block{msg.ToolUse("w", Name, json.RawMessage(`{"todos":[]}`))}}))
	if n := len(b.list.Items()); n != 0 {
		t.Errorf("%d items after an empty list was written", n)
	}
}
