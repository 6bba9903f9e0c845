package compact

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

//go:embed summary.md
var summaryPrompt string

// The triggers of a compaction.
const (
	triggerAuto   = "auto"
	triggerManual = "manual"
	triggerUndo   = "undo"
)

// errBlocked says that a hook did not want the compaction.
var errBlocked = errors.New("a PreCompact hook blocked the compaction")

// forced makes room because the view has reached the limit: by the mechanical steps where they are cheaper than a
// summary and make room enough, else by a summary; and when there is none to be had, by cutting the middle.
func (s *Stage) forced(ctx context.Context, t *turn.Turn, v *sight) error {
	if s.blocked == t.ID {
		return nil
	}
	if v.compactable() < max(minSaving, v.limit/20) {
		return s.tellFull(t, *v)
	}
	done, err := s.mechanical(t, v, false)
	if err != nil || done {
		return err
	}
	_, err = s.summarise(ctx, t, v, triggerAuto, "")
	switch {
	case err == nil:
		return s.refilled(t, *v)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errBlocked):
		s.blocked = t.ID
		return t.Emit(event.Notice{Level: "warning", Text: err.Error() + "; the conversation stays as it is for this turn"})
	}
	var stop *turn.Stop
	if errors.As(err, &stop) {
		return err
	}
	if err := s.failed(t, err); err != nil {
		return err
	}
	_, err = s.mechanical(t, v, true)
	return err
}

// failed counts a failure and says so.
func (s *Stage) failed(t *turn.Turn, err error) error {
	g, kept := s.count(func(g *Guard) { g.Failures++ })
	if kept != nil {
		return kept
	}
	text := fmt.Sprintf("Automatic compaction failed (%v). The conversation is as it was; old messages are cut out of what is sent instead.", err)
	if g.Off() {
		text += fmt.Sprintf(" That was failure %d in a row: automatic compaction is off for this session. Use /compact to try again.", g.Failures)
	}
	t.Note("%s", text)
	return t.Emit(event.Notice{Level: "warning", Text: text})
}

// refilled notices compactions that do not help: three in a row, and they end.
func (s *Stage) refilled(t *turn.Turn, v sight) error {
	g, err := s.count(func(g *Guard) {
		g.Failures = 0
		if g.Refills++; v.size < v.limit {
			g.Refills = 0
		}
	})
	if err != nil {
		return err
	}
	if g.Off() {
		return t.Emit(event.Notice{Level: "warning", Text: "The context was full again at once after three compactions in a row: automatic compaction is off for this session. " + v.largest(t)})
	}
	if v.size >= v.limit {
		return s.tellFull(t, v)
	}
	return nil
}

// tellFull says, once, that no compaction can help, and what is too large.
func (s *Stage) tellFull(t *turn.Turn, v sight) error {
	text := fmt.Sprintf("The context is nearly full (about %d of %d tokens), and there is next to nothing to compact. %s", v.size, v.info.Window, v.largest(t))
	t.Note("%s", text)
	if s.told == t.Session+t.Model {
		return nil
	}
	s.told = t.Session + t.Model
	return t.Emit(event.Notice{Level: "warning", Text: text})
}

// largest names what takes the most room.
func (v sight) largest(t *turn.Turn) string {
	c := v.set.Counter
	parts := []string{
		fmt.Sprintf("system prompt %d", c.Blocks(t.System)), fmt.Sprintf("tools %d", c.Tools(t.Tools)),
	}
	rules, all, most := 0, 0, 0
	for _, m := range v.view {
		n := c.Messages([]msg.Message{m})
		all += n
		if m.Kind == msg.KindAttachment && m.Source == "memory" {
			rules += n
		} else {
			most = max(most, n)
		}
	}
	if rules > 0 {
		parts = append(parts, fmt.Sprintf("instruction files %d", rules))
	}
	parts = append(parts, fmt.Sprintf("other messages %d", all-rules), fmt.Sprintf("the largest of them %d", most))
	rest := ""
	if over := v.size - v.set.Overhead - all; over > v.size/4 {
		rest = fmt.Sprintf(" The provider counts %d more than that.", over)
	}
	return "In tokens, estimated: " + strings.Join(parts, ", ") + "." + rest
}

// compactable is how many tokens a compaction could take out.
func (v sight) compactable() int {
	n, waits := 0, unanswered(v.view)
	for i := range v.view {
		if v.goes(i, waits) {
			n += v.set.Counter.Messages(v.view[i : i+1])
		}
	}
	return n
}

