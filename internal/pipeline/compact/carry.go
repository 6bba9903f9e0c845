package compact

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/turn"
)

// sourceCarried marks copies of what stood before a boundary.
const sourceCarried = "carried"

const todoHead = "The to-do list as it stands; keep it up to date:\n"

// The budgets of what is carried over a compaction.
const (
	filesMost   = 5
	fileTokens  = 5_000  // of one file
	filesTokens = 25_000 // of all, and a tenth of the window at most
)

// carried is what follows a boundary.
type carried struct {
	messages []msg.Message
	told     string // what was left out and what was kept, for the person
}

// metadata is what a boundary tells of its compaction, under compactMetadata.
type metadata struct {
	Trigger string `json:"trigger"`
	Pre     int    `json:"preTokens"`
	Post    int    `json:"postTokens"`
	// Carried names the messages behind the boundary that replace what stood before it.
	Carried   []string `json:"carriedUuids,omitempty"`
	Lost      *losses  `json:"lost,omitempty"`
	Preserved *struct {
		Anchor string   `json:"anchorUuid"`
		UUIDs  []string `json:"uuids"`
	} `json:"preservedMessages,omitempty"`
}

// carry builds what follows the boundary. The order is fixed: summary, rules, pins, skills, files, lists, what waits for an
// answer.
func (s *Stage) carry(ctx context.Context, t *turn.Turn, v sight, text, trigger string) carried {
	c := v.set.Counter
	kept, names := s.keep(v)
	room := v.limit*8/10 - v.set.Overhead - c.Messages(kept)
	text = cutTokens(text, max(min(20_000, room*2/3), 500), c.Text)
	summary := msg.Message{Kind: msg.KindSummary, Meta: true, Blocks: []msg.Block{msg.Text(s.summaryMessage(v, text))}}
	room -= c.Messages([]msg.Message{summary})
	skills := v.skills(room)
	files := s.files(ctx, v, room-c.Messages(skills))
	lists := s.lists(t)
	out := append([]msg.Message{summary}, kept[:names.fixed]...)
	out = slices.Concat(out, skills, files, lists)
	out = append(out, kept[names.fixed:]...)

	bound := msg.Message{ID: s.deps.NewID(), Kind: msg.KindSystem, Subtype: msg.SubCompactBoundary, Level: "info", Blocks: []msg.Block{msg.Text("Conversation compacted")}}
	meta := metadata{Trigger: trigger, Pre: v.size, Post: v.sizeWith(c.Messages(out)), Lost: v.losses()}
	for i := range out {
		out[i].ID = s.deps.NewID()
		meta.Carried = append(meta.Carried, out[i].ID)
	}
	out[0].Source, out[0].Key = "compact", bound.ID
	bound.Extra, _ = json.Marshal(map[string]metadata{"compactMetadata": meta}) // a struct of numbers and strings
	return carried{messages: append([]msg.Message{bound}, out...), told: told(meta, len(skills), len(files), len(lists), names)}
}

// sizeWith is the size of the context when messages of n tokens, by our own count, take the place of the view. The size that
// the provider counted stays the measure: two counts cannot be compared.
func (v sight) sizeWith(n int) int {
	return max(v.size-v.set.Counter.Messages(v.view)+n, n)
}

// keptNames counts what is kept word for word; fixed is how many of it stand before the files.
type keptNames struct{ fixed, rules, pins, open int }

// keep copies what must survive word for word: rules, how things stand, pins; and what waits for an answer, with the
// context that was attached to it and not seen yet.
func (s *Stage) keep(v sight) (out []msg.Message, n keptNames) {
	at := map[string]int{}
	stands := standing(v.view)
	for i, m := range v.view {
		rule := isRule(m)
		if !rule && !stands[i] {
			continue
		}
		id := m.Source + " " + m.Key
		if rule && strings.HasPrefix(m.Key, "start ") { // each replaces the one before
			id = m.Source + " start"
		}
		if i, ok := at[id]; ok {
			out[i] = again(m)
			continue
		}
		at[id] = len(out)
		out = append(out, again(m))
		if rule {
			n.rules++
		}
	}
	for _, text := range pinsIn(v.view, v.set) {
		m := attachment(sourcePins, text, "The user pinned this. It counts until they say otherwise:\n"+text)
		out = append(out, m)
		n.pins++
	}
	n.fixed = len(out)
	fresh := 0
	for i, m := range v.view {
		if m.Kind == msg.KindAssistant {
			fresh = i + 1
		}
	}
	waits := unanswered(v.view)
	for i, m := range v.view {
		open := i >= waits && typed(m)
		if !open && (i < fresh || m.Kind != msg.KindAttachment || protected(m, v.set) || latestCounts(m) || m.Source == "todo") {
			continue
		}
		c := again(m)
		if open {
			c.Source, c.Key = sourceCarried, m.ID
		}
		out = append(out, c)
		n.open++
	}
	return out, n
}

