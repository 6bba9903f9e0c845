package compact

import (
	"encoding/json"
	"slices"

	"lathe/internal/msg"
)

// sourceSkill marks a skill that was loaded before a boundary.
const sourceSkill = "skill"

// The budgets of skills that are carried over a compaction, in tokens.
const (
	skillTokens  = 5_000
	skillsTokens = 25_000
)

// loaded is a skill as the model last got it: its text, or the message that carried it over a boundary already.
type loaded struct {
	name, text string
	carried    *msg.Message
}

// loadedSkills are the skills that were loaded since the last boundary or carried over it, the newest first.
func loadedSkills(whole []msg.Message) []loaded {
	results := map[string]string{}
	var out []loaded
	add := func(l loaded) {
		if l.name != "" && (l.text != "" || l.carried != nil) && !slices.ContainsFunc(out, func(o loaded) bool { return o.name == l.name }) {
			out = append(out, l)
		}
	}
	for _, m := range slices.Backward(whole) {
		if m.Kind == msg.KindAttachment && m.Source == sourceSkill {
			add(loaded{name: m.Key, carried: &m})
		}
		for _, b := range m.Blocks {
			switch {
			case b.Type == msg.TypeToolResult && !b.IsError:
				results[b.ToolUseID] = msg.JoinText(b.Content)
			case b.Type == msg.TypeToolUse && b.Name == "Skill":
				var in struct {
					Skill string `json:"skill"`
				}
				if json.Unmarshal(b.Input, &in) == nil {
					add(loaded{name: in.Skill, text: results[b.ID]})
				}
			}
		}
	}
	return out
}

// skills are the loaded skills again, each within its budget: what they say counts on.
func (v sight) skills(room int) []msg.Message {
	c := v.set.Counter
	budget := min(skillsTokens, v.info.Window/10, room)
	var out []msg.Message
	for _, l := range loadedSkills(v.whole) {
		if budget < 200 {
			break
		}
		var m msg.Message
		if l.carried != nil {
			m = again(*l.carried)
		} else {
			m = attachment(sourceSkill, l.name, "The skill "+l.name+", which was loaded before the conversation was compacted, still counts:\n"+
				cutTokens(l.text, min(skillTokens, budget-100), c.Text))
		}
		if c.Messages([]msg.Message{m}) > budget {
			continue
		}
		budget -= c.Messages([]msg.Message{m})
		out = append(out, m)
	}
	return out
}
