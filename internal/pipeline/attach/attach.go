package attach

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

// deadline is how long the sources of one pass may take together.
const deadline = 2 * time.Second

// Item is one thing to attach.
type Item struct {
	Key    string // what exactly it is; the same key is attached once
	Text   string
	Blocks []msg.Block // instead of Text; the texts among them are framed each
	User   bool        // a person's own words (a queued prompt), not context
	ID     string      // uuid, for a queued prompt
	// Take is called right before the item is attached, and takes it from where it waited; false: it is gone from there.
	// What waits is lost with no interrupt. Nil: nothing is taken.
	Take func() bool
}

// Source is one kind of context.
type Source struct {
	Name   string
	Budget int // bytes of text a pass; longer texts are cut, and said so
	// When says whether the source has anything to look at in this pass. It must be quick.
	When func(t *turn.Turn, seen Seen) bool
	// Collect returns what to attach. It must not change the turn.
	Collect func(ctx context.Context, t *turn.Turn, seen Seen) ([]Item, error)
}

// Seen tells what was attached before, by source and key.
type Seen map[string]map[string]bool

// Has reports whether the key was attached by the source.
func (s Seen) Has(source, key string) bool { return s[source][key] }

// Any reports whether the source attached anything.
func (s Seen) Any(source string) bool { return len(s[source]) > 0 }

// New returns the stage. The sources' order is the order of what is attached.
func New(sources ...Source) func(context.Context, *turn.Turn) error {
	behind := map[int]*work{} // by source: what missed an earlier deadline
	return func(ctx context.Context, t *turn.Turn) error {
		seen := seenIn(t.Messages)
		limited, cancel := context.WithTimeout(ctx, deadline)
		defer cancel()
		snapshot := *t // sources that are left behind must not see the turn change
		var active []*work
		for i, s := range sources {
			w := behind[i]
			if w == nil && (s.When == nil || s.When(t, seen)) {
				w = start(limited, i, s, &snapshot, seen)
			}
			if w != nil {
				active = append(active, w)
			}
		}
		results := make([]collected, len(active))
		for i, w := range active {
			results[i] = w.wait(limited)
			if behind[w.index] = w; w.ended {
				delete(behind, w.index)
			}
		}
		// What was collected is attached after an interrupt, too: its sources take it for told. Only the person's own words
		// wait for a turn that answers them.
		interrupted := ctx.Err() != nil
		if err := appendAll(t, active, results, seen, interrupted); err != nil || !interrupted {
			return err
		}
		return context.Cause(ctx)
	}
}

type collected struct {
	items []Item
	err   error
}

// work is a source that collects. One that misses the deadline, or is not ready when the user interrupts, is left behind, and
// is not started again before it has ended; what it brings comes with a later pass.
type work struct {
	Source
	index int
	done  chan collected
	left  bool // behind
	late  bool // it missed a deadline, which was told: no pass waits for it any more
	ended bool
}

func start(ctx context.Context, index int, s Source, t *turn.Turn, seen Seen) *work {
	w := &work{Source: s, index: index, done: make(chan collected, 1)}
	go func() {
		defer func() {
			if p := recover(); p != nil {
				w.done <- collected{err: fmt.Errorf("failed inside: %v", p)}
			}
		}()
		items, err := s.Collect(ctx, t, seen)
		w.done <- collected{items, err}
	}()
	return w
}

// wait returns what the source has collected by the deadline. Of one that came late, that its time was over is not
// told again.
func (w *work) wait(ctx context.Context) collected {
	var got collected
	select {
	case got = <-w.done:
		w.ended = true
	default:
		if w.late {
			return collected{}
		}
		select {
		case got = <-w.done:
			w.ended = true
		case <-ctx.Done():
			w.left, w.late = true, errors.Is(ctx.Err(), context.DeadlineExceeded)
			return collected{err: fmt.Errorf("took longer than %s", deadline)}
		}
	}
	if w.left && (errors.Is(got.err, context.DeadlineExceeded) || errors.Is(got.err, context.Canceled)) {
		got.err = nil
	}
	return got
}

func appendAll(t *turn.Turn, active []*work, results []collected, seen Seen, interrupted bool) error {
	for i, s := range active {
		r := results[i]
		if r.err != nil && !interrupted {
			t.Note("%s: %v", s.Name, r.err)
			if err := t.Emit(event.Notice{Level: "warning", Text: fmt.Sprintf("context source %s: %v", s.Name, r.err)}); err != nil {
				return err
			}
		}
		left := s.Budget
		for _, item := range r.items {
			if item.User && interrupted || !item.User && seen.Has(s.Name, item.Key) || item.Take != nil && !item.Take() {
				continue
			}
			if err := t.Append(message(s.Source, item, &left)); err != nil {
				return err
			}
			t.Note("attached %s %s", s.Name, item.Key)
		}
	}
	return nil
}

func message(s Source, item Item, left *int) msg.Message {
	if item.User {
		return msg.Message{ID: item.ID, Kind: msg.KindUser, Blocks: item.Blocks}
	}
	blocks := item.Blocks
	if blocks == nil {
		blocks = []msg.Block{msg.Text(item.Text)}
	}
	m := msg.Message{Kind: msg.KindAttachment, Source: s.Name, Key: item.Key, Meta: true}
	for _, b := range blocks {
		if b.Type == msg.TypeText {
			b = msg.Context(s.Name, cut(b.Text, left))
		}
		m.Blocks = append(m.Blocks, b)
	}
	return m
}

// cut keeps a text within what is left of the budget.
func cut(text string, left *int) string {
	text = strings.TrimRight(text, "\n")
	if *left <= 0 || len(text) <= *left {
		*left = max(1, *left-len(text))
		return text
	}
	end := *left
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	*left = 1
	return fmt.Sprintf("%s\n[cut here: %d of %d bytes shown]", text[:end], end, len(text))
}

// seenIn finds what the conversation has attached so far. After a compaction the count starts anew, because
// what stood before the boundary is no longer sent.
func seenIn(messages []msg.Message) Seen {
	seen := Seen{}
	for _, m := range messages {
		if m.Kind == msg.KindSystem && m.Subtype == msg.SubCompactBoundary {
			seen = Seen{}
		}
		if m.Kind != msg.KindAttachment {
			continue
		}
		if seen[m.Source] == nil {
			seen[m.Source] = map[string]bool{}
		}
		seen[m.Source][m.Key] = true
	}
	return seen
}
