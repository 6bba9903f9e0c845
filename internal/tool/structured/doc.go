// Package structured is the tool by which the model gives an answer that fits a JSON schema. Its input schema is
// the wanted one; a valid call ends the turn and its input is the structured answer. It is offered only when a
// schema was asked for. Called by pipeline/tools (stage 9).
package structured
