package find

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/session"
	"lathe/internal/session/jsonl"
)

// Query says which sessions are meant. It is the payload of the query "sessions".
type Query struct {
	Text  string `json:"query"` // text that the session holds; empty: all
	All   bool   `json:"all"`   // of all directories
	Limit int    `json:"limit"` // 0: 100
}

// Info is one session of a list.
type Info struct {
	ID       string    `json:"session_id"`
	Title    string    `json:"title,omitempty"`
	Prompt   string    `json:"prompt,omitempty"` // the first one, shortened
	Dir      string    `json:"cwd,omitempty"`
	Branch   string    `json:"branch,omitempty"`
	Created  time.Time `json:"created"`
	Modified time.Time `json:"modified"`
	Size     int64     `json:"size"` // bytes of its file
	Path     string    `json:"path"`
	Headless bool      `json:"headless,omitempty"`
	Current  bool      `json:"current,omitempty"` // it is the one that asks
	Match    string    `json:"match,omitempty"`   // where the text was found
}

// List lists the sessions of a directory, the newest first. Text is looked for in titles, ids and first prompts, then in
// what was said.
func List(ctx context.Context, store jsonl.Store, dir string, q Query) ([]Info, error) {
	metas, err := store.List(dir)
	if q.All {
		metas, err = store.ListAll()
	}
	if err != nil {
		return nil, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 100
	}
	out := []Info{}
	for _, m := range metas {
		if len(out) == limit || ctx.Err() != nil {
			break
		}
		s := Info{
			ID: m.ID, Title: m.Title, Prompt: m.Prompt, Dir: m.Dir, Branch: m.Branch, Created: m.Created, Modified: m.Modified, Path: m.Path, Headless: m.Headless,
		}
		if info, err := os.Stat(m.Path); err == nil {
			s.Size = info.Size()
		}
		ok := true
		if q.Text != "" {
			s.Match, ok = matches(m, q.Text)
		}
		if ok {
			out = append(out, s)
		}
	}
	return out, ctx.Err()
}

// matches looks for a text in a session, without regard to case.
func matches(m session.Meta, text string) (where string, ok bool) {
	want := strings.ToLower(text)
	for _, s := range []string{m.Title, m.Prompt, m.ID, m.Branch} {
		if strings.Contains(strings.ToLower(s), want) {
			return s, true
		}
	}
	return jsonl.Holds(m.Path, text)
}

// Rows writes a list for people.
func Rows(list []Info, q Query, now time.Time) string {
	if len(list) == 0 {
		if q.Text != "" {
			return fmt.Sprintf("No session holds %q.", q.Text)
		}
		return "No sessions yet."
	}
	var b strings.Builder
	for _, s := range list {
		mark := " "
		if s.Current {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s %s  %8s  %7s  %s\n", mark, s.ID, age(now.Sub(s.Modified)), event.Bytes(s.Size), cmp.Or(event.OneLine(cmp.Or(s.Title, s.Prompt), 70), "(no prompt)"))
		if q.All && s.Dir != "" {
			fmt.Fprintf(&b, "    %s\n", s.Dir)
		}
		if s.Match != "" && s.Match != s.Title && s.Match != s.Prompt && s.Match != s.ID {
			fmt.Fprintf(&b, "    … %s\n", event.OneLine(s.Match, 100))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// age is how long ago something was, in the largest whole unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}

// Named finds a session by what a person calls it; the newest of the directory when ref is empty.
func Named(store jsonl.Store, dir, ref string) (session.Meta, error) {
	if ref == "" {
		m, err := store.Latest(dir, true)
		if errors.Is(err, session.ErrNotFound) {
			return m, fmt.Errorf("there is no session in %s", dir)
		}
		return m, err
	}
	if strings.ContainsAny(ref, `/\`) && !filepath.IsAbs(ref) {
		ref = filepath.Join(dir, ref)
	}
	return store.Find(dir, ref)
}

// Preview is what a picker shows of a session: its last messages in words.
type Preview struct {
	Messages int    `json:"messages"`
	Last     []Line `json:"last"`
}

// Line is what one message says. Role is user or assistant.
type Line struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

const (
	previewLines = 12
	previewChars = 400
	previewFrom  = 64 << 20 // a larger file is not read for a preview
)

// Peek reads the end of a session for a picker.
func Peek(store jsonl.Store, dir, ref string) (Preview, error) {
	meta, err := Named(store, dir, ref)
	if err != nil {
		return Preview{}, err
	}
	if info, err := os.Stat(meta.Path); err != nil || info.Size() > previewFrom {
		return Preview{Last: []Line{}}, err
	}
	state, err := jsonl.Read(meta.Path, "")
	if err != nil {
		return Preview{}, err
	}
	out := Preview{Messages: len(state.Messages), Last: []Line{}}
	for _, m := range state.Messages {
		if line, ok := previewOf(m); ok {
			out.Last = append(out.Last, line)
		}
	}
	if n := len(out.Last); n > previewLines {
		out.Last = out.Last[n-previewLines:]
	}
	return out, nil
}

func previewOf(m msg.Message) (Line, bool) {
	if m.Meta || m.Kind != msg.KindUser && m.Kind != msg.KindAssistant {
		return Line{}, false
	}
	text, _ := msg.Typed(m.Text())
	if text = strings.TrimSpace(text); text == "" {
		return Line{}, false
	}
	if r := []rune(text); len(r) > previewChars {
		text = string(r[:previewChars]) + "…"
	}
	return Line{string(m.Kind), text}, true
}
