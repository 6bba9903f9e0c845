package app

import (
	"strings"
	"sync"
	"time"

	"lathe/internal/event"
	"lathe/internal/hook"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

// displayPause is how long the lines of an answer are gathered at least before hooks see them, after those before.
const displayPause = 100 * time.Millisecond

// display is what hooks of MessageDisplay have made of the answer of a turn.
type display struct {
	mu    sync.Mutex
	id    string // of the message that comes; "": none
	index int    // of the next piece
	said  strings.Builder
	shown strings.Builder // said, in the words of the hooks
	line  string          // what came since, without the end of its line
	last  time.Time
	turn  string
	words [][2]string // of the turn's finished messages: as they were said, and as they are shown
}

// displays reports whether a hook may change what is shown of an answer.
func (h *hooks) displays() bool { return h.bus.Has(hook.MessageDisplay, "") }

// displayPart gives hooks the lines of an answer while it comes, and returns what is shown of a piece of text: nothing,
// until a line is whole. id is that of the message that it belongs to.
func (h *hooks) displayPart(t *turn.Turn, id, text string) string {
	d := &h.shown
	d.mu.Lock()
	defer d.mu.Unlock()
	d.enter(t.ID)
	if d.id != id {
		d.begin(id)
	}
	d.line += text
	end := strings.LastIndexByte(d.line, '\n') + 1
	now := h.r.place.Sys.Now()
	if end == 0 || !d.last.IsZero() && now.Sub(d.last) < displayPause {
		return ""
	}
	lines := d.line[:end]
	d.line = d.line[end:]
	out := h.flush(t, lines, false)
	d.last = h.r.place.Sys.Now()
	return out
}

// displayed lets hooks see the rest of an answer's text, and returns the message in their words.
func (h *hooks) displayed(t *turn.Turn, m msg.Message) msg.Message {
	text := m.Text()
	if m.Kind != msg.KindAssistant || m.APIError != "" || text == "" || !h.displays() {
		return m
	}
	d := &h.shown
	d.mu.Lock()
	defer d.mu.Unlock()
	d.enter(t.ID)
	rest, begun := strings.CutPrefix(text, d.said.String())
	if d.id != m.ID || !begun { // it did not come in pieces, or other words are kept
		d.begin(m.ID)
		rest = text
	}
	h.flush(t, rest, true)
	shown := d.shown.String()
	d.begin("")
	d.words = append(d.words, [2]string{text, shown})
	if shown == text {
		return m
	}
	return reworded(m, shown)
}

// displayedResult puts the words of hooks beside those of a result.
func (h *hooks) displayedResult(r event.Result) event.Result {
	h.shown.mu.Lock()
	defer h.shown.mu.Unlock()
	text := r.Text
	for _, w := range h.shown.words {
		text = strings.Replace(text, w[0], w[1], 1)
	}
	if text != r.Text {
		r.Shown = &text
	}
	return r
}

// enter forgets another turn. The caller holds the lock, as that of the next two.
func (d *display) enter(turn string) {
	if d.turn != turn {
		d.turn, d.words = turn, nil
		d.begin("")
	}
}

func (d *display) begin(id string) {
	d.id, d.index, d.line, d.last = id, 0, "", time.Time{}
	d.said.Reset()
	d.shown.Reset()
}

// flush tells hooks of a piece and returns it in their words.
func (h *hooks) flush(t *turn.Turn, piece string, final bool) string {
	d := &h.shown
	ctx, cancel := untilInterrupted(h.ctx, t)
	defer cancel()
	o, _ := h.fire(ctx, t, hook.Payload{Event: hook.MessageDisplay, Fields: map[string]any{
		"turn_id": t.ID, "message_id": d.id, "index": d.index, "final": final, "delta": piece,
	}})
	d.index++
	d.said.WriteString(piece)
	if o.Display != nil {
		piece = *o.Display
	}
	d.shown.WriteString(piece)
	return piece
}
