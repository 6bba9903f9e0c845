package mcp

func shellCommand(text string) []string { return []string{"cmd", "/c", text} }
