package plan

import (
	"context"
	_ "embed" // the descriptions
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

// The tools' names, and the name of the permission mode.
const (
	Enter = "EnterPlanMode"
	Exit  = "ExitPlanMode"
	mode  = "plan"
)

//go:embed enter.md
var enterText string

//go:embed exit.md
var exitText string

// Deps is what the tools work with. All must be set.
type Deps struct {
	// Mode is the permission mode, SetMode changes it, and tells of it.
	Mode    func() string
	SetMode func(mode string) error
	// Before is the mode that plan mode was entered from.
	Before func() string
	// Save keeps an approved plan and returns its file, "" where it is kept in no file.
	Save func(text string) (path string, err error)
}

// New returns the tools.
func New(d Deps) []tool.Tool { return []tool.Tool{enter{d}, exit{d}} }

type enter struct{ d Deps }

func (enter) Def() msg.ToolDef {
	return msg.ToolDef{Name: Enter, Description: strings.TrimSpace(enterText), InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)}
}

// EnterOutput is the structured result of EnterPlanMode.
type EnterOutput struct {
	Message string `json:"message"`
}

func (e enter) Plan(context.Context, tool.Call) (tool.Plan, error) {
	if e.d.Mode() == mode {
		return tool.Plan{}, errors.New("plan mode is on already; finish the plan and call " + Exit)
	}
	return tool.Plan{Summary: "enter plan mode", ReadOnly: true, Run: func(context.Context, tool.Progress) (tool.Result, error) {
		if err := e.d.SetMode(mode); err != nil {
			return tool.Result{}, err
		}
		out := EnterOutput{Message: "Plan mode is on: look and plan, change nothing. Call " + Exit + " with the plan when it is ready."}
		res := tool.TextResult(out.Message)
		res.Output = out
		return res, nil
	}}, nil
}

type exit struct{ d Deps }

func (exit) Def() msg.ToolDef {
	return msg.ToolDef{Name: Exit, Description: strings.TrimSpace(exitText), InputSchema: json.RawMessage(
		`{"type":"object","properties":{"plan":{"type":"string","description":"the whole plan, in Markdown"}}}`)}
}

// ExitOutput is the structured result of ExitPlanMode.
type ExitOutput struct {
	Plan     *string `json:"plan"`
	IsAgent  bool    `json:"isAgent"`
	FilePath string  `json:"filePath,omitempty"`
	Edited   bool    `json:"planWasEdited,omitempty"`
}

type exitInput struct {
	Plan string `json:"plan"`
}

func (x exit) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	if x.d.Mode() != mode {
		return tool.Plan{}, errors.New("plan mode is not on, so there is nothing to leave; go on with the task")
	}
	return x.plan(call, call)
}

// PlanAnswer takes a plan that the person may have edited. The answer may have changed the mode already.
func (x exit) PlanAnswer(_ context.Context, asked, answer tool.Call) (tool.Plan, error) {
	return x.plan(asked, answer)
}

// Refused keeps the model planning.
func (exit) Refused(comment string) string {
	if comment == "" {
		return "The user did not approve the plan. Plan mode goes on: change nothing. Ask what should be different, or revise the plan and call " + Exit + " again."
	}
	return "The user did not approve the plan, and says: " + comment + "\nPlan mode goes on: change nothing. Revise the plan and call " + Exit + " again."
}

func (x exit) plan(asked, answer tool.Call) (tool.Plan, error) {
	var first, in exitInput
	if err := json.Unmarshal(asked.Input, &first); err != nil {
		return tool.Plan{}, fmt.Errorf("read the input of %s: %w", Exit, err)
	}
	if err := json.Unmarshal(answer.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("read the answer to %s: %w", Exit, err)
	}
	if in.Plan == "" {
		in = first
	}
	return tool.Plan{Summary: "approve the plan", ReadOnly: true, Run: func(context.Context, tool.Progress) (tool.Result, error) {
		return x.approved(in.Plan, in.Plan != first.Plan)
	}}, nil
}

// approved ends plan mode. The answer may have set another mode already; then that one stays.
func (x exit) approved(text string, edited bool) (tool.Result, error) {
	out := ExitOutput{Edited: edited}
	told := "The user approved. Plan mode is off: you may make changes now."
	if strings.TrimSpace(text) != "" {
		path, err := x.d.Save(text)
		if err != nil {
			return tool.Result{}, err
		}
		out.Plan, out.FilePath = &text, path
		told = "The user approved the plan. Plan mode is off: carry it out now."
		if path != "" {
			told += " It is kept in " + path + "."
		}
	}
	if edited {
		told += "\nThe user changed it. It is now:\n" + text
	}
	if x.d.Mode() == mode {
		before := x.d.Before()
		if before == mode || before == "" {
			before = "default"
		}
		if err := x.d.SetMode(before); err != nil {
			return tool.Result{}, err
		}
	}
	res := tool.TextResult(told)
	res.Output = out
	return res, nil
}

// Approved is a plan that a person approved.
type Approved struct {
	Text string `json:"text"`
	Path string `json:"path,omitempty"`
}

// Restore finds the plan that is in force: the last approved one, unless plan mode was entered again after it.
func Restore(messages []msg.Message) (a Approved, ok bool) {
	name, result := last(messages)
	if name != Exit {
		return a, false
	}
	var out ExitOutput
	if json.Unmarshal(result.ToolOutput, &out) != nil || out.Plan == nil {
		return a, false
	}
	return Approved{Text: *out.Plan, Path: out.FilePath}, true
}

// Left reports whether plan mode was left by an approved plan, and not entered again by the model.
func Left(messages []msg.Message) bool {
	name, _ := last(messages)
	return name == Exit
}

// last finds the last call of the tools that went well, and its result.
func last(messages []msg.Message) (name string, result msg.Message) {
	names := map[string]string{}
	for _, m := range messages {
		for _, b := range m.ToolUses() {
			if b.Name == Exit || b.Name == Enter {
				names[b.ID] = b.Name
			}
		}
	}
	if len(names) == 0 {
		return "", result
	}
	for _, m := range slices.Backward(messages) {
		for _, b := range m.Blocks {
			if b.Type == msg.TypeToolResult && !b.IsError && names[b.ToolUseID] != "" {
				return names[b.ToolUseID], m
			}
		}
	}
	return "", result
}

// Shown reports whether the conversation holds a call with this plan since the last compaction.
func Shown(messages []msg.Message, text string) bool {
	for _, m := range slices.Backward(messages) {
		if m.Kind == msg.KindSystem && m.Subtype == msg.SubCompactBoundary {
			return false
		}
		for _, b := range m.ToolUses() {
			var in exitInput
			if b.Name == Exit && json.Unmarshal(b.Input, &in) == nil && in.Plan == text {
				return true
			}
		}
		if m.SourceAssistant != "" && len(m.ToolOutput) > 0 {
			var out ExitOutput
			if json.Unmarshal(m.ToolOutput, &out) == nil && out.Edited && out.Plan != nil && *out.Plan == text {
				return true
			}
		}
	}
	return false
}
