package tui

import (
	"context"
	"sync"

	"lathe/internal/event"
)

// inboxLimit is how many events may wait for the loop; a session that has more waits itself.
const inboxLimit = 1024

// inbox holds events until the next picture is made. Deltas come a thousand a second, and to wake the loop for each would
// cost more than all that is done with them.
type inbox struct {
	mu   sync.Mutex
	list []event.Envelope
	text int           // bytes of an answer in it
	soon bool          // it holds more than an answer that goes on
	wake chan struct{} // capacity 1: there is something
	room chan struct{} // capacity 1: the list was taken
}

func newInbox() *inbox {
	return &inbox{wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// frameText is how much of an answer is worth a picture of its own. A picture costs some twenty bytes beside the text, which
// counts on a slow line.
const frameText = 128

// hurry reports whether what waits should be shown with the next picture; b.mu is held.
func (b *inbox) hurry() bool { return b.soon || b.text >= frameText }

// hurries reports the same to the loop.
func (b *inbox) hurries() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.hurry()
}

// put adds an event. It reports false when ctx has ended.
func (b *inbox) put(ctx context.Context, env event.Envelope) bool {
	for {
		b.mu.Lock()
		full := len(b.list) >= inboxLimit
		first := len(b.list) == 0
		relaxed := !b.hurry()
		if !full {
			b.list = append(b.list, env)
			if e, ok := env.Event.(event.Stream); ok {
				b.text += len(e.Text)
			} else {
				b.soon = true
			}
		}
		hurry := relaxed && b.hurry()
		b.mu.Unlock()
		if first || full || hurry {
			select {
			case b.wake <- struct{}{}:
			default:
			}
		}
		if !full {
			return ctx.Err() == nil
		}
		select {
		case <-b.room:
		case <-ctx.Done():
			return false
		}
	}
}

// take empties the inbox; spare is a list to go on with.
func (b *inbox) take(spare []event.Envelope) []event.Envelope {
	b.mu.Lock()
	out := b.list
	b.list, b.text, b.soon = spare[:0], 0, false
	b.mu.Unlock()
	select {
	case b.room <- struct{}{}:
	default:
	}
	return out
}
