package normalize

import (
	"encoding/json"
	"fmt"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/price"
	"lathe/internal/provider"
)

var testTools = []string{"Bash", "Read"}

func testRules() Rules {
	return Rules{Model: price.Default().Info("opus"), Tools: testTools, System: 2, Static: 1}
}

func requestOf(messages []provider.Message, bps []provider.Breakpoint) *provider.Request {
	req := &provider.Request{
		Model: "m", MaxTokens: 1000, Messages: messages, Breakpoints: bps,
		System: []msg.Block{msg.Text("static"), msg.Text("dynamic")},
	}
	for _, n := range testTools {
		req.Tools = append(req.Tools, msg.ToolDef{Name: n, InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	return req
}

// tinyPNG is an image of one pixel.
const tinyPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func user(blocks ...msg.Block) msg.Message {
	return msg.Message{Kind: msg.KindUser, Blocks: blocks}
}

func attachment(s string) msg.Message {
	return msg.Message{Kind: msg.KindAttachment, Blocks: []msg.Block{msg.Text(s)}}
}

func answer(id string, blocks ...msg.Block) msg.Message {
	return msg.Message{Kind: msg.KindAssistant, APIID: id, Blocks: blocks}
}

func thinking(s, sig string) msg.Block {
	return msg.Block{Type: msg.TypeThinking, Text: s, Signature: sig}
}

func use(id string) msg.Block { return msg.ToolUse(id, "Bash", json.RawMessage(`{"command":"x"}`)) }

func result(id, s string) msg.Block { return msg.ToolResult(id, false, msg.Text(s)) }

func raw(s string) msg.Block {
	var b msg.Block
	if err := json.Unmarshal([]byte(s), &b); err != nil {
		panic(err)
	}
	b.Raw = json.RawMessage(s)
	return b
}

// short writes messages in one line each: U or A, then the blocks.
func short(ms []provider.Message) []string {
	var out []string
	for _, m := range ms {
		parts := []string{strings.ToUpper(string(m.Role[:1]))}
		for _, b := range m.Content {
			parts = append(parts, shortBlock(b))
		}
		out = append(out, strings.Join(parts, " | "))
	}
	return out
}

func shortBlock(b msg.Block) string {
	switch b.Type {
	case msg.TypeText:
		for name, text := range map[string]string{
			"<continue>": fillerContinue, "<start>": fillerStart, "<no text>": noText,
			"<gone>": goneImage, "<lost>": lostResult,
		} {
			if b.Text == text {
				return name
			}
		}
		return b.Text
	case msg.TypeThinking:
		return "think " + b.Text
	case msg.TypeToolUse:
		return fmt.Sprintf("use %s %s %s", b.ID, b.Name, b.Input)
	case msg.TypeToolResult:
		s := "result " + b.ToolUseID
		if b.IsError {
			s += " error"
		}
		for _, c := range b.Content {
			s += " " + shortBlock(c)
		}
		return s
	}
	return b.Type
}
