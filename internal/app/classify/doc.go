// Package classify reviews calls in the permission mode auto: it puts what no rule covers to a small model, within a budget,
// and keeps a log of the decisions. Without an answer the call is asked about.
//
// In: a call, what the rules said, what the user said so far. Out: a decision. Called by the tools stage.
package classify
