//go:build !windows

package mcp

func shellCommand(text string) []string { return []string{"/bin/sh", "-c", text} }
