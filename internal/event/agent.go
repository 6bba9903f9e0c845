package event

import (
	"slices"

	"lathe/internal/msg"
)

// shown reports whether an event of a sub-agent has a line of its own: its calls and their results, what became of
// them, and, where that was asked for, its words. It has no beginning and no result: those are the Agent call's.
func (e *Encoder) shown(env Envelope) bool {
	switch ev := env.Event.(type) {
	case Ready, TurnDone, Stream, StageDone, ModeChanged:
		return false
	case Message:
		m := ev.Msg
		calls := slices.ContainsFunc(m.Blocks, func(b msg.Block) bool { return b.Type == msg.TypeToolUse || b.Type == msg.TypeToolResult })
		return calls || e.AgentText && m.Kind == msg.KindAssistant
	}
	return true
}

// mark names the sub-agent in a line.
func mark(o obj, env Envelope) {
	if env.Agent.ID == "" {
		return
	}
	o["agent_id"] = env.Agent.ID
	present(o, "subagent_type", env.Agent.Type)
	present(o, "task_description", env.Agent.Task)
}

// toolNames are the tools as the protocol lists them: the sub-agents' tool by its older name.
func toolNames(names []string) []string {
	out := slices.Clone(list(names))
	for i, n := range out {
		if n == "Agent" {
			out[i] = "Task"
		}
	}
	return out
}
