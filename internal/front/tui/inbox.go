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
	wake chan struct{} // capacity 1: there is something
	room chan struct{} // capacity 1: the list was taken
}

func newInbox() *inbox {
	return &inbox{wake: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// put adds an event. It reports false when ctx has ended.
func (b *inbox) put(ctx context.Context, env event.Envelope) bool {
	for {
		b.mu.Lock()
		full := len(b.list) >= inboxLimit
		first := len(b.list) == 0
		if !full {
			b.list = append(b.list, env)
		}
		b.mu.Unlock()
		if first || full {
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
	b.list = spare[:0]
	b.mu.Unlock()
	select {
	case b.room <- struct{}{}:
	default:
	}
	return out
}
