// Package plugin reads plugin directories: in comes a directory, out go the places of what it brings (commands, skills,
// agents, hooks, MCP servers), with the plugin's own variables filled in. It runs nothing. Package app calls it for the
// directories that the user or a host names, and hands the places to those who read such files.
package plugin
