package compact

import (
	"encoding/json"
	"fmt"
	"slices"

	"lathe/internal/msg"
)

// SubEdit is the subtype of the system message that records an edit of the view.
const SubEdit = "context_edit"

// Edit is a change of the view that was decided once. It is kept in the conversation as a system message, so every
// later request, also one that another process builds, is made with the same change. It counts for what stands
// before its record.
type Edit struct {
	Step  string  `json:"step"`            // name of the step that found it
	Cut   []Cut   `json:"cut,omitempty"`   // ranges that a text replaces
	Clear []Clear `json:"clear,omitempty"` // tool results that a text replaces
	Media bool    `json:"media,omitempty"` // images and documents before the record are replaced by a text

	// Thinking is the id of the message from which on thinking goes, up to the record: blocks behind an edit are
	// no longer valid. KeepFrom is where it stays again, for models whose running turn must keep its own.
	Thinking string `json:"thinking,omitempty"`
	KeepFrom string `json:"keep_thinking_from,omitempty"`

	Saved int    `json:"saved"`           // tokens, estimated
	Why   string `json:"why,omitempty"`   // what decided, in words
	Price *Price `json:"price,omitempty"` // what was reckoned
}

// Cut replaces the messages From to To, both included, by a text. Those in Keep stay where they are.
type Cut struct {
	From string   `json:"from"`
	To   string   `json:"to"`
	Text string   `json:"text"`
	Keep []string `json:"keep,omitempty"`
}

// Clear replaces the content of the result of a call.
type Clear struct {
	Call string `json:"call"` // tool_use id
	Text string `json:"text"`
}

func (e Edit) empty() bool {
	return len(e.Cut) == 0 && len(e.Clear) == 0 && !e.Media && e.Thinking == ""
}

// record makes the message that keeps the edit.
func (e Edit) record() (msg.Message, error) {
	raw, err := json.Marshal(map[string]Edit{"edit": e})
	if err != nil {
		return msg.Message{}, fmt.Errorf("record an edit of the context: %w", err)
	}
	return msg.Message{
		Kind: msg.KindSystem, Subtype: SubEdit, Level: "info", Extra: raw,
		Blocks: []msg.Block{msg.Text(fmt.Sprintf("%s: about %d tokens of the context were left out. %s", e.Step, e.Saved, e.Why))},
	}, nil
}

// editOf reads a record; ok is false for every other message.
func editOf(m msg.Message) (e Edit, ok bool) {
	if m.Kind != msg.KindSystem || m.Subtype != SubEdit {
		return Edit{}, false
	}
	var x struct {
		Edit *Edit `json:"edit"`
	}
	if json.Unmarshal(m.Extra, &x) != nil || x.Edit == nil {
		return Edit{}, false
	}
	return *x.Edit, true
}

// Edited applies the edits whose records stand in the view, in their order.
func Edited(view []msg.Message) []msg.Message {
	var records []string
	for _, m := range view {
		if m.Subtype == SubEdit {
			records = append(records, m.ID)
		}
	}
	for _, id := range records {
		at := indexOf(view, id)
		if at < 0 {
			continue
		}
		if e, ok := editOf(view[at]); ok {
			view, _ = e.apply(view, at)
		}
	}
	return view
}

func indexOf(view []msg.Message, id string) int {
	return slices.IndexFunc(view, func(m msg.Message) bool { return m.ID == id })
}

// apply changes the part of the view before end, and returns the first position that it changed, -1 for none. What
// an edit names and the view does not have is passed over.
func (e Edit) apply(view []msg.Message, end int) (out []msg.Message, first int) {
	first = -1
	head := slices.Clone(view[:end])
	note := func(i int) {
		if i >= 0 && (first < 0 || i < first) {
			first = i
		}
	}
	if e.Thinking != "" { // before anything moves
		note(e.dropThinking(head))
	}
	if len(e.Clear) > 0 || e.Media {
		note(e.replaceContent(head))
	}
	for _, c := range e.Cut {
		var at int
		head, at = c.apply(head)
		note(at)
	}
	if first < 0 {
		return view, -1
	}
	return append(head, view[end:]...), first
}

func (e Edit) dropThinking(head []msg.Message) int {
	first := -1
	from := indexOf(head, e.Thinking)
	if keep := indexOf(head, e.KeepFrom); from < 0 || keep >= 0 && keep <= from {
		return -1
	}
	for i := from; i < len(head) && (e.KeepFrom == "" || head[i].ID != e.KeepFrom); i++ {
		if head[i].Kind != msg.KindAssistant || !slices.ContainsFunc(head[i].Blocks, msg.Block.IsThinking) {
			continue
		}
		head[i].Blocks = slices.DeleteFunc(slices.Clone(head[i].Blocks), msg.Block.IsThinking)
		if first < 0 {
			first = i
		}
	}
	return first
}

// replaceContent puts texts in the place of results, images and documents.
func (e Edit) replaceContent(head []msg.Message) int {
	texts := make(map[string]string, len(e.Clear))
	for _, c := range e.Clear {
		texts[c.Call] = c.Text
	}
	first := -1
	for i, m := range head {
		if m.Kind == msg.KindAssistant || m.Kind == msg.KindSystem {
			continue
		}
		changed := false
		blocks := slices.Clone(m.Blocks)
		for j, b := range blocks {
			if n, ok := e.replaced(b, texts); ok {
				blocks[j], changed = n, true
			}
		}
		if changed {
			head[i].Blocks = blocks
			if first < 0 {
				first = i
			}
		}
	}
	return first
}

const mediaText = "[An image or document that stood here was left out: the request was too large.]"

func (e Edit) replaced(b msg.Block, texts map[string]string) (msg.Block, bool) {
	isMedia := func(b msg.Block) bool { return b.Type == msg.TypeImage || b.Type == msg.TypeDocument }
	switch {
	case b.Type == msg.TypeToolResult:
		if text, ok := texts[b.ToolUseID]; ok {
			return msg.ToolResult(b.ToolUseID, b.IsError, msg.Text(text)), true
		}
		if !e.Media || !slices.ContainsFunc(b.Content, isMedia) {
			return b, false
		}
		b.Raw, b.Content = nil, slices.Clone(b.Content)
		for i, c := range b.Content {
			if isMedia(c) {
				b.Content[i] = msg.Text(mediaText)
			}
		}
		return b, true
	case e.Media && isMedia(b):
		return msg.Text(mediaText), true
	}
	return b, false
}

// apply cuts the range. Its place is taken by a summary message, whose id is made from the first message's, so
// that a later edit can name it.
func (c Cut) apply(view []msg.Message) ([]msg.Message, int) {
	from, to := indexOf(view, c.From), indexOf(view, c.To)
	if from < 0 || to < from || indexOf(view, cutID(c.From)) >= 0 { // the last: it was cut already, and began with what is kept
		return view, -1
	}
	out := append(slices.Clone(view[:from]), msg.Message{
		ID: cutID(c.From), Kind: msg.KindSummary, Time: view[from].Time, Meta: true, Source: SubEdit, Blocks: []msg.Block{msg.Text(c.Text)},
	})
	for _, m := range view[from : to+1] {
		if slices.Contains(c.Keep, m.ID) {
			out = append(out, m)
		}
	}
	return append(out, view[to+1:]...), from
}

func cutID(from string) string { return "cut " + from }
