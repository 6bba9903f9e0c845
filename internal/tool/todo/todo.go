package todo

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"fmt"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

//go:embed todo.md
var description string

const schema = `{"type":"object","properties":{"todos":{"type":"array","items":{"type":"object","properties":{` +
	`"content":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","completed"]},` +
	`"activeForm":{"type":"string","description":"Running the tests"}},"required":["content","status"]}}},"required":["todos"]}`

// Tool is the tool TodoWrite.
type Tool struct {
	list  *List
	check func(ctx context.Context, old, now []Item) error
}

// New returns the tool that writes to list. check may refuse what a list would become, with the reason; nil: nobody does.
func New(list *List, check func(ctx context.Context, old, now []Item) error) *Tool {
	return &Tool{list, check}
}

// Input is the tool's canonical input.
type Input struct {
	Todos []Item `json:"todos"`
}

// Output is the structured result.
type Output struct {
	OldTodos []Item `json:"oldTodos"`
	NewTodos []Item `json:"newTodos"`
}

// check refuses what is no list, and fills in what may be left out.
func (in *Input) check() error {
	for i := range in.Todos {
		x := &in.Todos[i]
		if strings.TrimSpace(x.Content) == "" {
			return fmt.Errorf("todos[%d].content is empty", i)
		}
		switch x.Status {
		case Pending, InProgress, Completed:
		default:
			return fmt.Errorf("todos[%d].status is %q; it must be pending, in_progress or completed", i, x.Status)
		}
		if x.ActiveForm == "" {
			x.ActiveForm = x.Content
		}
		*x = Item{Content: x.Content, Status: x.Status, ActiveForm: x.ActiveForm} // ids are for the tools that use them
	}
	return nil
}

// Def is what the model is told.
func (t *Tool) Def() msg.ToolDef {
	return msg.ToolDef{Name: Name, Description: strings.TrimSpace(description), InputSchema: json.RawMessage(schema)}
}

// Plan checks the list.
func (t *Tool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in Input
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("reading the input of TodoWrite: %w", err)
	}
	if err := in.check(); err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{
		Summary:  fmt.Sprintf("to-do list of %s", tool.Count(len(in.Todos), "item")),
		ReadOnly: true,
		Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
			if t.check != nil {
				if err := t.check(ctx, t.list.Items(), in.Todos); err != nil {
					return tool.Result{}, err
				}
			}
			out := Output{OldTodos: t.list.Set(in.Todos), NewTodos: in.Todos}
			if out.OldTodos == nil {
				out.OldTodos = []Item{}
			}
			if out.NewTodos == nil {
				out.NewTodos = []Item{}
			}
			res := tool.TextResult(words(in.Todos))
			res.Output, res.Budgeted = out, true
			return res, nil
		},
	}, nil
}

func words(items []Item) string {
	count := map[string]int{}
	for _, x := range items {
		count[x.Status]++
	}
	return fmt.Sprintf("To-do list saved: %d completed, %d in progress, %d pending.", count[Completed], count[InProgress], count[Pending])
}
