package fakeapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

const defaultChunk = 64

// kind is the block's type on the wire, "" when the script sets none.
func (b Block) kind() string {
	switch {
	case len(b.Raw) > 0:
		return "raw"
	case b.Tool != "":
		return "tool_use"
	case b.Redacted:
		return "redacted_thinking"
	case b.Thinking != "":
		return "thinking"
	case b.Text != "" || len(b.Chunks) > 0:
		return "text"
	}
	return ""
}

// outBlock is one block ready to be sent: whole, and as a start with its deltas.
type outBlock struct {
	whole  []byte
	start  []byte
	deltas [][]byte
	size   int // bytes that count as output
	thinks bool
	search bool // the result of a search of the web that succeeded: it is paid for
}

// reply is the whole answer, before it is cut into events.
type reply struct {
	id, model  string
	blocks     []outBlock
	stop       string
	stopSeq    string
	details    json.RawMessage
	fast       bool
	usage      Usage
	override   map[string]int
	transforms []map[string]string // input_transformations: which thinking was left out and why
}

// sealer makes the signatures of an answer's thinking and keeps track of the prefix while the answer grows.
type sealer struct {
	model   string
	omitted bool
	state   chain
	prev    string
}

func (s *sealer) sign(text string) string {
	v := seal{Model: s.model, Bind: s.state.id(), Prev: s.prev}
	if !s.omitted {
		v.Text = shortHash(text)
	}
	sig := v.sign()
	s.prev = shortHash(sig)
	return sig
}

// passed moves the prefix over a block that is not thinking. Empty text does not count: it cannot be sent back.
func (s *sealer) passed(whole []byte) {
	n, err := parseNode(whole)
	if err != nil || n.str("type") == "text" && strings.TrimSpace(n.str("text")) == "" {
		return
	}
	s.state = s.state.next("", n)
}

// encode marshals without HTML escapes, as the API does.
func encode(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte("null") // cannot happen: all values here are plain data
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// object encodes key and value pairs in the order given.
func object(pairs ...any) []byte {
	buf := []byte{'{'}
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(append(buf, encode(pairs[i])...), ':')
		buf = append(buf, encode(pairs[i+1])...)
	}
	return append(buf, '}')
}

// compose makes the reply's blocks and returns, per tool call, the signatures handed out before it.
func compose(a Answer, id string, thinking bool, s *sealer) (blocks []outBlock, calls map[string][]string) {
	list := a.Blocks
	if a.Text != "" {
		list = append([]Block{{Text: a.Text}}, list...)
	}
	var sigs []string
	calls = map[string][]string{}
	sameID := ""
	for i, b := range list {
		var out outBlock
		switch b.kind() {
		case "thinking", "redacted_thinking":
			if !thinking {
				continue
			}
			sig := ""
			out, sig = composeThinking(b, a.Chunk, s)
			sigs = append(sigs, sig)
		case "tool_use":
			if b.ID == "" {
				b.ID = "toolu_" + shortHash(id, fmt.Sprint(i))
			}
			if a.hasFault(FaultDuplicateIDs) {
				if sameID == "" {
					sameID = b.ID
				}
				b.ID = sameID
			}
			calls[b.ID] = append([]string(nil), sigs...)
			out = composeTool(b, a.Chunk, cutInput(a, list, i))
			s.passed(out.whole)
		case "raw":
			out = composeRaw(b, a.Chunk)
			s.passed(out.whole)
		default:
			out = composeText(b, a.Chunk)
			s.passed(out.whole)
		}
		blocks = append(blocks, out)
	}
	return blocks, calls
}

// composeRaw sends a block as it is; the input of a server's tool comes in deltas, as that of any tool.
func composeRaw(b Block, chunk int) outBlock {
	out := outBlock{whole: b.Raw, start: b.Raw, size: len(b.Raw)}
	n, err := parseNode(b.Raw)
	if err != nil {
		return out
	}
	out.search = n.str("type") == "web_search_tool_result" && n.get("content").is('a')
	if n.str("type") != "server_tool_use" || !n.get("input").is('o') {
		return out
	}
	out.start = object("type", "server_tool_use", "id", n.str("id"), "name", n.str("name"), "input", json.RawMessage("{}"))
	for _, p := range cutText(string(n.get("input").raw), chunk) {
		out.deltas = append(out.deltas, object("type", "input_json_delta", "partial_json", p))
	}
	return out
}

func composeText(b Block, chunk int) outBlock {
	pieces := b.Chunks
	if len(pieces) == 0 {
		pieces = cutText(b.Text, chunk)
	}
	text := strings.Join(pieces, "")
	out := outBlock{
		whole: object("type", "text", "text", text),
		start: object("type", "text", "text", ""),
		size:  len(text),
	}
	for _, p := range pieces {
		out.deltas = append(out.deltas, object("type", "text_delta", "text", p))
	}
	return out
}

func composeThinking(b Block, chunk int, s *sealer) (outBlock, string) {
	text := b.Thinking
	sig := s.sign(text)
	if b.Redacted {
		whole := object("type", "redacted_thinking", "data", sig)
		return outBlock{whole: whole, start: whole, size: len(text), thinks: true}, sig
	}
	shown := text
	if s.omitted {
		shown = ""
	}
	out := outBlock{
		whole:  object("type", "thinking", "thinking", shown, "signature", sig),
		start:  object("type", "thinking", "thinking", "", "signature", ""),
		size:   len(text),
		thinks: true,
	}
	for _, p := range cutText(shown, chunk) {
		out.deltas = append(out.deltas, object("type", "thinking_delta", "thinking", p))
	}
	out.deltas = append(out.deltas, object("type", "signature_delta", "signature", sig))
	return out, sig
}

func composeTool(b Block, chunk, cut int) outBlock {
	input := string(b.Input)
	if input == "" {
		input = "{}"
	}
	pieces := b.Chunks
	if len(pieces) == 0 {
		pieces = cutText(input, chunk)
		if input == "{}" {
			pieces = nil // the API sends no delta for a call without parameters
		}
	}
	text := strings.Join(pieces, "")
	if cut >= 0 && cut < len(text) {
		text = text[:cut]
		pieces = cutText(text, chunk)
	}
	whole := func(input string) []byte {
		return object("type", "tool_use", "id", b.ID, "name", b.Tool, "input", json.RawMessage(input))
	}
	out := outBlock{whole: whole("{}"), start: whole("{}"), size: len(text) + len(b.Tool)}
	for _, p := range pieces {
		out.deltas = append(out.deltas, object("type", "input_json_delta", "partial_json", p))
	}
	if json.Valid([]byte(text)) {
		out.whole = whole(text)
	}
	return out
}

// cutText cuts text into pieces of about n bytes, never inside a character.
func cutText(text string, n int) []string {
	if n <= 0 {
		n = defaultChunk
	}
	var out []string
	for len(text) > n {
		end := n
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}