// again is a copy to append.
func again(m msg.Message) msg.Message {
	return msg.Message{Kind: m.Kind, Blocks: m.Blocks, Source: m.Source, Key: m.Key, Meta: m.Meta}
}

func attachment(source, key, text string) msg.Message {
	return msg.Message{
		Kind: msg.KindAttachment, Source: source, Key: key, Meta: true,
		Blocks: []msg.Block{msg.Context(source, text)},
	}
}

// summaryMessage words the summary for the model. The last request stands in it word for word when it was answered
// already; one that was not follows by itself.
func (s *Stage) summaryMessage(v sight, text string) string {
	var b strings.Builder
	b.WriteString("The conversation so far was replaced by this summary of it.")
	if s.deps.Transcript != nil {
		if path := s.deps.Transcript(); path != "" {
			fmt.Fprintf(&b, " All of it is still in %s (JSON lines); search there for a detail that is missing here.", path)
		}
	}
	b.WriteString("\n\n<summary>\n" + text + "\n</summary>")
	waits := unanswered(v.view)
	last, open := "", false
	for i, m := range v.view {
		if typed(m) {
			last, open = m.Text(), i >= waits
		}
	}
	switch {
	case open:
		b.WriteString("\n\nWhat the user asked for and has no answer yet follows word for word. Go on with it from where the summary ends; do not begin again.")
	case last != "":
		b.WriteString("\n\nThe user's last request, which was answered:\n" + clipLines(last, 4000))
	}
	return b.String()
}

// files reads the files that were used last again.
func (s *Stage) files(ctx context.Context, v sight, room int) []msg.Message {
	if s.deps.ReadFile == nil {
		return nil
	}
	c := v.set.Counter
	budget := min(filesTokens, v.info.Window/10, room)
	var out []msg.Message
	for _, path := range recentFiles(v.view) {
		if len(out) == filesMost || budget < 200 {
			break
		}
		text, err := s.deps.ReadFile(ctx, path)
		if err != nil || strings.TrimSpace(text) == "" {
			continue
		}
		text = cutTokens(text, min(fileTokens, budget-100), c.Text)
		m := attachment("file", path, path+", read again after the conversation was compacted:\n"+text)
		budget -= c.Messages([]msg.Message{m})
		out = append(out, m)
	}
	return out
}

// recentFiles are the paths that the calls of the view name, the newest first.
func recentFiles(view []msg.Message) []string {
	var out []string
	for _, m := range slices.Backward(view) {
		for _, b := range slices.Backward(m.Blocks) {
			if b.Type != msg.TypeToolUse || b.Name != "Read" && b.Name != "Edit" && b.Name != "Write" {
				continue
			}
			var in struct {
				File string `json:"file_path"`
			}
			if json.Unmarshal(b.Input, &in) == nil && in.File != "" && !slices.Contains(out, in.File) {
				out = append(out, in.File)
			}
		}
	}
	return out
}

// lists are the to-do list and what runs in the background.
func (s *Stage) lists(t *turn.Turn) []msg.Message {
	var out []msg.Message
	if s.deps.Todos != nil {
		if text := s.deps.Todos(); text != "" {
			out = append(out, attachment("todo", fmt.Sprintf("%s %d", t.ID, t.Step), todoHead+text))
		}
	}
	if s.deps.Tasks != nil {
		if text := s.deps.Tasks(); text != "" {
			out = append(out, attachment("task_context", "after a compaction", text))
		}
	}
	return out
}

// cutTokens cuts a text to about n tokens, at the end of a line, and says so.
func cutTokens(text string, n int, count func(string) int) string {
	have := count(text)
	if have <= n {
		return text
	}
	text = strings.ToValidUTF8(text, "?")
	const note = "\n[cut here]"
	for have > n && text != "" {
		keep := cutHead(text, max(0, int(float64(chars(text))*float64(n)/float64(have)*0.95)-8))
		if len(keep) >= len(text) {
			break
		}
		text, have = keep, count(keep+note)
	}
	return text + note
}

// clipLines cuts a text to n characters.
func clipLines(text string, n int) string {
	if chars(text) <= n {
		return text
	}
	return cutHead(text, n) + "\n[cut here]"
}
