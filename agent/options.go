package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"

	"lathe/internal/app"
	"lathe/internal/app/conversation"
	"lathe/internal/place"
	"lathe/internal/tool"
)

// Options are what a session begins with. The zero value is a session in the current directory, as lathe -p would
// begin one: nobody is asked, so what no rule allows is denied.
type Options struct {
	// Dir is the working directory; empty: the process's. More are directories that the session may work in, too.
	Dir  string
	More []string
	// StateDir is where sessions and state are kept; empty: LATHE_HOME, else ~/.lathe.
	StateDir string
	// Env are environment variables over the process's, for the session and the commands that it runs, such as
	// ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL.
	Env map[string]string

	// Model is an id or alias; empty: as settings and environment say. Fallback are used when it is overloaded.
	Model    string
	Fallback []string
	Effort   string // low, medium, high, xhigh, max
	// Replay answers from a recording (lathe --record FILE) and calls no model. Record writes one.
	Replay, Record string

	// SystemPrompt replaces the system prompt, where it is not nil. Append is added to it in any case.
	SystemPrompt *string
	Append       string

	// Mode is the permission mode: default, acceptEdits, plan, auto, dontAsk, bypassPermissions.
	Mode string
	// Allow and Deny are permission rules, such as "Bash(go test *)" or "Edit".
	Allow, Deny []string
	// Permission answers what would be asked. Nil: nobody is asked.
	Permission func(ctx context.Context, q Question) (Answer, error)
	// Ask answers questions of the model's own, which it then may ask (tool AskUserQuestion). Nil: it has no such tool.
	Ask func(ctx context.Context, questions []UserQuestion) (answers map[string]string, err error)
	// Hooks are called as things happen.
	Hooks []Hook

	// Builtin are the built-in tools to offer; nil: all, empty: none. Tools are the program's own.
	Builtin []string
	Tools   []Tool

	MaxTurns     int     // model calls of one prompt; 0: no limit
	MaxBudgetUSD float64 // 0: no limit
	// Schema is a JSON Schema, an object: the result then has a structured answer that fits it.
	Schema json.RawMessage

	// Resume is the id of a session to go on with. Continue takes the newest one of Dir. Fork goes on in a copy.
	Resume         string
	Continue, Fork bool
	// SessionID is the id of a new session, a UUID; empty: a random one.
	SessionID string
	// Store keeps sessions; nil: files below StateDir, as lathe does. NoPersist keeps nothing.
	Store     Store
	NoPersist bool

	// Settings is a settings file, or settings as JSON. Sources are the files that are read beside it, of user, project
	// and local; nil: all, empty: none. Trust lets the directory's own settings grant and run things.
	Settings string
	Sources  []string
	Trust    bool

	// Log is told what a person should know; nil: nobody.
	Log io.Writer
}

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// session are the options of a session that says no more than these do.
func (o Options) session() (app.Options, error) {
	a := app.Options{
		Options: place.Options{
			Dir: o.Dir, StateDir: o.StateDir, Env: maps.Clone(o.Env), Settings: o.Settings, Sources: o.Sources, Trust: o.Trust,
		},
		Which: conversation.Which{
			Resume: o.Resume, Continue: o.Continue, Fork: o.Fork, SessionID: o.SessionID, NoPersist: o.NoPersist, Store: o.Store,
			Entry: app.EntryLibrary,
		},
		Dirs: o.More, Model: o.Model, Fallback: o.Fallback, Effort: o.Effort, Replay: o.Replay, Record: o.Record,
		System: o.SystemPrompt, Append: o.Append, Mode: o.Mode, Allowed: o.Allow, Denied: o.Deny, Tools: o.Builtin,
		MaxTurns: o.MaxTurns, MaxBudget: o.MaxBudgetUSD, Schema: string(o.Schema),
		Fixed: o.Store != nil, Print: true, Log: o.Log,
		Asks: o.Permission != nil || o.Ask != nil, Questions: o.Ask != nil, Calls: func(kind string) bool { return kind == callHook },
	}
	seen := map[string]bool{}
	for _, t := range o.Tools {
		switch {
		case !toolName.MatchString(t.Name):
			return a, fmt.Errorf("tool name %q: letters, digits, _ and - make one", t.Name)
		case seen[t.Name]:
			return a, fmt.Errorf("there are two tools named %s", t.Name)
		case t.Run == nil:
			return a, fmt.Errorf("tool %s has no function to run", t.Name)
		}
		seen[t.Name] = true
		c, err := newCustom(t)
		if err != nil {
			return a, err
		}
		a.Custom = append(a.Custom, tool.Tool(c))
	}
	if o.Store != nil && o.NoPersist {
		return a, errors.New("a Store and NoPersist contradict each other")
	}
	hooks, err := registration(o.Hooks)
	if len(hooks) > 0 {
		a.Host = &app.Host{Hooks: hooks}
	}
	return a, err
}

// Question is a permission question: may this call run?
type Question struct {
	Tool    string
	CallID  string
	Input   json.RawMessage
	Summary string   // one line for a person
	Reason  string   // why it is asked
	Rules   []string // what Answer.Remember would allow from now on
	Agent   string   // the sub-agent that asks, by the id of its Agent call; empty: the session itself
}

// UserQuestion is a question that the model asks the user. Its answer goes by its text: the label of an option, several
// joined by ", " where Multi is set, or words of the user's own.
type UserQuestion struct {
	Text    string           `json:"question"`
	Header  string           `json:"header"` // what it is about, in a word or two
	Options []QuestionOption `json:"options"`
	Multi   bool             `json:"multiSelect"`
}

// QuestionOption is a possible answer.
type QuestionOption struct {
	Label       string `json:"label"`
	Description string `json:"description"`
	Preview     string `json:"preview"` // what it would look like; empty: nothing to show
}

// Answer answers a Question. The zero value refuses the call.
type Answer struct {
	Allow    bool
	Input    json.RawMessage // runs in place of the call's own, where Allow is set; nil: as asked
	Remember bool            // with Allow: the question's Rules hold for the session
	Message  string          // to the model, of a refusal
	Stop     bool            // with a refusal: the turn ends
}
