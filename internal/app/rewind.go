package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lathe/internal/checkpoint"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

// What is put back by a rewind.
const (
	backFiles        = "files"
	backConversation = "conversation"
	backBoth         = "both"
)

// rewindRequest is the payload of the queries rewind and rewind_files.
type rewindRequest struct {
	Prompt string `json:"user_message_id"`
	What   string `json:"what"` // conversation, files or both
	DryRun bool   `json:"dry_run"`
	Force  bool   `json:"force"` // files that somebody else changed too
}

// rewound is the answer to a rewind. Its first fields are those that SDK hosts know.
type rewound struct {
	CanRewind    bool     `json:"canRewind"`
	Error        string   `json:"error,omitempty"`
	FilesChanged []string `json:"filesChanged,omitzero"` // absolute
	Insertions   int      `json:"insertions"`
	Deletions    int      `json:"deletions"`
	SkippedLinks int      `json:"skippedLinks,omitempty"` // not for a dry run

	Skipped   []leftOut `json:"skipped,omitempty"`   // links in the way
	Conflicts []leftOut `json:"conflicts,omitempty"` // changed by somebody else
	Lost      []leftOut `json:"lost,omitempty"`      // what they were was not kept
	Failed    []leftOut `json:"failed,omitempty"`    // could not be changed
	Unwatched []leftOut `json:"unwatched,omitempty"` // directories in which commands may have changed more
	Undo      string    `json:"undo,omitempty"`      // user_message_id that takes the change of files back
	Prompt    string    `json:"prompt,omitempty"`    // text of the prompt that the conversation went back to
	LeftOut   int       `json:"messagesLeftOut,omitempty"`
}

type leftOut struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// point is one entry of the list of checkpoints.
type point struct {
	ID         string    `json:"user_message_id"`
	Time       time.Time `json:"time"`
	Text       string    `json:"text"`
	Files      []string  `json:"files"` // changed by the turn, absolute
	Insertions int       `json:"insertions"`
	Deletions  int       `json:"deletions"`
	HasFiles   bool      `json:"has_checkpoint"`      // files can be put back to before it
	RewindTo   string    `json:"rewind_to,omitempty"` // it is no prompt but a rewind, which can be taken back
}

// queryRewind answers the queries about going back.
func (r *run) queryRewind(ctx context.Context, kind string, payload json.RawMessage) (any, error) {
	if kind == "checkpoints" {
		list, err := r.points(nil)
		isRewind := func(p point) bool { return p.RewindTo != "" }
		rewinds := slices.DeleteFunc(slices.Clone(list), func(p point) bool { return !isRewind(p) })
		return map[string]any{"checkpoints": slices.DeleteFunc(list, isRewind), "rewinds": rewinds, "filesKept": r.checkpoints.Load() != nil}, err
	}
	var in rewindRequest
	if err := json.Unmarshal(payload, &in); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	if kind == "rewind_files" {
		in.What = backFiles
	}
	var out rewound
	do := func() (err error) {
		out, err = r.rewind(ctx, nil, in)
		return err
	}
	var err error
	if in.DryRun {
		err = do()
	} else {
		err = r.session.Between(ctx, do)
	}
	if errors.Is(err, checkpoint.ErrUnknown) {
		return rewound{Error: err.Error()}, nil
	}
	return out, err
}

// rewind goes back to before a prompt. t is the running turn where a slash command asks.
func (r *run) rewind(ctx context.Context, t *turn.Turn, in rewindRequest) (rewound, error) {
	what := cmp.Or(in.What, backBoth)
	if !slices.Contains([]string{backFiles, backConversation, backBoth}, what) {
		return rewound{}, fmt.Errorf("what must be %s, %s or %s, not %q", backConversation, backFiles, backBoth, what)
	}
	earlier, all, err := r.history(t)
	if err != nil {
		return rewound{}, err
	}
	at := slices.IndexFunc(all, func(m msg.Message) bool { return m.ID == in.Prompt && isPrompt(m) })
	if at < 0 && what != backFiles {
		return rewound{}, fmt.Errorf("there is no prompt %s in the conversation", in.Prompt)
	}
	out := rewound{CanRewind: true}
	plan := &checkpoint.Plan{}
	if what != backConversation {
		if plan, err = r.planBack(in.Prompt, in.Force); err != nil {
			return out, err
		}
		if !in.DryRun {
			if plan, err = r.putBack(ctx, in.Prompt, in.Force); err != nil {
				return out, err
			}
		}
		out.tell(plan, in.DryRun)
	}
	if what == backFiles {
		if in.DryRun || len(plan.Changes) == 0 {
			return out, nil
		}
		return out, r.session.Note(t, r.rewindNote(what, nil, plan))
	}
	out.LeftOut = len(all) - at
	out.Prompt, _ = msg.Typed(all[at].Text())
	if in.DryRun {
		return out, nil
	}
	after := ""
	if at > 0 {
		after = all[at-1].ID
	}
	note := r.rewindNote(what, r.stillChanged(all[at:]), plan)
	if _, err = r.session.Rewind(t, earlier, after, note); err != nil {
		if len(plan.Changes) > 0 {
			err = fmt.Errorf("the files were put back (/rewind undo takes that back), but the conversation was not: %w", err)
		}
		return out, err
	}
	r.seenAgain(all[:at:at], plan.Changes)
	return out, nil
}

