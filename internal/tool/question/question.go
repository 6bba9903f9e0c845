package question

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

// Name is the tool's name.
const Name = "AskUserQuestion"

//go:embed question.md
var description string

const schema = `{"type":"object","properties":{"questions":{"type":"array","items":{"type":"object","properties":{` +
	`"question":{"type":"string","description":"whole, with a question mark"},` +
	`"header":{"type":"string","description":"label of at most 12 characters"},` +
	`"options":{"type":"array","items":{"type":"object","properties":{"label":{"type":"string","description":"1-5 words"},` +
	`"description":{"type":"string","description":"what it means"},` +
	`"preview":{"type":"string","description":"a sketch or code to compare%s"}},"required":["label","description"]}},` +
	`"multiSelect":{"type":"boolean"}},"required":["question","header","options"]}}},"required":["questions"]}`

// Tool is the tool AskUserQuestion.
type Tool struct{ def msg.ToolDef }

// New returns the tool. format is the form of previews that the host shows: markdown, html, or empty.
func New(format string) *Tool {
	note := ""
	if format == "html" || format == "markdown" {
		note = ", in " + format
	}
	return &Tool{msg.ToolDef{
		Name: Name, Description: strings.TrimSpace(description), InputSchema: json.RawMessage(fmt.Sprintf(schema, note)),
	}}
}

// Option is one choice.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Preview     string `json:"preview,omitempty"`
}

// Question is one question.
type Question struct {
	Question    string   `json:"question"`
	Header      string   `json:"header"`
	Options     []Option `json:"options"`
	MultiSelect bool     `json:"multiSelect"`
}

// Input is the tool's input. Answers and what follows come with the person's answer only.
type Input struct {
	Questions   []Question                 `json:"questions"`
	Answers     map[string]json.RawMessage `json:"answers"`
	Response    string                     `json:"response"` // free text instead of choices
	Annotations json.RawMessage            `json:"annotations"`
}

// Output is the structured result.
type Output struct {
	Questions   []Question        `json:"questions"`
	Answers     map[string]string `json:"answers"` // by the question's text; several choices are joined by a comma
	Response    string            `json:"response,omitempty"`
	Annotations json.RawMessage   `json:"annotations,omitempty"`
}

// Def is what the model is told.
func (t *Tool) Def() msg.ToolDef { return t.def }

func (in *Input) check() error {
	if n := len(in.Questions); n < 1 || n > 4 {
		return fmt.Errorf("ask one to four questions, not %d", n)
	}
	seen := map[string]bool{}
	for i, q := range in.Questions {
		switch n := len(q.Options); {
		case strings.TrimSpace(q.Question) == "":
			return fmt.Errorf("questions[%d].question is empty", i)
		case seen[q.Question]:
			return fmt.Errorf("questions[%d] is asked twice; the answers go by the question's text", i)
		case n < 2 || n > 4:
			return fmt.Errorf("questions[%d] has %d options; give two to four", i, n)
		}
		seen[q.Question] = true
		labels := map[string]bool{}
		for k, o := range q.Options {
			if strings.TrimSpace(o.Label) == "" || labels[o.Label] {
				return fmt.Errorf("questions[%d].options[%d].label is empty or there twice", i, k)
			}
			labels[o.Label] = true
		}
	}
	return nil
}

// Plan checks the questions. Without an answer there is nothing to run.
func (t *Tool) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in Input
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("read the input of %s: %w", Name, err)
	}
	if err := in.check(); err != nil {
		return tool.Plan{}, err
	}
	return tool.Plan{Summary: in.Questions[0].Question, ReadOnly: true, Run: func(context.Context, tool.Progress) (tool.Result, error) {
		return tool.Result{}, errors.New("the call was allowed, but nobody gave an answer; go on with your best judgement, or ask in plain text")
	}}, nil
}

// PlanAnswer takes the input as a person or a host gave it back, with the answers.
func (t *Tool) PlanAnswer(ctx context.Context, asked, call tool.Call) (tool.Plan, error) {
	var in Input
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("read the answer to %s: %w", Name, err)
	}
	if len(in.Questions) == 0 { // only the answers came back
		var first Input
		if err := json.Unmarshal(asked.Input, &first); err != nil {
			return tool.Plan{}, err
		}
		in.Questions = first.Questions
	}
	out := Output{Questions: in.Questions, Answers: map[string]string{}, Response: in.Response, Annotations: in.Annotations}
	for q, raw := range in.Answers {
		out.Answers[q] = answer(raw)
	}
	if len(out.Answers) == 0 && strings.TrimSpace(out.Response) == "" {
		return t.Plan(ctx, tool.Call{ID: call.ID, Input: asked.Input})
	}
	return tool.Plan{Summary: "answers of the user", ReadOnly: true, Run: func(context.Context, tool.Progress) (tool.Result, error) {
		res := tool.TextResult(told(out))
		res.Output = out
		return res, nil
	}}, nil
}

// answer reads one answer: a text, or a list of texts.
func answer(raw json.RawMessage) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, ", ")
	}
	return string(raw)
}

// told is what the model reads. A question without an answer is named too.
func told(out Output) string {
	var b strings.Builder
	b.WriteString("The user answered:\n")
	notes := map[string]struct {
		Notes string `json:"notes"`
	}{}
	if len(out.Annotations) > 0 {
		_ = json.Unmarshal(out.Annotations, &notes) // of another form: there are none to tell
	}
	known := map[string]bool{}
	line := func(q, a string) {
		known[q] = true
		fmt.Fprintf(&b, "- %s\n  %s\n", q, a)
		if n := notes[q].Notes; n != "" {
			fmt.Fprintf(&b, "  Note: %s\n", n)
		}
	}
	for _, q := range out.Questions {
		if a, ok := out.Answers[q.Question]; ok && a != "" {
			line(q.Question, a)
		} else if out.Response == "" {
			line(q.Question, "(not answered)")
		}
	}
	for _, q := range slices.Sorted(maps.Keys(out.Answers)) {
		if !known[q] {
			line(q, out.Answers[q])
		}
	}
	if out.Response != "" {
		b.WriteString("In the user's own words: " + out.Response + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
