package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/place"
	"lathe/internal/session"
	"lathe/internal/session/jsonl"
)

const sessionsUsage = `usage:
  lathe sessions [TEXT] [--all] [--json]   sessions of this directory (of all: --all), the newest first; with TEXT those that hold it`

// sessionsCommand lists sessions.
func sessionsCommand(args []string, st Streams) error {
	q := sessionQuery{}
	asJSON := false
	for _, a := range args {
		switch {
		case a == "--all":
			q.All = true
		case a == "--json":
			asJSON = true
		case strings.HasPrefix(a, "-") || q.Query != "":
			return errors.New(sessionsUsage)
		default:
			q.Query = a
		}
	}
	p, err := findPlace(&options{})
	if err != nil {
		return err
	}
	list, err := sessions(context.Background(), p, q)
	if err != nil {
		return err
	}
	if asJSON {
		for _, s := range list {
			fmt.Fprintf(st.Out, "%s\n", event.Encode(s))
		}
		return nil
	}
	fmt.Fprintln(st.Out, sessionRows(list, q, p.Sys.Now()))
	return nil
}

// sessionQuery says which sessions are meant. It is the payload of the query "sessions".
type sessionQuery struct {
	Query string `json:"query"` // text that the session holds; empty: all
	All   bool   `json:"all"`   // of all directories
	Limit int    `json:"limit"` // 0: 100
}

// sessionInfo is one session of a list.
type sessionInfo struct {
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

// sessions lists sessions, the newest first. Text is looked for in titles, ids and first prompts, then in what was said.
func sessions(ctx context.Context, p *place.Place, q sessionQuery) ([]sessionInfo, error) {
	store := jsonl.Store{StateDir: p.Sys.Dirs.State, Project: p.ProjectName()}
	metas, err := store.List(p.Sys.Dirs.Work)
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
	out := []sessionInfo{}
	for _, m := range metas {
		if len(out) == limit || ctx.Err() != nil {
			break
		}
		s := sessionInfo{
			ID: m.ID, Title: m.Title, Prompt: m.Prompt, Dir: m.Dir, Branch: m.Branch, Created: m.Created, Modified: m.Modified, Path: m.Path, Headless: m.Headless,
		}
		if info, err := os.Stat(m.Path); err == nil {
			s.Size = info.Size()
		}
		ok := true
		if q.Query != "" {
			s.Match, ok = matches(m, q.Query)
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

// sessionRows writes a list for people.
func sessionRows(list []sessionInfo, q sessionQuery, now time.Time) string {
	if len(list) == 0 {
		if q.Query != "" {
			return fmt.Sprintf("No session holds %q.", q.Query)
		}
		return "No sessions yet."
	}
	var b strings.Builder
	for _, s := range list {
		mark := " "
		if s.Current {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s %s  %8s  %7s  %s\n", mark, s.ID, age(now.Sub(s.Modified)), bytesText(s.Size), or(oneLine(first(s.Title, s.Prompt), 70), "(no prompt)"))
		if q.All && s.Dir != "" {
			fmt.Fprintf(&b, "    %s\n", s.Dir)
		}
		if s.Match != "" && s.Match != s.Title && s.Match != s.Prompt && s.Match != s.ID {
			fmt.Fprintf(&b, "    … %s\n", oneLine(s.Match, 100))
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

func bytesText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.0f kB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1_000_000)
}

// sessionsText lists the sessions of this directory.
func (r *run) sessionsText(ctx context.Context, text string) (string, error) {
	q := sessionQuery{Query: text, Limit: 30}
	list, err := r.listSessions(ctx, q)
	if err != nil {
		return "", err
	}
	out := sessionRows(list, q, r.place.Sys.Now())
	if len(list) > 0 {
		out += "\n/resume ID goes on with one of them."
	}
	return out, nil
}

func (r *run) listSessions(ctx context.Context, q sessionQuery) ([]sessionInfo, error) {
	list, err := sessions(ctx, r.place, q)
	for i := range list {
		list[i].Current = list[i].ID == r.conv.log.ID()
	}
	return list, err
}

// preview is what a picker shows of a session: its last messages in words.
type preview struct {
	Messages int           `json:"messages"`
	Last     []previewLine `json:"last"`
}

type previewLine struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

const (
	previewLines = 12
	previewChars = 400
	previewFrom  = 64 << 20 // a larger file is not read for a preview
)

// previewSession reads the end of a session for a picker.
func (r *run) previewSession(_ context.Context, ref string) (preview, error) {
	meta, err := findSession(r.place, ref)
	if err != nil {
		return preview{}, err
	}
	if info, err := os.Stat(meta.Path); err != nil || info.Size() > previewFrom {
		return preview{Last: []previewLine{}}, err
	}
	state, err := jsonl.Read(meta.Path, "")
	if err != nil {
		return preview{}, err
	}
	out := preview{Messages: len(state.Messages), Last: []previewLine{}}
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

func previewOf(m msg.Message) (previewLine, bool) {
	if m.Meta || m.Kind != msg.KindUser && m.Kind != msg.KindAssistant {
		return previewLine{}, false
	}
	text, _ := msg.Typed(m.Text())
	if text = strings.TrimSpace(text); text == "" {
		return previewLine{}, false
	}
	if r := []rune(text); len(r) > previewChars {
		text = string(r[:previewChars]) + "…"
	}
	return previewLine{string(m.Kind), text}, true
}

// pickerQueries are what a screen asks to let a person choose: commands, files, sessions.
func (r *run) pickerQueries() map[string]answer {
	return map[string]answer{
		"memory_files": on(func(context.Context, nothing) (any, error) { return map[string]any{"files": r.memoryFiles()}, nil }),
		"diff":         on(func(ctx context.Context, _ nothing) (any, error) { return r.changes(ctx, r.session.Messages()) }),
		"export": on(func(context.Context, nothing) (any, error) {
			text, err := r.exportText(nil)
			return map[string]any{"text": text}, err
		}),
		"commands":         on(func(context.Context, nothing) (any, error) { return map[string]any{"commands": r.commandMenu()}, nil }),
		"file_suggestions": on(func(ctx context.Context, q suggestQuery) (any, error) { return r.suggestFiles(ctx, q) }),
		"sessions": on(func(ctx context.Context, q sessionQuery) (any, error) {
			list, err := r.listSessions(ctx, q)
			return map[string]any{"sessions": list}, err
		}),
		"session_preview": on(func(ctx context.Context, in struct {
			ID string `json:"session_id"`
		},
		) (any, error) {
			return r.previewSession(ctx, in.ID)
		}),
	}
}
