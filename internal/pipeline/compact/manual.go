package compact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/token"
	"lathe/internal/tool"
	"lathe/internal/turn"
)

//lint:ignore ST1005 the documented wording
var errTooShort = errors.New("Not enough messages to compact.")

// Compact is what /compact does: a summary now, whatever the window says. It returns what to tell the person.
func (s *Stage) Compact(ctx context.Context, t *turn.Turn, focus string) (string, error) {
	if s.deps.Summarise == nil {
		return "", errors.New("compaction is switched off (DISABLE_COMPACT)")
	}
	v := s.look(t)
	if !enough(v.view) {
		return "", errTooShort
	}
	told, err := s.summarise(ctx, t, &v, triggerManual, focus)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	s.told = ""
	s.mu.Unlock()
	_, err = s.count(func(g *Guard) { *g = Guard{} })
	return told, err
}

// enough reports whether there was an answer since the last compaction.
func enough(view []msg.Message) bool {
	return slices.ContainsFunc(view, func(m msg.Message) bool { return m.Kind == msg.KindAssistant && m.APIError == "" })
}

// metadataOf reads what a boundary tells; ok is false for every other message.
func metadataOf(m msg.Message) (metadata, bool) {
	var x struct {
		Meta metadata `json:"compactMetadata"`
	}
	if m.Kind != msg.KindSystem || m.Subtype != msg.SubCompactBoundary || json.Unmarshal(m.Extra, &x) != nil {
		return metadata{}, false
	}
	return x.Meta, true
}

// Preview tells what a compaction would keep word for word, what the summary would stand for, and what the steps
// that need no model would save.
func (s *Stage) Preview(t *turn.Turn) (string, error) {
	v := s.look(t)
	if !enough(v.view) {
		return "", errTooShort
	}
	var b strings.Builder
	c := v.set.Counter
	fmt.Fprintf(&b, "Context: about %d of %d tokens; it is compacted by itself from %d on.\n\nA summary would stand for %s:\n", v.size, v.info.Window, v.limit, v.losses())
	waits := unanswered(v.view)
	for i, m := range v.view {
		if v.goes(i, waits) {
			fmt.Fprintf(&b, "  %7d  %s\n", c.Messages(v.view[i:i+1]), describe(m))
		}
	}
	kept, _ := s.keep(v)
	b.WriteString("Kept word for word:\n")
	for _, m := range kept {
		fmt.Fprintf(&b, "  %7d  %s\n", c.Messages([]msg.Message{m}), describe(m))
	}
	if len(kept) == 0 {
		b.WriteString("  nothing\n")
	}
	if files := recentFiles(v.view); len(files) > 0 {
		fmt.Fprintf(&b, "Read again, within a budget: %s\n", strings.Join(files[:min(len(files), filesMost)], ", "))
	}
	m := newMarket(v, t.Model, t.Now(), s.cfg)
	fmt.Fprintf(&b, "\nPrice of the summary: about $%.4f.\nSteps without a model:\n", m.summary(v.size))
	for _, step := range s.steps {
		set := v.set
		set.Target = v.size / 2
		out, r := step.Apply(v.view, set)
		if r.FirstChanged < 0 {
			fmt.Fprintf(&b, "  %s: nothing to do\n", step.Name)
			continue
		}
		fmt.Fprintf(&b, "  %s: %s\n", step.Name, m.price(v.view, out, r, set))
	}
	return b.String(), nil
}

// describe names a message in one line.
func describe(m msg.Message) string {
	var parts []string
	for _, b := range m.Blocks {
		switch b.Type {
		case msg.TypeText:
			parts = append(parts, clip(msg.ContextText(b.Text), 80))
		case msg.TypeToolUse:
			parts = append(parts, b.Name+" "+clip(inputText(b.Input), 60))
		case msg.TypeToolResult:
			parts = append(parts, "result: "+clip(msg.JoinText(b.Content), 60))
		default:
			parts = append(parts, b.Type)
		}
	}
	if m.Source == sourcePins {
		parts = []string{m.Key}
	}
	name := string(m.Kind)
	if m.Source != "" {
		name += " " + m.Source
	}
	return name + ": " + clip(strings.Join(parts, " · "), 120)
}

// Undo takes the last compaction back. A new boundary brings back the very messages that stood before it, and what
// came since; nothing is removed from what is stored.
func (s *Stage) Undo(t *turn.Turn) (string, error) {
	view, _ := Boundary(t.Messages, Settings{})
	at := slices.IndexFunc(view, func(m msg.Message) bool { return m.Kind == msg.KindSummary && m.Source == "compact" })
	if at < 0 {
		return "", errors.New("there is no compaction to undo in this conversation")
	}
	all, bound := t.Messages, indexOf(t.Messages, view[at].Key)
	if bound <= 0 && s.deps.Earlier != nil {
		earlier, err := s.deps.Earlier()
		if err != nil {
			return "", fmt.Errorf("read what stood before the compaction: %w", err)
		}
		all = append(slices.Clip(earlier), t.Messages...)
		bound = indexOf(all, view[at].Key)
	}
	if bound <= 0 {
		return "", errors.New("what stood before the compaction is not stored")
	}
	meta, _ := metadataOf(all[bound])
	before, _ := Boundary(all[:bound], Settings{})
	var since []msg.Message
	for _, m := range view {
		if !slices.Contains(meta.Carried, m.ID) {
			since = append(since, m)
		}
	}
	return s.restore(t, view, before, since, meta)
}

// restore appends the boundary that brings messages back in the place of view, and an edit that leaves out the thinking
// of what came since: it was made behind other messages.
func (s *Stage) restore(t *turn.Turn, view, before, since []msg.Message, was metadata) (string, error) {
	back := append(slices.Clip(before), since...)
	undo := metadata{Trigger: triggerUndo, Pre: was.Post, Post: was.Pre}
	m := msg.Message{ID: s.deps.NewID(), Kind: msg.KindSystem, Subtype: msg.SubCompactBoundary, Level: "info", Blocks: []msg.Block{msg.Text("Compaction undone")}}
	undo.Preserved = &struct {
		Anchor string   `json:"anchorUuid"`
		UUIDs  []string `json:"uuids"`
	}{Anchor: m.ID}
	for _, b := range back {
		undo.Preserved.UUIDs = append(undo.Preserved.UUIDs, b.ID)
	}
	var err error
	if m.Extra, err = json.Marshal(map[string]metadata{"compactMetadata": undo}); err != nil {
		return "", fmt.Errorf("undo a compaction: %w", err)
	}
	if err := t.Append(m); err != nil {
		return "", err
	}
	t.Messages = append(slices.Clip(t.Messages), back...)
	info := s.deps.Info(t.Model)
	c := token.Counter{New: info.NewTokenizer}
	e := Edit{Step: "undo", Why: "What came after the compaction was made behind a summary.", Saved: c.Messages(Edited(view)) - c.Messages(Edited(back))}
	for _, x := range since {
		if x.Kind == msg.KindAssistant {
			e.Thinking = x.ID
			break
		}
	}
	if e.Thinking != "" {
		record, err := e.record()
		if err != nil {
			return "", err
		}
		if err := t.Append(record); err != nil {
			return "", err
		}
	}
	text := fmt.Sprintf("The compaction is undone: %s sent again, about %d tokens.", tool.Count(len(before), "message is", "messages are"), was.Pre)
	if s.auto() && was.Pre >= s.cfg.Threshold(info.Window) {
		text += " The window is as full as it was, so the next prompt compacts it again unless autoCompactEnabled is false."
	}
	return text, nil
}
