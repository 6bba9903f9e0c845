// Package sse reads server-sent events. Bytes go in, in any split; events come out, each with its name and data.
// Providers that speak SSE call it; it knows nothing of what the events mean.
//
// It differs from the browsers' rules in one point: a last event without its closing blank line is given out
// too, marked Partial, since several servers end their streams so.
package sse
