package normalize

import (
	"slices"
	"strings"

	"lathe/internal/msg"
)

// collect picks the messages that reach the model (rule 2), cleans their blocks and joins them by role (rules 1
// and 3). The blocks of one answer, which are stored one by one, come together even where results of its first
// calls were stored between them.
func (b *builder) collect(view []msg.Message) {
	skip := b.skipped(view)
	b.cut = b.foreignUpTo(view)
	for i, m := range view {
		if skip[i] {
			continue
		}
		var items []item
		for _, blk := range m.Blocks {
			items = b.clean(items, blk, m, i)
		}
		if len(items) == 0 {
			continue
		}
		if m.Role() == msg.RoleAssistant {
			b.addAnswer(m, items)
			continue
		}
		if n := len(b.groups); n > 0 && b.groups[n-1].role == msg.RoleUser {
			g := b.groups[n-1]
			if n == 1 && userContext(m) {
				g.items = slices.Insert(g.items, g.front, items...)
				g.front += len(items)
				continue
			}
			g.items = append(g.items, items...)
			continue
		}
		b.groups = append(b.groups, &group{role: msg.RoleUser, items: items})
	}
}

// userContext reports the attachments that go in front of the first prompt: the instruction files and the date are
// the same for many sessions of a project, so the prompt cache of one serves the next.
func userContext(m msg.Message) bool {
	return m.Kind == msg.KindAttachment && (m.Source == "memory" || m.Source == "date")
}

// skipped marks the messages that are not sent: notices, virtual and withdrawn ones, copies of a message that
// stands before, made-up answers that show an API error, and sub-agents' talk inside a main conversation.
func (b *builder) skipped(view []msg.Message) []bool {
	withdrawn, seen := map[string]bool{}, map[string]bool{}
	main, known := false, false
	for _, m := range view {
		for _, id := range m.Withdraws {
			if m.Kind == msg.KindTombstone {
				withdrawn[id] = true
			}
		}
		if m.ForModel() && !known { // a sub-agent's own conversation begins with its own message
			main, known = !m.Sidechain, true
		}
	}
	skip := make([]bool, len(view))
	for i, m := range view {
		switch {
		case !m.ForModel() || m.APIError != "":
			skip[i] = true
		case m.Sidechain && main:
			skip[i] = true
			b.note(2, m.ID, "left out a sub-agent's message")
		case m.ID == "":
		case withdrawn[m.ID]:
			skip[i] = true
			b.note(2, m.ID, "left out a withdrawn message")
		case seen[m.ID]:
			skip[i] = true
			b.note(2, m.ID, "left out a second copy")
		}
		if !skip[i] {
			seen[m.ID] = true
		}
	}
	return skip
}

// foreignUpTo returns the index after the last answer of another provider.
func (b *builder) foreignUpTo(view []msg.Message) int {
	if b.Foreign == nil {
		return 0
	}
	for i := len(view) - 1; i >= 0; i-- {
		if view[i].Kind == msg.KindAssistant && b.Foreign(view[i]) {
			return i + 1
		}
	}
	return 0
}

func (b *builder) addAnswer(m msg.Message, items []item) {
	pause := m.StopReason == "pause_turn"
	if g := b.openAnswer(m); g != nil {
		g.items = append(g.items, items...)
		g.apiID, g.pause = m.APIID, pause
		return
	}
	b.groups = append(b.groups, &group{role: msg.RoleAssistant, items: items, apiID: m.APIID, pause: pause})
}

// openAnswer returns the group that the message continues, or nil.
func (b *builder) openAnswer(m msg.Message) *group {
	n := len(b.groups)
	if n == 0 {
		return nil
	}
	last := b.groups[n-1]
	if last.role == msg.RoleAssistant && last.apiID == m.APIID {
		return last
	}
	if m.APIID != "" && n > 1 && last.role == msg.RoleUser && b.groups[n-2].apiID == m.APIID {
		return b.groups[n-2]
	}
	return nil
}

// serverSide reports block types of tools that run on the provider's side.
func serverSide(t string) bool {
	return t != msg.TypeToolUse && t != msg.TypeToolResult &&
		(strings.HasSuffix(t, "_tool_use") || strings.HasSuffix(t, "_tool_result"))
}

func serverCall(t string) bool { return serverSide(t) && strings.HasSuffix(t, "_tool_use") }
