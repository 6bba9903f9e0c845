package app

import (
	"slices"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

// customTools are those of the program that embeds us. A sub-agent has them as its agent's file says.
func (r *run) customTools() []tool.Tool {
	var out []tool.Tool
	for _, t := range r.o.Custom {
		if name := t.Def().Name; (r.agent == nil || r.agent.keeps(name)) && !r.toolDenied(name) {
			out = append(out, t)
		}
	}
	return out
}

// newCustomTools reports whether the embedding program brings tools that a resumed session does not have as they are
// now: they must be among the definitions, at the price of the prompt cache.
func (r *run) newCustomTools(frozen []msg.ToolDef) bool {
	for _, t := range r.customTools() {
		want := t.Def()
		if !slices.ContainsFunc(frozen, func(d msg.ToolDef) bool {
			return d.Name == want.Name && d.Description == want.Description && string(d.InputSchema) == string(want.InputSchema)
		}) {
			return true
		}
	}
	return false
}
