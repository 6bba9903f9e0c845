package tui

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"lathe/internal/event"
	"lathe/internal/msg"
)

// Options are what the program starts the screen with; all of it is known before anything slow was done.
type Options struct {
	In, Out    *os.File
	Version    string
	Cwd        string // with the home directory as ~
	Getenv     func(string) string
	Now        func() time.Time
	Prompt     string   // to begin with
	Images     []string // paths, with it
	Pick       bool     // the person chooses a session to go on with
	Fork       bool     // … in a copy of it
	Fullscreen bool
	Reader     bool     // screen-reader mode: plain lines only
	Guard      []string // command of the process that restores the terminal after a crash
	// Start builds a session. It runs in a goroutine of its own while the screen stands already.
	Start func(ctx context.Context, s Start) (*Session, error)
	// Die ends the process at once, with every child, after the terminal was restored.
	Die func(code int)
}

// Start says which session is wanted, and how to ask and tell while it is built.
type Start struct {
	Resume string // id of a session; empty: as the command line says
	Fresh  bool   // a new session, whatever the command line says
	Fork   bool
	Model  string // empty: as the command line says
	// Trust asks the person whether the folder's files may count. It blocks until they answered.
	Trust  func(Trust) TrustAnswer
	Notice func(level, text string)
}

// Trust is what would count and run if the person trusts a folder.
type Trust struct {
	Dir     string
	Changed bool // it was trusted before, for other things
	Grants  []Grant
	Gone    []string // names of what was trusted and is not there any more
}

// Grant is one thing that a file gives or runs.
type Grant struct {
	Name, Text, File string // Text may be of several lines
	Line             int
	State            string // against what was trusted last: "", "new" or "changed"
}

// TrustAnswer is what the person said.
type TrustAnswer int

// The answers to a question of trust.
const (
	TrustNo   TrustAnswer = iota // go on without what the folder's files grant
	TrustYes                     // and remember it
	TrustQuit                    // end the program
)

// Session is a session that was built.
type Session struct {
	Conn     event.Conn
	Close    func()
	ID       string
	Resumed  bool
	Messages []msg.Message // of a resumed session
	First    string        // a prompt that the session begins with; the user's own follows behind it
	Model    string
	Mode     string
	Settings Settings
	StateDir string              // where drafts and history are kept
	Key      string              // of the directory, for drafts and history
	Redact   func(string) string // takes secrets out of what is kept
	Summary  func() []string     // what the session came to, in lines; may be nil
}

// Settings are those of the user's settings that concern the screen.
type Settings struct {
	Theme         string // a built-in name
	CustomTheme   json.RawMessage
	Fullscreen    bool
	Vim           bool
	Keybindings   []byte // of the user's file, nil if there is none
	ReducedMotion bool
	NoHighlight   bool
	Notify        string // preferredNotifChannel
	StatusLine    bool   // a command of the user's makes the status line
	StatusPadding int
	StatusEvery   time.Duration // 0: only when something changed
	ShowDuration  bool
	ViewMode      string
	CanBypass     bool // bypassPermissions is in the cycle of modes
}

// NoKey is the error of Start when no model can be called for want of a key; the screen offers the demo then.
type NoKey struct{ Text string }

func (e NoKey) Error() string { return e.Text }

// Outcome says how the screen was left.
type Outcome struct {
	Code    int
	Err     error    // no session could be built: it is for the shell, the screen has gone
	Demo    bool     // the person wants to see the demo
	Summary []string // what the session came to, to print in a quiet colour
	Goodbye []string // lines to print
}
