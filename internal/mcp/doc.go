// Package mcp is the client of the Model Context Protocol. In come the entries of servers (Config), read by Parse from
// the documented files; a Set connects to them, as child processes, over HTTP, or through a host's function, and keeps
// the connections; out go their tools, prompts and resources as plain data, and the results of calls as blocks.
//
// Its rules: nothing is connected before Set.Start; a server that is late, lost or broken is a state with words that
// say what to do, never an error of the session; what a server says of itself (annotations, names, descriptions) is not
// trusted; every child belongs to the run's process group, and every goroutine is joined by Set.Close.
//
// It is wired by package app (app/mcp.go); the tools that models see are in tool/mcptool. Start reading at Set. The
// protocol is that of modelcontextprotocol.io, versions 2024-11-05 to 2026-07-28, spoken by the official Go SDK.
package mcp
