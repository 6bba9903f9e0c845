package jsonl

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"lathe/internal/msg"
)

// decodeMessage returns the message in a record, or nil when it holds none: progress, notes of other programs
// that the model never sees, damaged content.
func decodeMessage(l *line) *msg.Message {
	m := &msg.Message{
		ID:              string(l.get(l.uuid)),
		Parent:          string(l.get(l.parent)),
		Time:            parseTime(l.get(l.time)),
		RequestID:       string(l.get(l.request)),
		SourceAssistant: string(l.get(l.source)),
		Meta:            l.has(flagMeta),
		TranscriptOnly:  l.has(flagTranscript),
		Sidechain:       l.has(flagSidechain),
	}
	if out := l.get(l.toolOutput); len(out) > 0 {
		m.ToolOutput = bytes.Clone(out)
	}
	ok := false
	switch l.kind {
	case kindUser:
		ok = decodeUser(l, m)
	case kindAssistant:
		ok = decodeAssistant(l, m)
	case kindSystem:
		ok = decodeSystem(l, m)
	case kindAttachment:
		ok = decodeAttachment(l, m)
	}
	if !ok {
		return nil
	}
	return m
}

func parseTime(text []byte) time.Time {
	t, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

func decodeUser(l *line, m *msg.Message) bool {
	m.Kind = msg.KindUser
	if l.has(flagSummary) {
		m.Kind = msg.KindSummary
	}
	if x := l.get(l.extras); len(x) > 0 {
		var e extras
		if json.Unmarshal(x, &e) == nil {
			applyExtras(m, e)
		}
	}
	src := l.get(l.message)
	walkFields(src, func(key []byte, i int) (end int) {
		if string(key) == "content" {
			m.Blocks, end = contentAt(src, i, l.has(flagOurs))
			return end
		}
		return msg.SkipValue(src, i)
	})
	return len(m.Blocks) > 0 || l.has(flagOurs)
}

func applyExtras(m *msg.Message, e extras) {
	if e.Kind == msg.KindAttachment {
		m.Kind, m.Meta = e.Kind, !e.Shown
	}
	m.Source, m.Key, m.Aborted = e.Source, e.Key, e.Aborted
}

func decodeAssistant(l *line, m *msg.Message) bool {
	m.Kind = msg.KindAssistant
	var e extras
	if x := l.get(l.extras); len(x) > 0 {
		if json.Unmarshal(x, &e) == nil {
			applyExtras(m, e)
		}
	}
	if l.has(flagAPIError) {
		if m.APIError, _ = msg.Unquote(l.get(l.apiError)); m.APIError == "" {
			m.APIError = "unknown"
		}
	}
	src := l.get(l.message)
	walkFields(src, func(key []byte, i int) (end int) {
		if string(key) == "content" {
			m.Blocks, end = contentAt(src, i, l.has(flagOurs))
			return end
		}
		if end = msg.SkipValue(src, i); end < 0 {
			return -1
		}
		value := src[i:end]
		switch string(key) {
		case "id":
			m.APIID, _ = msg.Unquote(value)
		case "model":
			m.Model, _ = msg.Unquote(value)
		case "stop_reason":
			m.StopReason, _ = msg.Unquote(value)
		case "usage":
			m.Usage = decodeUsage(value)
		}
		return end
	})
	if e.Request != "" || len(e.Usage) > 0 {
		m.Partial, m.RequestID = true, e.Request
		if len(e.Usage) > 0 {
			m.Usage = decodeUsage(e.Usage)
		}
	}
	return len(m.Blocks) > 0 || l.has(flagOurs)
}

func decodeUsage(value []byte) *msg.Usage {
	var u msg.Usage
	if value[0] != '{' || json.Unmarshal(value, &u) != nil {
		return nil
	}
	return &u
}

// contentAt reads content in every form that such files have, and returns the index behind it.
func contentAt(src []byte, i int, ours bool) ([]msg.Block, int) {
	blocks, end := msg.ContentAt(src, i)
	if end < 0 {
		if end = msg.SkipValue(src, i); end < 0 {
			return nil, -1
		}
		blocks = decodeLoosely(src[i:end])
	}
	return sendable(blocks, ours), end
}

// decodeContent is contentAt for content that stands alone.
func decodeContent(raw []byte, ours bool) []msg.Block {
	blocks, _ := contentAt(raw, 0, ours)
	return blocks
}

// decodeLoosely reads content that is not all blocks; an element that is none costs itself only.
func decodeLoosely(raw []byte) (blocks []msg.Block) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, e := range list {
		var b msg.Block
		var text string
		if json.Unmarshal(e, &b) == nil {
			blocks = append(blocks, b)
		} else if json.Unmarshal(e, &text) == nil && text != "" {
			blocks = append(blocks, msg.Text(text))
		}
	}
	return blocks
}

