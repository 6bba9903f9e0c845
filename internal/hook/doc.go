// Package hook runs the user's own programs at fixed moments of a session: before and after a tool call, when a
// prompt is sent, when the model wants to stop, and so on.
//
// Parse reads the "hooks" key of trusted settings files into a Set. Bus.Fire takes what happens (a Payload), runs
// every handler that matches beside the others (a command, an HTTP request, a question to a model, an MCP tool, an
// agent), reads exit codes and JSON answers by the documented table, and returns one Outcome. It never fails: what
// went wrong is in Outcome.Ran. It knows no stage; package app fires it from the stages' seams.
package hook
