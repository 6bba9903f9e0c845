package skill

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/skill"
	"lathe/internal/tool"
)

// Name is the tool's name.
const Name = "Skill"

const description = "Load a skill: instructions for a kind of task, listed by name in the conversation. Call it before you start " +
	"on a task that a skill's description fits, then follow what it says. args is what the skill is to be applied to, as one text."

const schema = `{"type":"object","properties":{"skill":{"type":"string","description":"name, without a slash"},"args":{"type":"string"}},"required":["skill"]}`

// Deps is what the tool needs of its session.
type Deps struct {
	Find func() []skill.Skill
	// Load returns what the model is given of a skill: its text with the placeholders filled in and the shell lines run,
	// as far as they may be, or the report of a sub-agent that carried it out.
	Load func(ctx context.Context, s skill.Skill, args string) (string, error)
}

// Tool is the tool Skill.
type Tool struct{ d Deps }

// New returns the tool.
func New(d Deps) *Tool { return &Tool{d} }

// Input is the tool's canonical input.
type Input struct {
	Skill string `json:"skill"`
	Args  string `json:"args,omitempty"`
}

// Output is the structured result.
type Output struct {
	Success bool   `json:"success"`
	Command string `json:"commandName"`
}

// Def tells the model about the tool.
func (*Tool) Def() msg.ToolDef {
	return msg.ToolDef{Name: Name, Description: description, InputSchema: json.RawMessage(schema)}
}

// Aliases are wrong names that models use.
func (*Tool) Aliases() map[string]string {
	return map[string]string{"name": "skill", "command": "skill", "skill_name": "skill", "arguments": "args"}
}

// Plan finds the skill.
func (t *Tool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in Input
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("input of Skill: %w", err)
	}
	name := strings.TrimPrefix(strings.TrimSpace(in.Skill), "/")
	s, err := t.find(name)
	if err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{
		Summary: "Skill " + name, Also: []string{s.Name, s.Long}, Parallel: !s.HasShell() && !s.Fork, ReadOnly: !s.HasShell() && !s.Fork,
		Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
			text, err := t.d.Load(ctx, s, in.Args)
			if err != nil {
				return tool.Result{}, err
			}
			res := tool.TextResult(text)
			res.Output, res.Budgeted = Output{Success: true, Command: s.Name}, true
			return res, nil
		},
	}, nil
}

func (t *Tool) find(name string) (skill.Skill, error) {
	var names []string
	for _, s := range t.d.Find() {
		if s.UserOnly {
			continue
		}
		names = append(names, s.Name)
		if s.Name != name && (s.Long == "" || s.Long != name) {
			continue
		}
		return s, nil
	}
	if len(names) == 0 {
		return skill.Skill{}, fmt.Errorf("there is no skill %q, and no other one", name)
	}
	return skill.Skill{}, fmt.Errorf("there is no skill %q; there are: %s", name, strings.Join(names, ", "))
}
