// Package app is the only package that knows everyone: from Options it builds a session with its pipeline, tools, hooks,
// MCP servers, sub-agents and sandbox. No logic of the agent lives here, and no front end.
//
// In: Options. Out: a Session, whose connection (event.Conn) is what a front end gets. Called by package cli, the command
// line, and by package agent, the Go library. Its files by what their names begin with:
//
//	options, open          the door: what a session begins with, what of it is seen from outside
//	run, assemble          one conversation and all that was built for it; how it is put together
//	toolset, environment   the tools that it has, and what commands get; websearch: the one that is a call of the model
//	model, fast, compact   which model is called and how fast it answers, side questions, what makes room
//	rules, sandbox         what may be done, and how that changes while it runs
//	hook, mcp, agent       hooks, MCP servers and sub-agents, as the stages see them
//	work                   what runs in the background, and what is told of it
//	rewind, plan, style    files put back, plan mode, output styles
//	memory, skills, plugins, trace, resumed, disk
//	command                slash commands
//	query, host            what front ends and hosts ask by name; served: what clients of MCP may call
//	screen, editor         the same, of the terminal interface and of editors
//
// What stands alone is in packages below: conversation, source, entries, usage, keeper, classify, filewatch.
package app
