package fakeapi

import (
	"encoding/json"
	"strings"
)

// Message is one message of a request, in the form in which scripts and tests want to look at it.
type Message struct {
	Role   string
	Blocks []InBlock
}

// InBlock is one content block of a request. Raw is the block as it was sent.
type InBlock struct {
	Type      string
	Text      string // text, thinking, and the joined text of a tool_result
	ID        string // tool_use: its id; tool_result: the id that it answers
	Name      string
	Input     json.RawMessage
	IsError   bool
	Signature string
	Raw       json.RawMessage
}

// Messages returns the messages of the request; a string content is one text block.
func (r Request) Messages() []Message {
	var out []Message
	for _, m := range r.body.get("messages").items() {
		v := Message{Role: m.str("role")}
		for _, b := range contentBlocks(m.get("content")) {
			v.Blocks = append(v.Blocks, viewBlock(b))
		}
		out = append(out, v)
	}
	return out
}

func viewBlock(b *node) InBlock {
	v := InBlock{Type: b.str("type"), Text: b.str("text"), ID: b.str("id"), Name: b.str("name"), Signature: b.str("signature"), Raw: b.raw}
	switch v.Type {
	case "thinking":
		v.Text = b.str("thinking")
	case "tool_use":
		if in := b.get("input"); in != nil {
			v.Input = in.raw
		}
	case "tool_result":
		v.ID, v.IsError = b.str("tool_use_id"), b.get("is_error").isTrue()
		v.Text = blocksText(b.get("content"))
	}
	return v
}

// contentBlocks returns the blocks of a content value; a string becomes one text block.
func contentBlocks(content *node) []*node {
	if content.is('s') {
		return []*node{{kind: 'o', raw: content.raw, keys: []string{"type", "text"}, vals: []*node{
			{kind: 's', raw: []byte(`"text"`)}, content,
		}}}
	}
	return content.items()
}

func blocksText(content *node) string {
	var parts []string
	for _, b := range contentBlocks(content) {
		if b.str("type") == "text" {
			parts = append(parts, b.str("text"))
		}
	}
	return strings.Join(parts, "\n")
}

// SystemText is the text of the system prompt, blocks joined by line ends.
func (r Request) SystemText() string { return blocksText(r.body.get("system")) }

// ToolNames lists the tools of the request in order.
func (r Request) ToolNames() []string {
	var out []string
	for _, t := range r.body.get("tools").items() {
		out = append(out, t.str("name"))
	}
	return out
}

// LastUserText is the text of the last user message: its text blocks, joined by line ends, without tool results.
func (r Request) LastUserText() string {
	msgs := r.body.get("messages").items()
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].str("role") == "user" {
			return blocksText(msgs[i].get("content"))
		}
	}
	return ""
}

// ToolResults returns the tool results of the last user message, in order.
func (r Request) ToolResults() []InBlock {
	msgs := r.body.get("messages").items()
	var out []InBlock
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].str("role") != "user" {
			continue
		}
		for _, b := range contentBlocks(msgs[i].get("content")) {
			if b.str("type") == "tool_result" {
				out = append(out, viewBlock(b))
			}
		}
		break
	}
	return out
}

// LastToolResult is the text of the last tool result of the last user message, "" when it has none.
func (r Request) LastToolResult() string {
	if all := r.ToolResults(); len(all) > 0 {
		return all[len(all)-1].Text
	}
	return ""
}
