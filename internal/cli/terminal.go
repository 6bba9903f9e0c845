package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"lathe/internal/app"
	"lathe/internal/config"
	"lathe/internal/event"
	"lathe/internal/front/tui"
	"lathe/internal/front/tui/term"
	"lathe/internal/sys"
)

// guardName is the hidden first argument of the process that restores the terminal after a crash.
const guardName = "__terminal-guard"

// wantsTerminal reports whether the program was started by a person at a terminal who wants its screen.
func wantsTerminal(o *flags, st Streams) bool {
	return !o.Print && o.outputFormat == "text" && o.inputFormat == "text" && !o.Stages && o.rewindFiles == "" && !o.verbose && term.Is(st.In, st.Out)
}

// screen is the program while the terminal interface has it.
type screen struct {
	o  *flags
	st Streams

	mu  sync.Mutex
	now *app.Session
}

// runTerminal shows the terminal interface. Its first picture stands before anything is read; the session is built
// behind it.
func runTerminal(o *flags, st Streams) int {
	if err := app.Resumable(o.Options); err != nil {
		return report(st, err)
	}
	s := &screen{o: o, st: st}
	in, out := st.In.(*os.File), st.Out.(*os.File)
	opts := tui.Options{
		In: in, Out: out, Version: sys.Version, Cwd: shownDir(), Getenv: os.Getenv, Now: time.Now, Prompt: o.Prompt, Images: o.images,
		Pick: o.pick, Fork: o.Fork, Reader: o.reader, Fullscreen: o.fullscreen, Start: s.start, Die: s.die,
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
	greyLines(left.Summary, os.Getenv, st)
	for _, l := range left.Goodbye {
		fmt.Fprintln(st.Out, event.InertLine(l))
	}
	if left.Demo {
		return report(st, demoCommand(nil, st))
	}
	return left.Code
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
	now := s.now
	s.mu.Unlock()
	if now != nil {
		die(now, code)
	}
	os.Exit(code)
}

// start builds a session for the screen.
func (s *screen) start(ctx context.Context, req tui.Start) (*tui.Session, error) {
	o := *s.o
	o.Asks, o.Entry, o.Calls = true, app.EntryTerminal, tui.Calls
	switch {
	case req.Resume != "":
		o.Resume, o.Continue, o.Fork, o.SessionID = req.Resume, false, req.Fork, ""
	case req.Fresh:
		o.Resume, o.Continue, o.Fork, o.SessionID = "", false, false, ""
	}
	if req.Model != "" {
		o.Model = req.Model
	}
	if err := s.trust(&o, req); err != nil {
		return nil, err
	}
	live, err := o.open(Streams{Err: &noticeWriter{tell: req.Notice}})
	if errors.Is(err, app.ErrNoKey) {
		return nil, tui.NoKey{Text: app.ErrNoKey.Error()}
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.now = live
	s.mu.Unlock()
	conn, p := live.Start(ctx), live.Place()
	sum := sha256.Sum256([]byte(p.Sys.Dirs.Work))
	out := &tui.Session{
		Conn: conn, ID: live.ID(), Resumed: live.Resumed(), Model: live.Model(), Mode: live.Mode(),
		Settings: screenSettings(live), StateDir: p.Sys.Dirs.State, Key: hex.EncodeToString(sum[:8]), Redact: p.Redact.String,
		Summary: live.Summary,
		Close: func() {
			live.Disconnect()
			s.mu.Lock()
			s.now = nil
			s.mu.Unlock()
			live.Close()
		},
	}
	if !req.Fresh {
		out.First = live.First()
	}
	if !live.Kept() {
		out.StateDir, out.ID = "", ""
	}
	out.Messages = live.Shown()
	if len(out.Messages) > manyMessages { // what reading them took is given back
		go debug.FreeOSMemory()
	}
	return out, nil
}

// manyMessages is the length of a conversation from which the memory that reading it took is worth giving back.
const manyMessages = 500

// trust asks about the folder, where its files would grant or run anything, before any of that is used.
func (s *screen) trust(o *flags, req tui.Start) error {
	p, err := o.FindPlace()
	if err != nil || p.Counts() || len(p.Grants) == 0 {
		return err
	}
	list := config.NewTrust(p.Sys.Dirs.State)
	entry, known := list.Get(p.TrustKey)
	home := func(path string) string { return homeShort(path, p.Sys.Dirs.Home) }
	q := tui.Trust{Dir: home(p.TrustKey), Changed: known && !entry.Rules}
	parts := config.Parts(p.Grants)
	q.Gone = entry.Seen.Mark(parts, p.TrustKey)
	for _, g := range parts {
		q.Grants = append(q.Grants, tui.Grant{Name: g.Name, Text: g.Text, File: home(g.File), Line: g.Line, State: g.State})
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
func screenSettings(s *app.Session) tui.Settings {
	p, more := s.Place(), s.Screen()
	st := p.Settings
	out := tui.Settings{
		Theme: st.String("theme", "", false), Fullscreen: st.String("tui", "", false) == "fullscreen", Vim: st.String("editorMode", "", false) == "vim",
		ReducedMotion: st.Bool("prefersReducedMotion", false), NoHighlight: st.Bool("syntaxHighlightingDisabled", false),
		Notify: st.String("preferredNotifChannel", "auto", false), ShowDuration: st.Bool("showTurnDuration", false),
		ViewMode:  st.String("viewMode", "", false),
		CanBypass: more.CanBypass, Keybindings: more.Keybindings,
		StatusLine: more.StatusLine, StatusPadding: more.StatusPadding, StatusEvery: more.StatusEvery,
	}
	if name, ok := strings.CutPrefix(out.Theme, "custom:"); ok && !strings.ContainsAny(name, `/\:`) {
		if b, err := os.ReadFile(filepath.Join(p.Sys.Dirs.Config, "themes", name+".json")); err == nil {
			out.CustomTheme = b
		} else {
			s.Warn(err.Error())
		}
	}
	return out
}

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
