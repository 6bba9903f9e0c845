package tools

import (
	"time"

	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/trace"
	"lathe/internal/turn"
)

// inlineInput is how long an input may be to stand in its record; a longer one is stored beside it.
const inlineInput = 2 << 10

// record describes a call for the trace: how it was judged, with the whole proof, and what came of it.
func (c *call) record(x *turn.Tracer, o outcome) trace.Record {
	t := &trace.Tool{
		ID: c.block.ID, Name: c.block.Name, Summary: c.plan.Summary, Parallel: c.plan.Parallel,
		Decision: decisionOf(o.decision), IsError: o.result.IsError, Ran: !o.began.IsZero(),
		Bytes: msg.Size(o.result.Blocks),
	}
	input := c.input
	if input == nil {
		input = c.block.Input
	}
	switch {
	case len(input) == 0:
	case len(input) <= inlineInput:
		t.Input = input
	default:
		t.InputRef = x.Blob(input)
	}
	r := trace.Record{Stage: "call", Parent: "tools", Start: o.began, Dur: o.took, Tool: t}
	if r.Start.IsZero() {
		r.Start = time.Now()
	}
	if c.err != nil {
		r.Err = c.err.Error()
	}
	return r
}

func decisionOf(d perm.Decision) trace.Decision {
	out := trace.Decision{Verdict: d.Verdict.String(), Reason: d.Reason, By: byOf(d.Source)}
	for _, p := range d.Parts {
		out.Parts = append(out.Parts, trace.Part{Text: p.Text, Verdict: p.Verdict.String(), Reason: p.Reason, By: byOf(p.Source)})
	}
	for _, r := range d.Suggest {
		out.Suggest = append(out.Suggest, r.Text)
	}
	return out
}

func byOf(s perm.Source) trace.By {
	return trace.By{Kind: s.Kind, Rule: s.Rule, Scope: s.Scope, File: s.File, Line: s.Line}
}
