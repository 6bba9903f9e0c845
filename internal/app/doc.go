// Package app is the only package that knows everyone: from Options it builds a session with its pipeline, tools, hooks,
// MCP servers, sub-agents and sandbox. No logic of the agent lives here, and no front end.
//
// In: Options. Out: a Session, whose connection (event.Conn) is what a front end gets. Called by package cli, the command
// line, and by package agent, the Go library.
package app
