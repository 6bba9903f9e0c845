package token

import (
	"lathe/internal/msg"
)

// What the wire form adds to the content of a block, in tokens, fitted like the weights.
const (
	perCall   = 44
	perResult = 44
	perText   = 3
	perTool   = 30
	perTurn   = 4
)

// Counter estimates for one kind of model.
type Counter struct {
	New bool // the newer tokenizer: about 30 % more tokens, and larger images
}

// Text estimates the tokens of a text.
func (c Counter) Text(s string) int { return c.scale(Text(s)) }

func (c Counter) scale(n int) int {
	if c.New {
		return n + n*3/10
	}
	return n
}

// Block estimates the tokens of one content block.
func (c Counter) Block(b msg.Block) int {
	switch b.Type {
	case msg.TypeText:
		return perText + c.Text(b.Text)
	case msg.TypeThinking:
		if b.Text == "" {
			return hidden(b.Signature)
		}
		return perText + c.Text(b.Text)
	case msg.TypeRedactedThinking:
		return hidden(b.Data)
	case msg.TypeToolUse:
		return perCall + c.Text(b.Name) + c.scale(Text([]byte(b.Input)))
	case msg.TypeToolResult:
		return perResult + c.Blocks(b.Content)
	case msg.TypeImage, msg.TypeDocument:
		return c.media(b)
	}
	return perText + c.scale(Text([]byte(b.Raw)))
}

// hidden estimates thinking that came encrypted: base64 of about as many bytes as the text has.
func hidden(data string) int { return perText + len(data)*3/16 }

// Blocks estimates the tokens of several blocks.
func (c Counter) Blocks(bs []msg.Block) int {
	n := 0
	for _, b := range bs {
		n += c.Block(b)
	}
	return n
}

// Messages estimates the tokens of the messages that reach the model.
func (c Counter) Messages(ms []msg.Message) int {
	n := 0
	for _, m := range ms {
		if m.ForModel() && m.APIError == "" {
			n += perTurn + c.Blocks(m.Blocks)
		}
	}
	return n
}

// Tools estimates the tokens of tool definitions.
func (c Counter) Tools(defs []msg.ToolDef) int {
	n := 0
	for _, d := range defs {
		n += perTool + c.Text(d.Name) + c.Text(d.Description) + c.scale(Text([]byte(d.InputSchema)))
	}
	return n
}

// media estimates images by their size in pixels and documents by their size in bytes.
func (c Counter) media(b msg.Block) int {
	const guess = 1600
	s := b.Source
	switch {
	case s == nil:
		return guess
	case s.Type == "text":
		return c.Text(s.Data)
	case b.Type == msg.TypeImage:
		if w, h, ok := ImageSize(s.Data); ok {
			return c.Image(w, h)
		}
		return guess
	}
	const pageBytes, pageTokens = 40 << 10, 2500
	return pageTokens * (1 + len(s.Data)*3/4/pageBytes)
}

// Image is what an image of w × h pixels costs, after the provider scaled it down to what it looks at.
func (c Counter) Image(w, h int) int {
	edge, most := 1568, 1568
	if c.New {
		edge, most = 2576, 4784
	}
	if w <= 0 || h <= 0 {
		return 0
	}
	if long := max(w, h); long > edge {
		w, h = max(w*edge/long, 1), max(h*edge/long, 1)
	}
	return min((w+27)/28*((h+27)/28), most)
}
