package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"lathe/internal/config"
	"lathe/internal/event"
	"lathe/internal/front/tui"
	"lathe/internal/front/tui/term"
	"lathe/internal/msg"
)

// guardName is the hidden first argument of the process that restores the terminal after a crash.
const guardName = "__terminal-guard"

// wantsTerminal reports whether the program was started by a person at a terminal who wants its screen.
func wantsTerminal(o *options, st Streams) bool {
	return !o.print && o.outputFormat == "text" && o.inputFormat == "text" && !o.stages && o.rewindFiles == "" && !o.verbose && term.Is(st.In, st.Out)
}

// screenEntry is the entry point of sessions of the terminal interface.
const screenEntry = "cli"

// screen is the run of the program while the terminal interface has it.
type screen struct {
	o  *options
	st Streams

	mu  sync.Mutex
	run *run // the session of now
}

// runTerminal shows the terminal interface. Its first picture stands before anything is read; the session is built
// behind it.
func runTerminal(o *options, st Streams) int {
	if err := resumable(o); err != nil {
		return report(st, err)
	}
	s := &screen{o: o, st: st}
	in, out := st.In.(*os.File), st.Out.(*os.File)
	opts := tui.Options{
		In: in, Out: out, Version: Version, Cwd: shownDir(), Getenv: os.Getenv, Now: time.Now, Prompt: o.prompt, Images: o.images,
		Pick: o.pick, Fork: o.fork, Reader: o.reader, Fullscreen: o.fullscreen, Start: s.start, Die: s.die,
	}
	if self, err := exec.LookPath(os.Args[0]); err == nil { // as it was called, for programs of several names
		opts.Guard = []string{self, guardName}
	}
	left, err := tui.Run(context.Background(), opts)
	if err != nil {
		return report(st, err)
	}
	if left.Err != nil {
		return report(st, left.Err)
	}
	for _, l := range left.Goodbye {
		fmt.Fprintln(st.Out, event.InertLine(l))
	}
	if left.Demo {
		return report(st, demoCommand(nil, st))
	}
	return left.Code
}

// resumable says why the session that the command line names cannot be gone on with, before there is a screen.
func resumable(o *options) error {
	if !o.cont && o.resume == "" {
		return nil
	}
	p, err := findPlace(o)
	if err != nil {
		return err
	}
	_, err = namedSession(o, sessionStore(o, p, nil), sessionStart(p))
	return err
}

// shownDir is the working directory as people write it.
func shownDir() string {
	work, err := os.Getwd()
	if err != nil {
		return ""
	}
	if home, err := os.UserHomeDir(); err == nil {
		return homeShort(work, home)
	}
	return work
}

// homeShort is a path with the home directory as ~.
func homeShort(path, home string) string {
	if home != "" && home != "/" && (path == home || strings.HasPrefix(path, home+"/")) {
		return "~" + strings.TrimPrefix(path, home)
	}
	return path
}

// die ends the process at once, with every child. The terminal is in order already.
func (s *screen) die(code int) {
	s.mu.Lock()
	r := s.run
	s.mu.Unlock()
	if r != nil {
		r.die(code)
	}
	os.Exit(code)
}

