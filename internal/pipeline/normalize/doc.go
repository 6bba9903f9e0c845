// Package normalize is stage 6 of the pipeline: the view of the conversation goes in, a request that the Messages
// API accepts comes out, whatever crashes, interrupts and foreign histories did to the view.
//
// The heart is the pure function Normalize. Two properties hold of it, and are tested on random histories:
//
//   - Strict: its output passes Check, which knows the API's rules and shares no code with it.
//   - Append-only: for a conversation that was sent and then grew by an answer, the output for the longer one
//     begins with the output for the shorter one, block for block. The prompt cache and the validity of thinking
//     blocks hang on it. So every repair is decided by what stands before it and never looks ahead: the filler
//     between two answers is the one that ends a request without a prompt, the first of two results wins, ids are
//     made unique by changing the later one, limits on media drop in steps (see media.go).
//
// Check runs before each call in production too, since it costs little beside a model call. If it finds a fault,
// the request is built once more with all tool calls as plain text (Rules.Flatten), thinking and media dropped,
// and the user is told: a broken history must not brick a session.
package normalize
