package compact

import (
	"encoding/json"
	"fmt"
	"strings"

	"lathe/internal/msg"
)

// collapseLeast is how many calls a chain must have to be worth a summary, and collapseLines the calls it lists.
const (
	collapseLeast = 2
	collapseLines = 60
)

// Collapse replaces finished chains of tool calls, those of turns that were answered, by one line for each call.
// What the person and the model said stays, and the last of these turns as a whole.
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
		if !a.safe[i] || !inChain(view[i]) || view[i].Kind != msg.KindAssistant {
			i++
			continue
		}
		to, calls := i, 0
		var keep []string
		last := -1
		for ; to < end && inChain(view[to]); to++ {
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
		if saved := s.Counter.Messages(view[i:last+1]) - s.Counter.Text(text); saved >= minSaving/2 {
			e.Cut = append(e.Cut, Cut{From: view[i].ID, To: view[last].ID, Text: text, Keep: keep})
			if e.Thinking == "" {
				e.Thinking = a.thinkingAfter(last)
			}
		}
		i = last + 1
	}
	if len(e.Cut) == 0 {
		return Edit{}
	}
	return e
}

// inChain reports messages of a chain: answers with calls, results, and what the program put between them.
func inChain(m msg.Message) bool {
	switch m.Kind {
	case msg.KindAssistant:
		return m.StopReason == "" || m.StopReason == "tool_use"
	case msg.KindUser:
		return hasResult(m) || m.Meta
	case msg.KindAttachment, msg.KindSystem:
		return m.Subtype != SubEdit
	}
	return false
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
			return fmt.Sprintf(": %d lines", strings.Count(text, "\n")+1)
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
