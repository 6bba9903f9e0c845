// Package attach is stage 3 of the pipeline: context that the program adds by itself. In comes the state of the
// conversation and the workspace; out go attachment messages, appended to the conversation. Each source is a
// unit of one file with a name, a budget in bytes and a stable text. Sources run beside each other with a common
// deadline; one that is slow or fails costs a notice, never the turn, and a slow one comes with a later pass. What was attached is not attached again
// unless it changed, since the prefix sent to the model must not change.
package attach
