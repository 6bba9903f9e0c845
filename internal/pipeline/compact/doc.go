// Package compact is stage 5 of the pipeline: the whole conversation goes in, the view of it that this call sends
// comes out in Turn.View, and a call that would not fit is refused before it costs anything. The stored
// conversation is never touched.
//
// A Step is a pure function from view to view; Steps lists them, cheapest and least lossy first. The tool-result
// budget (Budget) is part of this stage's subject but decides earlier, when a result is made: what was decided
// once is stored, so the prefix that the model was sent never changes. The tools stage gets it as a function.
package compact
