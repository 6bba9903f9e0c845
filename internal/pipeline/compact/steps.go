package compact

import (
	"slices"

	"lathe/internal/msg"
)

// answers tells where answers and calls begin and end in a view.
type answers struct {
	view  []msg.Message
	safe  []bool // by index, one more than messages: no call and no answer spans the place before it
	calls map[string]place
}

// place is a call and its result.
type place struct {
	use    msg.Block
	asked  int // message of the call
	result int // message of the result; -1: none
	tokens int // of the result
	failed bool
}

// study finds the places at which a view may be cut without parting a call from its result or an answer in two.
func study(view []msg.Message, s Settings) *answers {
	a := &answers{view: view, safe: make([]bool, len(view)+1), calls: map[string]place{}}
	lastOf := map[string]int{} // last message of each answer and of each call's result
	for i, m := range view {
		if m.Kind == msg.KindAssistant && m.APIID != "" {
			lastOf["a "+m.APIID] = i
		}
		for j, b := range m.Blocks {
			switch b.Type {
			case msg.TypeToolUse:
				if _, twice := a.calls[b.ID]; !twice {
					a.calls[b.ID] = place{use: b, asked: i, result: -1}
				}
			case msg.TypeToolResult:
				if c, ok := a.calls[b.ToolUseID]; ok && c.result < 0 {
					c.result, c.tokens, c.failed = i, s.block(&m.Blocks[j]), b.IsError
					a.calls[b.ToolUseID] = c
					lastOf["c "+b.ToolUseID] = i
				}
			}
		}
	}
	until := 0
	for i := range view {
		a.safe[i] = i >= until
		m := view[i]
		if m.Kind == msg.KindAssistant && m.APIID != "" {
			until = max(until, lastOf["a "+m.APIID]+1)
		}
		for _, b := range m.Blocks {
			if b.Type != msg.TypeToolUse {
				continue
			}
			if last, ok := lastOf["c "+b.ID]; ok {
				until = max(until, last+1)
			} else {
				until = max(until, i+2) // its missing result will be supplied behind it
			}
		}
	}
	a.safe[len(view)] = len(view) >= until
	return a
}

// thinkingAfter returns the id of the first answer whose thinking an edit of the message at i makes void: the next
// answer that is not the one which asked for what stands there. It is "" when there is none.
func (a *answers) thinkingAfter(i int) string {
	owner := ""
	for j := min(i, len(a.view)-1); j >= 0; j-- {
		if a.view[j].Kind == msg.KindAssistant {
			owner = a.view[j].APIID
			break
		}
	}
	for _, m := range a.view[min(i+1, len(a.view)):] {
		if m.Kind == msg.KindAssistant && (m.APIID != owner || owner == "") {
			return m.ID
		}
	}
	return ""
}

// typed reports a person's own words, and the prompt that a command of theirs stands for.
func typed(m msg.Message) bool {
	if m.Kind != msg.KindUser || m.Virtual || hasResult(m) || len(m.Blocks) == 0 {
		return false
	}
	return !m.Meta || m.Source == msg.SourceCommand || m.Source == sourceCarried
}

func hasResult(m msg.Message) bool {
	return slices.ContainsFunc(m.Blocks, func(b msg.Block) bool { return b.Type == msg.TypeToolResult })
}

// protected reports what no step may take out: rules, pins, and what a compaction carried over.
func protected(m msg.Message, s Settings) bool {
	switch m.Kind {
	case msg.KindAttachment:
		return isRule(m) || m.Source == sourcePins
	case msg.KindUser:
		return typed(m) && pinned(m.Text(), s.Pins)
	case msg.KindSummary:
		return m.Source != SubEdit
	}
	return false
}

// isRule reports instructions of the user and the project, and what they have given access to.
func isRule(m msg.Message) bool {
	return m.Kind == msg.KindAttachment && slices.Contains([]string{"memory", "conditional_rule", "auto_memory", "agent_memory", "directory_added"}, m.Source)
}

// unanswered is the index from which on no answer has ended a turn: the person's messages from there on wait.
func unanswered(view []msg.Message) int {
	for i := len(view) - 1; i >= 0; i-- {
		m := view[i]
		if m.Kind == msg.KindAssistant && m.APIError == "" && (m.StopReason == "end_turn" || m.StopReason == "stop_sequence" || m.StopReason == "refusal") {
			return i + 1
		}
	}
	return 0
}

// report measures an edit as a step's effect on the view.
func report(view []msg.Message, e Edit, s Settings) ([]msg.Message, Report) {
	if e.empty() {
		return view, unchanged
	}
	out, first := e.apply(view, len(view))
	if first < 0 {
		return view, unchanged
	}
	before, after := s.tokens(view), s.tokens(out)
	e.Saved = before - after
	return out, Report{TokensBefore: before, TokensAfter: after, FirstChanged: first, Edit: &e}
}
