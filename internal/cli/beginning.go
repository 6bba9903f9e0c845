package cli

import (
	"context"
	"sync"

	"lathe/internal/event"
	"lathe/internal/msg"
)

// beginning puts the initial prompt of an agent before the first prompt of a host.
type beginning struct {
	event.Conn
	mu    sync.Mutex
	first string
}

// Send implements event.Conn.
func (b *beginning) Send(ctx context.Context, op event.Op) error {
	if p, ok := op.(event.Prompt); ok {
		b.mu.Lock()
		first := b.first
		b.first = ""
		b.mu.Unlock()
		op = behind(first, p)
	}
	return b.Conn.Send(ctx, op)
}

// behind is a prompt with a text before it.
func behind(text string, p event.Prompt) event.Prompt {
	switch {
	case text == "":
	case p.Text != "":
		p.Text = text + "\n\n" + p.Text
		switch {
		case p.Typed < 0:
			p.Typed = len(text) + 2
		case p.Typed > 0:
			p.Typed += len(text) + 2
		}
	case len(p.Blocks) > 0:
		p.Blocks = append([]msg.Block{msg.Text(text)}, p.Blocks...)
	default:
		p.Text = text
	}
	return p
}
