package compact

import (
	"context"
	"errors"
	"slices"

	"lathe/internal/msg"
	"lathe/internal/turn"
)

// Reduce makes the conversation smaller because the provider refused it or the answer ran into the end of the window:
// by a summary, or where that fails by cutting the middle. It reports whether anything changed, and writes View. What
// may not be compacted is not. counted is the size of the request in tokens where the provider said it, else 0.
func (s *Stage) Reduce(ctx context.Context, t *turn.Turn, counted int) (bool, error) {
	v := s.look(t)
	defer func() { t.View = v.view }()
	if !s.Reducible(t) {
		return false, nil
	}
	if counted > 0 { // the provider has counted better than we did
		v.size = counted
	}
	before := v.set.Counter.Messages(v.view)
	_, err := s.summarise(ctx, t, &v, triggerAuto, "")
	var stop *turn.Stop
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case errors.As(err, &stop):
		return false, err
	case errors.Is(err, errBlocked):
		s.blocked = t.ID
		return false, err
	}
	if err := s.failed(t, err); err != nil {
		return false, err
	}
	v.set.Target = min(v.set.Target, (before+v.set.Overhead)*6/10)
	done, err := s.mechanical(t, &v, true)
	return done || v.set.Counter.Messages(v.view) < before, err
}

// Reducible reports whether Reduce may do something, and has enough to do it with.
func (s *Stage) Reducible(t *turn.Turn) bool {
	return s.auto() && s.blocked != t.ID && s.look(t).compactable() >= minSaving
}

// ReduceMedia replaces all images and documents of the conversation by a text, because the provider refused the
// request for their size or number. It reports whether anything changed, and writes View.
func (s *Stage) ReduceMedia(_ context.Context, t *turn.Turn) (bool, error) {
	v := s.look(t)
	defer func() { t.View = v.view }()
	first := slices.IndexFunc(v.view, holdsMedia)
	if first < 0 {
		return false, nil
	}
	e := Edit{Step: "media", Media: true, Thinking: study(v.view, v.set).thinkingAfter(first)}
	out, r := report(v.view, e, v.set)
	if r.FirstChanged < 0 {
		return false, nil
	}
	p := Price{Saved: r.TokensBefore - r.TokensAfter, First: r.FirstChanged, Forced: true}
	if err := s.take(t, &v, out, r, p, "The provider refused the request for its images and documents."); err != nil {
		return false, err
	}
	return true, nil
}

func holdsMedia(m msg.Message) bool {
	isMedia := func(b msg.Block) bool { return b.Type == msg.TypeImage || b.Type == msg.TypeDocument }
	return m.ForModel() && slices.ContainsFunc(m.Blocks, func(b msg.Block) bool {
		return isMedia(b) || b.Type == msg.TypeToolResult && slices.ContainsFunc(b.Content, isMedia)
	})
}
