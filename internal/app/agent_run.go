package app

// agentPart is what a sub-agent's conversation has of its own.
type agentPart struct{}