// sendable drops thinking without a signature, which other programs left when a turn was broken off: it may not
// be sent.
func sendable(blocks []msg.Block, ours bool) []msg.Block {
	if !ours {
		blocks = slices.DeleteFunc(blocks, func(b msg.Block) bool {
			return b.Type == msg.TypeThinking && b.Signature == "" && b.Raw == nil
		})
	}
	if len(blocks) == 0 {
		return nil
	}
	return blocks
}

func decodeSystem(l *line, m *msg.Message) bool {
	m.Kind = msg.KindSystem
	if l.has(flagTombstone) {
		m.Kind = msg.KindTombstone
	}
	if l.has(flagBoundary) {
		m.Parent = string(l.get(l.logical))
	}
	extra := []byte{'{'}
	eachField(l.all, func(key, value []byte) {
		switch k := string(key); k {
		case "subtype":
			m.Subtype, _ = msg.Unquote(value)
		case "level":
			m.Level, _ = msg.Unquote(value)
		case "content":
			if s, ok := msg.Unquote(value); ok {
				m.Blocks = []msg.Block{msg.Text(s)}
			}
		case "withdraws":
			if json.Unmarshal(value, &m.Withdraws) != nil {
				m.Withdraws = nil
			}
		case "lathe":
			var e extras
			if json.Unmarshal(value, &e) != nil {
				break
			}
			applyExtras(m, e)
			if e.Blocks != nil {
				m.Blocks = decodeContent(e.Blocks, true)
			}
			m.Extra = e.Extra
		default:
			if _, known := systemKeys()[k]; !known {
				extra = appendMember(extra, key, value)
			}
		}
	})
	if len(extra) > 1 {
		m.Extra = append(extra, '}')
	}
	if m.Kind == msg.KindTombstone {
		m.Subtype = ""
	}
	return true
}

func appendMember(dst, key, value []byte) []byte {
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	dst = append(append(append(dst, '"'), key...), '"', ':')
	return append(dst, value...)
}

// foreignAttachment is what of another program's attachment records the model was shown as text.
type foreignAttachment struct {
	Type    string          `json:"type"`
	Prompt  json.RawMessage `json:"prompt"`  // queued_command
	Content json.RawMessage `json:"content"` // hook_additional_context
}

// decodeAttachment keeps what a person or a hook said; the rest (lists of tools and skills, notes for the
// screen) belongs to the program that wrote it, and is made anew by ours.
func decodeAttachment(l *line, m *msg.Message) bool {
	m.Kind = msg.KindAttachment
	m.Meta = true
	var a foreignAttachment
	eachField(l.all, func(key, value []byte) {
		if string(key) == "attachment" && json.Unmarshal(value, &a) != nil {
			a = foreignAttachment{}
		}
	})
	raw := a.Content
	switch a.Type {
	case "queued_command":
		raw, m.Source = a.Prompt, "queued_prompt"
	case "hook_additional_context":
		m.Source = "hook"
	default:
		return false
	}
	if len(raw) > 0 {
		m.Blocks = decodeContent(raw, false)
	}
	return len(m.Blocks) > 0
}
