package agent

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/agent"
	"lathe/internal/msg"
	"lathe/internal/tool"
)

// Name is the tool's name. Programs know it by the other one too.
const (
	Name    = "Agent"
	OldName = "Task"
)

// maxName is how long the name of a sub-agent may be, in bytes.
const maxName = 256

//go:embed agent.md
var about string

const (
	inBackground = "\n\nWith run_in_background it goes on beside you: you are told when it has ended. Do not wait for it, and do not do its work meanwhile."
	usually      = "\n\nIt goes on beside you, unless you give run_in_background as false: you are told when it has ended. Do not wait for it, and do not do its work meanwhile. Give false where you need the report to go on."
)

// Deps is what the tool needs of its session.
type Deps struct {
	// Types are those that may be used now.
	Types func() []agent.Def
	// Run carries a request out. An error becomes a failed result.
	Run func(ctx context.Context, r Request) (tool.Result, error)
	// Background says that sub-agents may run in the background, Usually that they do unless a call says no.
	Background, Usually bool
	// Messages says that the tool SendMessage is offered, too: then a call may give its sub-agent a name.
	Messages bool
	// Isolation says that a sub-agent can have a work tree of its own here.
	Isolation bool
}

// Request is a task for a sub-agent.
type Request struct {
	CallID     string
	Def        agent.Def
	Task       string // what it does, in a few words
	Prompt     string
	Model      string // as asked; "" is the definition's
	Effort     string
	Background bool
	Isolation  string // worktree, or ""
	Name       string // by which messages reach it; "": only by its id
}

// Tool is the tool Agent.
type Tool struct {
	d   Deps
	def msg.ToolDef
}

// New returns the tool. What the model is told of the types is fixed here.
func New(d Deps) *Tool {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(about))
	switch {
	case d.Background && d.Usually:
		b.WriteString(usually)
	case d.Background:
		b.WriteString(inBackground)
	}
	b.WriteString("\n\nTypes:")
	for _, t := range d.Types() {
		fmt.Fprintf(&b, "\n- %s: %s%s", t.Name, cut(t.Description, 600), toolsOf(t))
	}
	return &Tool{d: d, def: msg.ToolDef{Name: Name, Description: b.String(), InputSchema: schema(d)}}
}

func toolsOf(d agent.Def) string {
	if d.Tools == nil {
		return ""
	}
	return " (tools: " + strings.Join(d.Tools, ", ") + ")"
}

func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

func schema(d Deps) json.RawMessage {
	run := ""
	if d.Background {
		run = `,"run_in_background":{"type":"boolean"}`
	}
	if d.Isolation {
		run += `,"isolation":{"type":"string","enum":["` + agent.Worktree + `"],"description":"it works in a git work tree of its own, and changes nothing here"}`
	}
	if d.Messages {
		run += `,"name":{"type":"string","description":"for SendMessage"}`
	}
	return json.RawMessage(`{"type":"object","properties":{"description":{"type":"string","description":"3-5 words"},"prompt":{"type":"string"},` +
		`"subagent_type":{"type":"string","description":"default ` + agent.General + `"},"model":{"type":"string","description":"only where the user asks for one"},"effort":{"type":"string"}` + run +
		`},"required":["description","prompt"]}`)
}

// Def tells the model about the tool.
func (t *Tool) Def() msg.ToolDef { return t.def }

// Names are further names under which the tool may be called.
func (*Tool) Names() []string { return []string{OldName} }

// Aliases are wrong names that models use for the parameters.
func (*Tool) Aliases() map[string]string {
	return map[string]string{"agent_type": "subagent_type", "type": "subagent_type", "agent": "subagent_type", "task": "prompt", "background": "run_in_background"}
}

// Plan finds the type. Sub-agents run beside each other and beside calls that only read: whatever they do is judged
// when they do it.
func (t *Tool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in struct {
		Task       string `json:"description"`
		Prompt     string `json:"prompt"`
		Type       string `json:"subagent_type"`
		Model      string `json:"model"`
		Background *bool  `json:"run_in_background"`
		Name       string `json:"name"`
		Isolation  string `json:"isolation"`
		Effort     string `json:"effort"`
	}
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("input of Agent: %w", err)
	}
	if strings.TrimSpace(in.Prompt) == "" {
		return tool.Plan{}, fmt.Errorf("prompt is empty; say what the sub-agent is to do")
	}
	def, err := t.find(strings.TrimSpace(in.Type))
	if err != nil {
		return tool.Plan{}, err
	}
	r := Request{
		CallID: call.ID, Def: def, Task: strings.Join(strings.Fields(in.Task), " "), Prompt: in.Prompt, Model: strings.TrimSpace(in.Model),
		Background: t.d.Background && def.Background, Name: strings.TrimSpace(in.Name),
	}
	if r.Isolation = def.Isolation; in.Isolation != "" {
		r.Isolation = in.Isolation
	}
	if r.Effort = strings.ToLower(strings.TrimSpace(in.Effort)); r.Effort != "" && !slices.Contains(efforts(), r.Effort) {
		return tool.Plan{}, fmt.Errorf("effort is %q; it may be %s", in.Effort, strings.Join(efforts(), ", "))
	}
	if len(r.Name) > maxName {
		return tool.Plan{}, fmt.Errorf("name is longer than %d bytes", maxName)
	}
	if in.Background != nil {
		r.Background = t.d.Background && (*in.Background || def.Background)
	} else if t.d.Usually {
		r.Background = t.d.Background
	}
	if r.Model == "inherit" {
		r.Model = ""
	}
	return tool.Plan{
		Summary: fmt.Sprintf("%s: %s", def.Name, cut(r.Task, 100)), Parallel: true,
		Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) { return t.d.Run(ctx, r) },
	}, nil
}

func efforts() []string { return []string{"low", "medium", "high", "xhigh", "max"} }

func (t *Tool) find(name string) (agent.Def, error) {
	if name == "" {
		name = agent.General
	}
	types := t.d.Types()
	i := slices.IndexFunc(types, func(d agent.Def) bool { return d.Name == name })
	if i < 0 {
		i = slices.IndexFunc(types, func(d agent.Def) bool { return strings.EqualFold(d.Name, name) })
	}
	if i >= 0 {
		return types[i], nil
	}
	names := make([]string, len(types))
	for i, d := range types {
		names[i] = d.Name
	}
	if len(names) == 0 {
		return agent.Def{}, fmt.Errorf("there is no type of sub-agent %q, and no other one", name)
	}
	return agent.Def{}, fmt.Errorf("there is no type of sub-agent %q; there are: %s", name, strings.Join(names, ", "))
}
