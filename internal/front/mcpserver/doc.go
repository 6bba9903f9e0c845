// Package mcpserver offers tools of a session to clients of the Model Context Protocol ("lathe mcp serve"). In come the
// client's requests on standard input, out go its answers; the tools are called, and judged, by whoever Options.Call is.
// Called by package cli.
package mcpserver