// tell fills in what becomes of files.
func (out *rewound) tell(p *checkpoint.Plan, dry bool) {
	out.FilesChanged, out.Undo = p.Files(), p.Undo
	out.Insertions, out.Deletions = p.Lines()
	list := func(cs []checkpoint.Change) (l []leftOut) {
		for _, c := range cs {
			l = append(l, leftOut{c.Path, c.Why})
		}
		return l
	}
	out.Unwatched = list(p.Blind)
	out.Skipped, out.Conflicts, out.Lost, out.Failed = list(p.Skipped), list(p.Conflicts), list(p.Lost), list(p.Failed)
	if !dry {
		out.SkippedLinks = len(p.Skipped)
	}
	if len(p.Failed) > 0 && len(out.FilesChanged) == 0 {
		out.CanRewind, out.Error = false, "no file could be put back: "+p.Failed[0].Why
	}
}

// history is the whole conversation, and the part of it that is not in memory.
func (r *run) history(t *turn.Turn) (earlier, all []msg.Message, err error) {
	messages := r.session.Messages()
	if t != nil {
		messages = t.Messages
	}
	if earlier, err = r.conv.Earlier(); err != nil {
		return nil, nil, err
	}
	if len(earlier) > 0 && len(messages) > 0 && slices.ContainsFunc(messages, func(m msg.Message) bool { return m.ID == earlier[0].ID }) {
		earlier = nil // a rewind has brought it back already
	}
	return earlier, once(slices.Concat(earlier, messages)), nil
}

// once leaves of the messages that stand twice, since an undone compaction brought them back, the later ones.
func once(all []msg.Message) []msg.Message {
	seen := map[string]bool{}
	out := make([]msg.Message, 0, len(all))
	for _, m := range slices.Backward(all) {
		if m.ID == "" || !seen[m.ID] {
			seen[m.ID] = true
			out = append(out, m)
		}
	}
	slices.Reverse(out)
	return out
}

// isPrompt reports whether a message is one that a person or a host wrote.
func isPrompt(m msg.Message) bool {
	return m.Kind == msg.KindUser && !m.Meta && !m.Sidechain && m.SourceAssistant == "" && !msg.IsInterruptNote(m) &&
		!slices.ContainsFunc(m.Blocks, func(b msg.Block) bool { return b.Type == msg.TypeToolResult })
}

// stillChanged lists the files that calls in these messages changed.
func (r *run) stillChanged(messages []msg.Message) []string {
	store := r.checkpoints.Load()
	if store == nil {
		return nil
	}
	points, err := store.Points()
	if err != nil {
		return nil
	}
	ids := map[string]bool{}
	for _, m := range messages {
		ids[m.ID] = true
	}
	var out []string
	for _, p := range points {
		if !ids[p.ID] {
			continue
		}
		for _, f := range p.Files {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	slices.Sort(out)
	return out
}

// namedFiles is how many files a reminder names.
const namedFiles = 40

// rewindNote tells the model what was gone back to. touched are the files that the part of the conversation which is
// left out had changed; files are put back where the plan is not nil.
func (r *run) rewindNote(what string, touched []string, p *checkpoint.Plan) msg.Message {
	var b strings.Builder
	list := func(title string, paths []string) {
		if len(paths) == 0 {
			return
		}
		b.WriteString(title)
		for i, path := range paths {
			if i == namedFiles {
				fmt.Fprintf(&b, "  and %d more\n", len(paths)-i)
				break
			}
			fmt.Fprintf(&b, "  %s\n", r.tools.workspace.Rel(path))
		}
	}
	switch what {
	case backConversation:
		b.WriteString("The user took the conversation back to this point; what followed is not part of it any more. Files stayed as they are.\n")
		list("These were changed by what followed, so they may differ from what you know:\n", touched)
	case backBoth:
		b.WriteString("The user took the conversation back to this point, and the files with it; what followed is undone. Read a file again before you edit it.\n")
	default:
		b.WriteString("The user had files put back to what they were before an earlier prompt. That is intended: do not make the undone changes again " +
			"unless you are asked to, and read a file again before you edit it.\n")
		list("Put back:\n", p.Files())
	}
	var left []string
	for _, c := range slices.Concat(p.Conflicts, p.Skipped, p.Lost, p.Failed) {
		left = append(left, c.Path)
	}
	list("These could not be put back and are as they were left:\n", left)
	const source = "rewind"
	return msg.Message{
		Kind: msg.KindAttachment, Source: source, Key: r.place.Sys.NewID(), Meta: true,
		Blocks: []msg.Block{msg.Context(source, b.String())},
	}
}

// points lists what one can go back to, oldest first.
func (r *run) points(t *turn.Turn) ([]point, error) {
	_, all, err := r.history(t)
	if err != nil {
		return nil, err
	}
	kept := map[string]checkpoint.Point{}
	out := []point{}
	if store := r.checkpoints.Load(); store != nil {
		list, err := store.Points()
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			kept[p.ID] = p
			if p.RewindTo != "" {
				out = append(out, point{ID: p.ID, Time: p.At, RewindTo: p.RewindTo, Files: p.Files, Insertions: p.Added, Deletions: p.Removed, HasFiles: true})
			}
		}
	}
	for _, m := range all {
		if !isPrompt(m) {
			continue
		}
		p, ok := kept[m.ID]
		typed, _ := msg.Typed(m.Text())
		e := point{ID: m.ID, Time: m.Time, Text: typed, Files: []string{}, HasFiles: ok}
		if ok {
			e.Files, e.Insertions, e.Deletions = p.Files, p.Added, p.Removed
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b point) int { return a.Time.Compare(b.Time) })
	return out, nil
}
