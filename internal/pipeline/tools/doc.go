// Package tools is stage 9 of the pipeline: it answers every tool call of the model's reply. In come the reply's
// tool_use blocks; out go tool results, in the order asked, every call answered exactly once. For each call:
// canonical input → permission → run with progress and cancel → result budget → message. Neighbouring calls that
// change nothing run beside each other; each other call runs alone. A reply without calls ends the turn.
package tools
