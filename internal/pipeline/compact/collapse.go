package compact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

// collapseLeast is how many calls a chain must have to be worth a summary, and collapseLines the calls it lists.
const (
	collapseLeast = 2
	collapseLines = 60
)

// Collapse replaces finished chains of tool calls, those of turns that were answered, by one line for each call.
// What the person and the model said stays, and the last of these turns as a whole. In a running turn that has become
// long the calls stay, and the results that lie far back become one line where the settings say so. Skills that were
// loaded and what the person was asked stay in any case.
func Collapse(view []msg.Message, s Settings) ([]msg.Message, Report) {
	return report(view, findChains(view, s), s)
}

func findChains(view []msg.Message, s Settings) Edit {
	a, stands := study(view, s), standing(view)
	end := unanswered(view)
	for end > 0 && !typed(view[end-1]) { // the last turn that was answered stays whole
		end--
	}
	e := Edit{Step: "collapse"}
	for i := 0; i < end; {
		// What stands before the first answer came with the prompt, and stays with it.
		if !a.safe[i] || !a.inChain(i) || view[i].Kind != msg.KindAssistant {
			i++
			continue
		}
		to, calls := i, 0
		var keep []string
		last := -1
		for ; to < end && a.inChain(to); to++ {
			calls += len(view[to].ToolUses())
			if a.safe[to+1] {
				last = to
			}
		}
		if last < i || calls < collapseLeast {
			i = to + 1
			continue
		}
		for j, m := range view[i : last+1] {
			if protected(m, s) || stands[i+j] {
				keep = append(keep, m.ID)
			}
		}
		text := chainText(view[i:last+1], a)
		if saved := s.tokens(view[i:last+1]) - s.Counter.Text(text); saved >= minSaving/2 {
			e.Cut = append(e.Cut, Cut{From: view[i].ID, To: view[last].ID, Text: text, Keep: keep})
			if e.Thinking == "" {
				e.Thinking = a.thinkingAfter(last)
			}
		}
		i = last + 1
	}
	if s.Running > 0 {
		a.clearOld(&e, s)
	}
	if e.empty() {
		return Edit{}
	}
	return e
}

const leftOut = "[Left out: a result that lies far back. The call was carried out; repeat it only where it just reads]"

// clearOld adds the results of the running turn that stand before the last tokens of the view and that an answer has seen.
func (a *answers) clearOld(e *Edit, s Settings) {
	from, tail := unanswered(a.view), len(a.view)
	for rest := s.Running; tail > from && rest > 0; tail-- {
		rest -= s.tokens(a.view[tail-1 : tail])
	}
	for i := from; i < tail; i++ {
		next := a.thinkingAfter(i)
		for _, b := range a.view[i].Blocks {
			c := a.calls[b.ToolUseID]
			if b.Type != msg.TypeToolResult || next == "" || c.result != i || c.tokens < clearLeast || c.failed || countsOn(c.use) || c.use.Name == "Agent" {
				continue
			}
			e.Clear = append(e.Clear, Clear{Call: b.ToolUseID, Text: leftOut})
			if e.Thinking == "" {
				e.Thinking = next
			}
		}
	}
}

// inChain reports messages of a chain: answers with calls, results, and what the program put between them. It ends at
// a call whose result counts on.
func (a *answers) inChain(i int) bool {
	switch m := a.view[i]; m.Kind {
	case msg.KindAssistant:
		return (m.StopReason == "" || m.StopReason == "tool_use") && !slices.ContainsFunc(m.ToolUses(), countsOn)
	case msg.KindUser:
		for _, b := range m.Blocks {
			if b.Type == msg.TypeToolResult && countsOn(a.calls[b.ToolUseID].use) {
				return false
			}
		}
		return hasResult(m) || m.Meta
	case msg.KindAttachment, msg.KindSystem:
		return m.Subtype != SubEdit
	}
	return false
}

// countsOn reports a call whose result is instructions or a person's own words.
func countsOn(use msg.Block) bool {
	return slices.Contains([]string{"Skill", "AskUserQuestion", "ExitPlanMode"}, use.Name)
}

func chainText(chain []msg.Message, a *answers) string {
	var b strings.Builder
	b.WriteString("[Tool calls of this turn, shortened. Their results are no longer here; call the tools again where you need them.]")
	lines := 0
	for _, m := range chain {
		if m.Kind == msg.KindAssistant {
			if t := strings.TrimSpace(m.Text()); t != "" {
				b.WriteString("\n" + clip(t, 600))
			}
		}
		for _, u := range m.ToolUses() {
			if lines++; lines > collapseLines {
				continue
			}
			b.WriteString("\n- " + u.Name + " " + inputText(u.Input) + outcome(u.ID, chain))
		}
	}
	if lines > collapseLines {
		fmt.Fprintf(&b, "\n- and %d more calls", lines-collapseLines)
	}
	return b.String()
}

// outcome says in a few words what came of a call.
func outcome(id string, chain []msg.Message) string {
	for _, m := range chain {
		for _, b := range m.Blocks {
			if b.Type != msg.TypeToolResult || b.ToolUseID != id {
				continue
			}
			text := msg.JoinText(b.Content)
			if b.IsError {
				return ": failed: " + clip(text, 200)
			}
			if len(text) <= 120 {
				return ": " + clip(text, 120)
			}
			return ": " + tool.Count(strings.Count(text, "\n")+1, "line")
		}
	}
	return ": no result"
}

// inputText shows the first short string fields of a call's input.
func inputText(raw json.RawMessage) string {
	var in map[string]json.RawMessage
	if json.Unmarshal(raw, &in) != nil {
		return ""
	}
	var parts []string
	for _, key := range []string{"file_path", "notebook_path", "path", "pattern", "command", "url", "query", "description"} {
		var v string
		if json.Unmarshal(in[key], &v) == nil && v != "" {
			parts = append(parts, clip(v, 160))
		}
	}
	return strings.Join(parts, " ")
}

// clip shortens a text to one line of at most n characters.
func clip(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
