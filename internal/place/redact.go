package place

import (
	"slices"

	"lathe/internal/msg"
	"lathe/internal/redact"
)

// newRedactor returns what takes secrets out of all that is kept. It knows the secrets of the environment, the
// settings' env blocks included. docs/adr/005-redaction.md says what is redacted and where.
func (p *Place) newRedactor() *redact.Redactor {
	r := redact.New(p.Settings.Granted("redactPatterns", true))
	r.Env(p.Sys.Environ())
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"} {
		r.Add(name, p.Sys.Getenv(name)) // whatever it looks like
	}
	r.Header(p.Sys.Getenv("ANTHROPIC_CUSTOM_HEADERS"))
	return r
}

// Clean redacts a message before it is stored, sent and shown, so that these three are the same bytes. It leaves alone
// what the person typed and what the model said: the first is theirs, and the second must be sent back as it came.
func (p *Place) Clean(m msg.Message) msg.Message {
	switch m.Kind {
	case msg.KindAssistant:
		if m.APIError != "" {
			m.Blocks = p.cleanBlocks(m.Blocks)
		}
	case msg.KindUser:
		if m.Meta {
			m.Blocks = p.cleanBlocks(m.Blocks)
			break
		}
		if slices.ContainsFunc(m.Blocks, isResult) {
			m.Blocks = slices.Clone(m.Blocks)
			for i, b := range m.Blocks {
				if isResult(b) {
					m.Blocks[i] = p.cleanBlock(b)
				}
			}
			m.ToolOutput = p.Redact.JSON(m.ToolOutput)
		}
	case msg.KindAttachment:
		m.Blocks = p.cleanBlocks(m.Blocks)
	case msg.KindSystem:
		m.Blocks, m.Extra = p.cleanBlocks(m.Blocks), p.Redact.JSON(m.Extra)
	case msg.KindSummary, msg.KindTombstone:
	}
	return m
}

func isResult(b msg.Block) bool { return b.Type == msg.TypeToolResult }

func (p *Place) cleanBlocks(blocks []msg.Block) []msg.Block {
	if len(blocks) == 0 {
		return blocks
	}
	out := slices.Clone(blocks)
	for i, b := range out {
		out[i] = p.cleanBlock(b)
	}
	return out
}

func (p *Place) cleanBlock(b msg.Block) msg.Block {
	b.Text = p.Redact.String(b.Text)
	b.Content = p.cleanBlocks(b.Content)
	b.Raw = p.Redact.JSON(b.Raw)
	if b.Source != nil && b.Source.Type == "text" {
		s := *b.Source
		s.Data = p.Redact.String(s.Data)
		b.Source = &s
	}
	return b
}
