// Package entries reads the entries of MCP servers that count in a place: an administrator's, the host's, those of the command
// line, of plugins, of the user, and of the project where it is trusted, without those that a policy refuses.
//
// In: a place, and what was named beside its files. Out: configurations for package mcp. Called when a session is assembled,
// and by lathe mcp.
package entries
