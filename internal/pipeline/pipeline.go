package pipeline

import (
	"context"

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
	Compact   *compact.Stage // nil: nothing is compacted, and there is no budget for results
	Normalize normalize.Deps
	Model     model.Deps
	Tools     *tools.Stage
	Account   *account.Ledger

	NormalizeConfig normalize.Config
	ModelConfig     model.Config
}

// Stages is the pipeline: what happens to a prompt, in this order. Stage 1, capture, is the front end's; stages 7
// and 8, the call and the parsing of its stream, are one row. The words at the end of a row are the fields of
// turn.Turn that the stage may change, which a test checks.
func Stages(d Deps) []turn.Stage {
	d.Model.Before = d.Account.Guard // a budget is checked before money is spent
	d.Model.Spent = d.Account.Spent
	d.Model.StartTool = d.Tools.Start // a finished call that changes nothing need not wait for the rest of the answer
	d.Tools.Changed = d.Account.Changed
	if d.Compact != nil && d.Compact.Budget() != nil {
		d.Tools.Budget = d.Compact.Budget().Apply
	}
	norm := normalize.New(d.Normalize, d.NormalizeConfig)
	d.Model.Reduce = func(ctx context.Context, t *turn.Turn, counted int) (bool, error) {
		return smaller(ctx, t, norm, func(ctx context.Context, t *turn.Turn) (bool, error) { return d.Compact.Reduce(ctx, t, counted) })
	}
	d.Model.Reducible = d.Compact.Reducible
	d.Model.ReduceMedia = func(ctx context.Context, t *turn.Turn) (bool, error) {
		return smaller(ctx, t, norm, d.Compact.ReduceMedia)
	}
	return []turn.Stage{
		/* 2    */ row("input", turn.Once, input.New(d.Input), "Messages", "Mentions", "Ultra", "Model", "Effort", "System", "Static", "Tools", "Text", "Done", "Denials", "Structured"),
		/* 3    */ row("attach", turn.EachStep, attach.New(d.Attach...), "Messages"),
		/* 4    */ row("prompt", turn.EachStep, prompt.New(d.Prompt), "System", "Static", "Tools"),
		/* 5    */ row("compact", turn.EachStep, d.Compact.Run, "Messages", "View", "CacheHour"),
		/* 6    */ row("normalize", turn.EachStep, norm, "Request"),
		/* 7, 8 */ row("model", turn.EachStep, model.New(d.Model, d.ModelConfig), "Messages", "View", "Request", "Reply", "Model", "Usage", "APIDur", "TTFT"),
		/* 9    */ runsTools(row("tools", turn.EachStep, d.Tools.Run, "Messages", "Model", "Effort", "Denials", "Structured", "Text", "Done")),
		/* 10   */ row("account", turn.Last, d.Account.Run, "Messages", "Result", "Usage", "Stop", "Done"),
	}
}

// smaller makes the view smaller and builds the request anew, when something changed.
func smaller(ctx context.Context, t *turn.Turn, norm func(context.Context, *turn.Turn) error,
	reduce func(context.Context, *turn.Turn) (bool, error),
) (bool, error) {
	changed, err := reduce(ctx, t)
	if err != nil || !changed {
		return false, err
	}
	return true, norm(ctx, t)
}

// row is one line of the table: a stage, how often it runs, what it does, and the fields of the turn it may change.
func row(name string, when turn.Phase, run func(context.Context, *turn.Turn) error, writes ...string) turn.Stage {
	return turn.Stage{Name: name, When: when, Run: run, Writes: writes}
}

func runsTools(s turn.Stage) turn.Stage { s.Tools = true; return s }

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