// start builds a session for the screen.
func (s *screen) start(ctx context.Context, req tui.Start) (*tui.Session, error) {
	o := *s.o
	o.asks, o.entry, o.canCall = true, screenEntry, tui.Calls
	switch {
	case req.Resume != "":
		o.resume, o.cont, o.fork, o.sessionID = req.Resume, false, req.Fork, ""
	case req.Fresh:
		o.resume, o.cont, o.fork, o.sessionID = "", false, false, ""
	}
	if req.Model != "" {
		o.model = req.Model
	}
	if err := s.trust(&o, req); err != nil {
		return nil, err
	}
	r, err := newRun(&o, Streams{In: s.st.In, Out: discard{}, Err: &noticeWriter{tell: req.Notice}})
	if errors.Is(err, errNoKey) {
		return nil, tui.NoKey{Text: errNoKey.Error()}
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.run = r
	s.mu.Unlock()
	live := r.connect(ctx)
	sum := sha256.Sum256([]byte(r.place.Sys.Dirs.Work))
	out := &tui.Session{
		Conn: live.Conn, ID: r.conv.log.ID(), Resumed: r.conv.resumed, Model: r.session.Model(), Mode: r.session.Mode(),
		Settings: r.screenSettings(), StateDir: r.place.Sys.Dirs.State, Key: hex.EncodeToString(sum[:8]), Redact: r.place.Redact.String,
		Close: func() {
			live.disconnect()
			s.mu.Lock()
			s.run = nil
			s.mu.Unlock()
			r.close()
		},
	}
	if !req.Fresh {
		out.First = r.initialPrompt()
	}
	if keepsNothing(&o, r.place) {
		out.StateDir, out.ID = "", ""
	}
	out.Messages = r.shownMessages()
	if len(out.Messages) > manyMessages { // what reading them took is given back
		go debug.FreeOSMemory()
	}
	return out, nil
}

// manyMessages is the length of a conversation from which the memory that reading it took is worth giving back.
const manyMessages = 500

// shownMessages are the messages of the conversation that a person sees.
func (r *run) shownMessages() []msg.Message {
	out := []msg.Message{}
	for _, m := range r.session.Messages() {
		if !m.Meta && !m.Sidechain && m.Kind != msg.KindAttachment {
			out = append(out, m)
		}
	}
	return out
}

// trust asks about the folder, where its files would grant or run anything, before any of that is used.
func (s *screen) trust(o *options, req tui.Start) error {
	p, err := findPlace(o)
	if err != nil || p.Counts() || len(p.Grants) == 0 {
		return err
	}
	list := config.NewTrust(p.Sys.Dirs.State)
	entry, known := list.Get(p.TrustKey)
	home := func(path string) string { return homeShort(path, p.Sys.Dirs.Home) }
	q := tui.Trust{Dir: home(p.TrustKey), Changed: known && !entry.Rules}
	for _, g := range p.Grants {
		q.Grants = append(q.Grants, tui.Grant{Key: g.Key, Text: g.Text, File: home(g.File), Line: g.Line})
	}
	switch req.Trust(q) {
	case tui.TrustYes:
		return p.Approve(list)
	case tui.TrustQuit:
		return tui.ErrQuit
	}
	return nil
}

// screenSettings are the settings that concern the screen.
func (r *run) screenSettings() tui.Settings {
	st := r.place.Settings
	out := tui.Settings{
		Theme: st.String("theme", "", false), Fullscreen: st.String("tui", "", false) == "fullscreen", Vim: st.String("editorMode", "", false) == "vim",
		ReducedMotion: st.Bool("prefersReducedMotion", false), NoHighlight: st.Bool("syntaxHighlightingDisabled", false),
		Notify: st.String("preferredNotifChannel", "auto", false), ShowDuration: st.Bool("showTurnDuration", false),
		ViewMode:  st.String("viewMode", "", false),
		CanBypass: r.mayBypass(),
	}
	if name, ok := strings.CutPrefix(out.Theme, "custom:"); ok && !strings.ContainsAny(name, `/\:`) {
		if b, err := os.ReadFile(filepath.Join(r.place.Sys.Dirs.Config, "themes", name+".json")); err == nil {
			out.CustomTheme = b
		} else {
			r.warn(err.Error())
		}
	}
	out.Keybindings = r.keybindings()
	if line := r.statusLine(); line.Command != "" {
		out.StatusLine, out.StatusPadding = true, max(0, line.Padding)
		if line.Refresh >= 1 {
			out.StatusEvery = time.Duration(line.Refresh * float64(time.Second))
		}
	}
	return out
}

// discard takes what is written for nobody.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// noticeWriter makes notices of what is said on standard error.
type noticeWriter struct {
	mu   sync.Mutex
	rest string
	tell func(level, text string)
}

func (w *noticeWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	w.rest += string(p)
	var lines []string
	for {
		l, rest, ok := strings.Cut(w.rest, "\n")
		if !ok {
			break
		}
		w.rest = rest
		lines = append(lines, strings.TrimPrefix(l, "lathe: "))
	}
	w.mu.Unlock()
	for _, l := range lines {
		go w.tell("warning", l) // whoever writes must not wait for the screen, which may wait for it
	}
	return len(p), nil
}

// screenQueries are what only the terminal interface asks, and nobody else is answered: a person sits before it, so
// nothing of it is under the rules.
func (r *run) screenQueries() map[string]answer {
	if r.o.entry != screenEntry {
		return nil
	}
	out := map[string]answer{
		"save_setting": on(func(_ context.Context, in struct {
			Key   string          `json:"key"`
			Value json.RawMessage `json:"value"`
		},
		) (any, error) {
			if in.Key == "outputStyle" {
				return nothing{}, r.saveStyleValue(in.Value)
			}
			if err := checkSetting(in.Key, in.Value); err != nil {
				return nil, err
			}
			return nothing{}, config.Set(r.userSettings(), in.Key, in.Value) // it is taken up with the next call
		}),
		"screen_status":   on(func(context.Context, nothing) (any, error) { return r.screenStatus(), nil }),
		"screen_messages": on(func(context.Context, nothing) (any, error) { return r.shownMessages(), nil }),
		"take_queued": on(func(context.Context, nothing) (any, error) {
			ids := []string{}
			for _, p := range r.session.TakeQueued() {
				ids = append(ids, p.ID)
			}
			return map[string]any{"ids": ids}, nil
		}),
		"open_address": on(func(ctx context.Context, in struct {
			URL string `json:"url"`
		},
		) (any, error) {
			return nothing{}, openBrowser(ctx, &r.procs, r.place.Sys.Environ(), in.URL)
		}),
		"keybindings": on(func(context.Context, nothing) (any, error) { return map[string]any{"file": r.keybindings()}, nil }),
		"tasks":       on(func(context.Context, nothing) (any, error) { return map[string]any{"tasks": r.screenTasks()}, nil }),
		"task_text": on(func(_ context.Context, in struct {
			ID string `json:"task_id"`
		},
		) (any, error) {
			return r.taskOutput(in.ID)
		}),
		"stop_agents": on(func(context.Context, nothing) (any, error) { return map[string]int{"stopped": r.stopAgents()}, nil }),
		"status_line": r.runStatusLine,
		"shell":       r.runShell,
	}
	maps.Copy(out, r.switchQueries())
	return out
}

func (r *run) screenStatus() map[string]any {
	model := r.session.Model()
	return map[string]any{
		"branch": r.branch(), "cost": r.ledger.Totals().Cost, "window": r.prices.Info(model).Window, "mode": r.session.Mode(), "model": model,
	}
}
