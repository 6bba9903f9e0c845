package normalize

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/msg"
)

// clean appends what of the block may be sent under its message's role (rules 5, 6, 7 and the parts of 8 that
// one block decides by itself).
func (b *builder) clean(dst []item, blk msg.Block, m msg.Message, at int) []item {
	keep := func(c msg.Block) []item { return append(dst, item{Block: c, from: m.ID}) }
	drop := func(rule int, why string) []item {
		b.note(rule, m.ID, "dropped a %s block: %s", shorten(blk.Type), why)
		return dst
	}
	answer := m.Role() == msg.RoleAssistant
	switch {
	case blk.Type == msg.TypeText:
		if blank(blk.Text) {
			return dst // too common to speak of
		}
		return keep(b.sendBack(blk, answer, at))
	case blk.IsThinking() && answer:
		if why := b.refuseThinking(blk, at); why != "" {
			return drop(7, why)
		}
		return keep(b.sendBack(blk, answer, at))
	case blk.Type == msg.TypeToolUse && answer:
		return keep(b.call(b.sendBack(blk, answer, at), m.ID))
	case blk.Type == msg.TypeToolResult && !answer:
		return b.result(dst, blk, m.ID)
	case blk.Type == msg.TypeImage || blk.Type == msg.TypeDocument:
		return keep(b.media(blk, answer, m.ID))
	case answer && (serverSide(blk.Type) || blk.Type == "compaction" || blk.Type == "fallback"):
		if b.asText() || !b.memo.object(blk.Raw) {
			return drop(6, "it cannot be sent back")
		}
		return keep(blk)
	case !answer && (blk.Type == "search_result" || blk.Type == "container_upload") && b.memo.object(blk.Raw):
		return keep(blk)
	}
	return drop(6, fmt.Sprintf("not allowed in a message of the %s", m.Role()))
}

// sendBack keeps the raw form of what the provider itself answered, so that it goes back byte for byte; in
// anything else, fields that we do not model would be refused.
func (b *builder) sendBack(blk msg.Block, answer bool, at int) msg.Block {
	if blk.Raw != nil && (!answer || at < b.cut || !b.memo.object(blk.Raw)) {
		blk.Raw = nil
	}
	return blk
}

func (b *builder) refuseThinking(blk msg.Block, at int) string {
	switch {
	case b.DropThinking:
		return "thinking is not sent"
	case at < b.cut:
		return "made by another provider"
	case blk.Type == msg.TypeThinking && blk.Signature == "":
		return "no signature"
	case blk.Type == msg.TypeRedactedThinking && blk.Data == "":
		return "no data"
	}
	return ""
}

// call makes a tool call valid: a name and an input that is an object. The id is seen to in pair.
func (b *builder) call(blk msg.Block, from string) msg.Block {
	name, input := cleanName(blk.Name, 200), blk.Input
	if name == "" {
		name = unknownTool
	}
	if len(input) == 0 {
		input = json.RawMessage("{}")
	} else if !b.memo.object(input) {
		b.note(4, from, "the input of a call was no JSON object: kept as text")
		input = wrapInput(input)
	}
	if b.asText() {
		return msg.Text("[Called the tool " + name + " with " + string(input) + "]")
	}
	if name != blk.Name || !bytes.Equal(input, blk.Input) {
		blk.Name, blk.Input, blk.Raw = name, input, nil
	}
	return blk
}

func wrapInput(input []byte) json.RawMessage {
	out := append([]byte(`{"`+invalidInputKey+`":`), msg.AppendString(nil, string(input))...)
	return append(out, '}')
}

// result cleans a tool result; it is rebuilt from its fields, since the API takes no others.
func (b *builder) result(dst []item, blk msg.Block, from string) []item {
	blk.Raw = nil
	content, changed := blk.Content, false
	for i, c := range blk.Content {
		n, ok := b.resultBlock(c, from)
		same := ok && n.Raw == nil && c.Raw == nil && n.Type == c.Type && n.Text == c.Text && n.Source == c.Source
		if same && !changed {
			continue
		}
		if !changed { // copy: the view is not ours
			content, changed = slices.Clone(blk.Content[:i]), true
		}
		if ok {
			content = append(content, n)
		}
	}
	if len(content) == 0 {
		content = []msg.Block{msg.Text(noOutput)}
	}
	if blk.IsError && slices.ContainsFunc(content, func(c msg.Block) bool { return c.Type != msg.TypeText }) {
		// A failed result may hold only text; what it shows is worth more than the flag.
		blk.IsError, content = false, append([]msg.Block{msg.Text(failedText)}, content...)
	}
	blk.Content = content
	if !b.asText() {
		return append(dst, item{Block: blk, from: from})
	}
	head := "[Result of the tool call:]"
	if blk.IsError {
		head = "[The tool call failed:]"
	}
	dst = append(dst, item{Block: msg.Text(head), from: from})
	for _, c := range content {
		if modelled(c.Type) {
			dst = append(dst, item{Block: c, from: from})
		}
	}
	return dst
}

// resultBlock cleans one block inside a tool result; not ok means that it is left out.
func (b *builder) resultBlock(c msg.Block, from string) (msg.Block, bool) {
	switch c.Type {
	case msg.TypeText:
		c.Raw = nil
		return c, !blank(c.Text)
	case msg.TypeImage, msg.TypeDocument:
		return b.media(c, false, from), true
	case "search_result":
		return c, b.memo.object(c.Raw)
	case "tool_reference":
		var ref struct {
			Name string `json:"tool_name"`
		}
		if json.Unmarshal(c.Raw, &ref) != nil || !b.tools[ref.Name] {
			b.note(5, from, "left out a reference to the tool %s, which is not there", shorten(ref.Name))
			return c, false
		}
		return c, true
	}
	b.note(6, from, "left a %s block out of a tool result", shorten(c.Type))
	return c, false
}

func modelled(t string) bool {
	switch t {
	case msg.TypeText, msg.TypeThinking, msg.TypeRedactedThinking, msg.TypeToolUse, msg.TypeToolResult, msg.TypeImage, msg.TypeDocument:
		return true
	}
	return false
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// isObject reports whether raw is one JSON object.
func isObject(raw []byte) bool {
	t := bytes.TrimLeft(raw, " \t\r\n")
	return len(t) > 0 && t[0] == '{' && json.Valid(raw)
}

// cleanName replaces what the API does not take in ids and names, and cuts at most bytes.
func cleanName(s string, most int) string {
	clean := func(c byte) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
	}
	bad := len(s) > most
	for i := 0; i < len(s) && !bad; i++ {
		bad = !clean(s[i])
	}
	if !bad {
		return s
	}
	out := []byte(s[:min(len(s), most)])
	for i, c := range out {
		if !clean(c) {
			out[i] = '_'
		}
	}
	return string(out)
}

func shorten(s string) string {
	if len(s) > 40 {
		s = s[:40]
	}
	if s == "" {
		return "nameless"
	}
	return strings.ToValidUTF8(s, "?")
}
