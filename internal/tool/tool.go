package tool

import (
	"context"
	"encoding/json"

	"lathe/internal/msg"
)

// Tool is one tool of a session.
type Tool interface {
	Def() msg.ToolDef
	// Plan validates the input and says what will happen; it changes nothing. Its input is canonical (see
	// Registry.Canonical). An error is the model's mistake: it goes back to it as a failed result, and nobody is
	// asked.
	Plan(ctx context.Context, call Call) (Plan, error)
}

// Call is one tool use.
type Call struct {
	ID    string
	Input json.RawMessage
}

// Plan is a call that was understood.
type Plan struct {
	Summary  string // one line for a person
	Parallel bool   // changes nothing, so it may run beside other such calls, and while the answer still streams
	ReadOnly bool   // changes nothing at all and reaches nothing outside; for tools that package perm does not know
	// Also are further names of what the call names, which rules may mean it by.
	Also []string
	// Target is the one file that Run reads or changes, absolute and with its links resolved; "" when there is no such
	// file. Run follows no link any more, so that what was judged is what is touched.
	Target string
	// Person says that a person must agree to each call, whatever the rules and the mode say.
	Person bool
	// Run does it. It is called at most once. When ctx ends it stops what it started and returns promptly. An
	// error becomes a failed result with the error's text.
	Run func(ctx context.Context, progress Progress) (Result, error)
}

// Progress takes new output of a running tool. It may be called from any goroutine; what comes after Run has
// returned is dropped.
type Progress func(text string)

// Result is what a tool gives back: blocks for the model, structured output for programs.
type Result struct {
	Blocks  []msg.Block // text and image blocks; never empty text
	Output  any         // encoded as tool_use_result on the stream and toolUseResult in the transcript
	IsError bool
	// Touched are the files that were read or changed, absolute: what memory rules and change detection go by.
	Touched []string
	// LinesAdded and LinesRemoved count changed lines of edits.
	LinesAdded, LinesRemoved int
	// Budgeted says that the tool kept its own output limit, so that the result budget leaves it alone.
	Budgeted bool
}

// TextResult is a plain result.
func TextResult(s string) Result { return Result{Blocks: []msg.Block{msg.Text(s)}} }

// Redirector is implemented by tools that stand for others: a call of one is a call of the tool that it names. What
// judges, hooks and runs calls sees that one. An error is the model's mistake.
type Redirector interface {
	Redirect(input json.RawMessage) (name string, redirected json.RawMessage, err error)
}

// Aliaser is implemented by tools that accept other names for their parameters: wrong name → documented name.
type Aliaser interface{ Aliases() map[string]string }

// Named is implemented by tools that may be called by further names, which the model is not told of.
type Named interface{ Names() []string }

// SelfChecked is implemented by tools whose schema is not ours: their input is passed on as it came, as long as
// it is an object, and they check it themselves.
type SelfChecked interface{ SelfChecked() }

// Answered is implemented by tools whose call is answered by a person: what the person or the host gives back is planned
// by PlanAnswer and not by Plan, so that the model cannot give the answer itself. asked is the call as it was asked for.
type Answered interface {
	PlanAnswer(ctx context.Context, asked, answer Call) (Plan, error)
}

// Refusable is implemented by tools that tell the model in words of their own that a person said no. comment is the
// person's, "" if there is none.
type Refusable interface{ Refused(comment string) string }
