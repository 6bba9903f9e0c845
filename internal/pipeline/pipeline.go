package pipeline

import (
	"lathe/internal/pipeline/account"
	"lathe/internal/pipeline/attach"
	"lathe/internal/pipeline/compact"
	"lathe/internal/pipeline/input"
	"lathe/internal/pipeline/model"
	"lathe/internal/pipeline/normalize"
	"lathe/internal/pipeline/prompt"
	"lathe/internal/pipeline/tools"
	"lathe/internal/turn"
)

// Deps is what each stage is built from. Package app fills it.
type Deps struct {
	Input     input.Deps
	Attach    []attach.Source
	Prompt    prompt.Deps
	Compact   compact.Deps
	Normalize normalize.Deps
	Model     model.Deps
	Tools     *tools.Stage
	Account   *account.Ledger

	CompactConfig   compact.Config
	NormalizeConfig normalize.Config
	ModelConfig     model.Config
}

// Stages is the pipeline: what happens to a prompt, in this order. Stage 1, capture, is the front end's; stages 7
// and 8, the call and the parsing of its stream, are one row. The third column names the fields of turn.Turn that
// a stage may change, which the tests check.
func Stages(d Deps) []turn.Stage {
	d.Model.Before = d.Account.Guard // a budget is checked before money is spent
	d.Model.Spent = d.Account.Spent
	d.Model.StartTool = d.Tools.Start // a finished call that changes nothing need not wait for the rest of the answer
	d.Tools.Changed = d.Account.Changed
	if d.Compact.Budget != nil {
		d.Tools.Budget = d.Compact.Budget.Apply
	}
	return []turn.Stage{
		{"input", turn.Once, w("Messages", "Mentions", "Ultra", "Text", "Done"), input.New(d.Input)},                                       // 2
		{"attach", turn.EachStep, w("Messages"), attach.New(d.Attach...)},                                                                  // 3
		{"prompt", turn.EachStep, w("System", "Static", "Tools"), prompt.New(d.Prompt)},                                                    // 4
		{"compact", turn.EachStep, w("View"), compact.New(d.Compact, d.CompactConfig)},                                                     // 5
		{"normalize", turn.EachStep, w("Request"), normalize.New(d.Normalize, d.NormalizeConfig)},                                          // 6
		{"model", turn.EachStep, w("Messages", "Request", "Reply", "Model", "Usage", "APIDur", "TTFT"), model.New(d.Model, d.ModelConfig)}, // 7, 8
		{"tools", turn.EachStep, w("Messages", "Denials", "Structured", "Text", "Done"), d.Tools.Run},                                      // 9
		{"account", turn.Last, w("Messages", "Result", "Usage", "Done"), d.Account.Run},                                                    // 10
	}
}

func w(fields ...string) []string { return fields }

// Constraint says that one stage must stand before another, and why.
type Constraint struct{ First, Then, Why string }

// Order is what the table's order rests on; a test checks it.
var Order = []Constraint{
	{"input", "attach", "mentions of the prompt are attached"},
	{"attach", "compact", "attachments count towards the limit"},
	{"prompt", "compact", "the system prompt and the tools count towards the limit"},
	{"compact", "normalize", "a shortened view must be made legal and marked too"},
	{"normalize", "model", "nothing may change the request after its cache marks were placed"},
	{"model", "tools", "the answer asks for tools"},
	{"tools", "account", "the turn's result knows its denials"},
}
