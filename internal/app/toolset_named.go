package app

import (
	"slices"
	"strings"

	"lathe/internal/perm"
	"lathe/internal/sys"
)

// named reports whether somebody wants a tool by its name: --tools, a rule of the command line or of the settings that
// allows it, or the agent that the session works by. Tools that most sessions have no use for are offered only then, since
// every request carries the definitions. A sub-agent has what the conversation above it has.
func (r *run) named(name string) bool {
	if r.agent != nil {
		_, above := r.agent.parent.tools.registry.Get(name)
		return above
	}
	is := func(n string) bool { return n == name }
	if slices.ContainsFunc(r.o.Tools, func(v string) bool { return slices.ContainsFunc(sys.List(v), is) }) {
		return true
	}
	if r.main != nil && slices.ContainsFunc(r.main.Tools, is) {
		return true
	}
	return slices.ContainsFunc(r.book.Load().rules, func(rule perm.Rule) bool {
		tool, _, _ := strings.Cut(rule.Text, "(")
		return rule.Effect == perm.Allow && tool == name
	})
}
