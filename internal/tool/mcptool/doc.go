// Package mcptool is what the model sees of MCP servers: each of their tools (Tool), the tools by which it finds and
// calls those whose schemas are not among the definitions (ToolSearch, CallTool), and the tools by which it reads
// resources. In come calls, out go results of package mcp; the servers themselves are there. Package app builds them
// for a session that has servers.
package mcptool