// mechanical takes the steps that need no model. Unless last is set, it does so only when that makes room enough
// and costs less than a summary, over the calls that are expected.
func (s *Stage) mechanical(t *turn.Turn, v *sight, last bool) (done bool, err error) {
	for _, step := range s.steps {
		if (step.Name == "snip") != last {
			continue
		}
		set := v.set
		set.Running = 0 // a summary keeps what the running turn has found out
		out, r := step.Apply(v.view, set)
		if r.FirstChanged < 0 {
			continue
		}
		m := newMarket(*v, t.Model, t.Now(), s.cfg)
		m.calls = max(m.calls, 10)
		p := m.price(v.view, out, r, v.set)
		p.Forced, p.TurnStart, p.Summary = true, t.Step <= 1, m.summary(v.size)
		left := v.size - p.Saved
		ours := p.Rewrite + float64(left)*m.read*float64(m.calls)
		theirs := p.Summary + 15_000*m.read*float64(m.calls)
		yes := last || left <= v.limit*8/10 && ours < theirs
		why := "The window forces it."
		if !yes {
			why = "A summary makes more room or costs less."
		}
		t.Note("%s %s: %s. %s", step.Name, map[bool]string{true: "taken", false: "not taken"}[yes], p, why)
		if !yes {
			continue
		}
		if err := s.take(t, v, out, r, p, why); err != nil {
			return false, err
		}
		done = done || v.size < v.limit*8/10
	}
	return done, nil
}

// summarise has the model write a summary and puts it, with what is carried over word for word, behind a boundary. It returns what
// became of the conversation, in words, which the person has been told unless it was their command: that answers with it.
func (s *Stage) summarise(ctx context.Context, t *turn.Turn, v *sight, trigger, focus string) (string, error) {
	if s.deps.Before != nil {
		h := s.deps.Before(ctx, t, trigger, focus)
		if err := t.Append(h.Messages...); err != nil {
			return "", err
		}
		if h.Stop != nil {
			return "", h.Stop
		}
		if h.Blocked() {
			return "", fmt.Errorf("%w: %s", errBlocked, h.Decision.Reason)
		}
	}
	if err := t.Emit(event.Notice{Level: "info", Text: fmt.Sprintf("Compacting the conversation (about %d of %d tokens)", v.size, v.info.Window)}); err != nil {
		return "", err
	}
	text, err := s.ask(ctx, t, *v, focus)
	if err != nil {
		return "", err
	}
	made := s.carry(ctx, t, *v, text, trigger)
	if err := t.Append(made.messages...); err != nil {
		return "", err
	}
	if s.deps.After != nil {
		h := s.deps.After(ctx, t, trigger, text)
		if err := t.Append(h.Messages...); err != nil {
			return "", err
		}
	}
	t.Note("%s", made.told)
	if trigger != triggerManual {
		if err := t.Emit(event.Notice{Level: "info", Text: made.told}); err != nil {
			return "", err
		}
	}
	*v = s.look(t)
	return made.told, nil
}

// ask gets the summary. When the conversation does not fit with the question, the middle is left out of it.
func (s *Stage) ask(ctx context.Context, t *turn.Turn, v sight, focus string) (string, error) {
	instruction := strings.TrimSpace(summaryPrompt)
	if focus = strings.TrimSpace(focus); focus != "" {
		instruction += "\n\nThe user asks that the summary pay most attention to this:\n" + focus
	}
	text, err := s.deps.Summarise(ctx, t, v.view, instruction)
	if err != nil && ctx.Err() == nil && s.deps.TooLong != nil && s.deps.TooLong(err) {
		set := v.set
		set.Target = min(v.info.Window, set.Counter.Messages(v.view)+set.Overhead) / 2 // the window may be smaller than we know
		if short, r := Snip(v.view, set); r.FirstChanged >= 0 {
			t.Note("the conversation does not fit with the question for a summary: its middle is left out of that")
			text, err = s.deps.Summarise(ctx, t, short, instruction)
		}
	}
	if err != nil {
		return "", err
	}
	if text = summaryText(text); text == "" {
		return "", errors.New("the model wrote no summary")
	}
	return text, nil
}

// summaryText takes the part between the summary tags, or all of it where there are none.
func summaryText(answer string) string {
	if _, rest, ok := strings.Cut(answer, "<summary>"); ok {
		answer, _, _ = strings.Cut(rest, "</summary>")
	}
	return strings.TrimSpace(answer)
}
