// Package compact is stage 5 of the pipeline: the whole conversation goes in, the view of it that this call sends
// comes out in Turn.View, and a call that would not fit is refused before it costs anything. The stored
// conversation is never touched.
//
// A Step is a pure function from view to view; Steps lists them, cheapest and least lossy first. A step that changed
// something says so in an Edit. The planner (plan.go) prices it: what it saves over the calls that are expected,
// against what must be written to the prompt cache again. An edit that is taken is kept in the conversation as a
// system message, with its price, and applied from then on (edit.go): what was sent once is sent again byte for byte,
// by another process too. When the window forces it and the steps do not suffice, the model writes a summary (auto.go),
// which follows a boundary together with what must survive word for word (carry.go).
//
// Reduce and ReduceMedia are called from stage 7 when the provider refuses a request for its size; Compact, Preview and
// Undo are the command /compact. The tool-result budget (Budget) is part of this stage's subject but decides earlier,
// when a result is made. The tools stage gets it as a function.
package compact
