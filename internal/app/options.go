package app

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"lathe/internal/app/conversation"
	"lathe/internal/app/source"
	"lathe/internal/event"
	"lathe/internal/mcp"
	"lathe/internal/perm"
	"lathe/internal/pipeline/input"
	"lathe/internal/place"
	"lathe/internal/tool"
)

// Options are what a session begins with. The command line fills them from its flags, package agent from its own options.
// The zero value is a session in the process's directory that answers to nobody.
type Options struct {
	place.Options // where, and which settings count

	Dirs []string // more that the session may work in
	Bare bool     // no discovery: few tools, no instruction files

	conversation.Which // which session it is

	Name     string // of a new one
	Refreeze bool   // a resumed session's prompt and tools are made anew
	Fixed    bool   // it is not left for another: who made it knows it by its id

	// The model, and limits.
	Model, Effort  string
	Fallback       []string
	Betas          []string // extra features of the API
	Window         int      // compact as if it had so many tokens; 0: as the settings say, negative: the model's own
	NoThinking     bool
	ThinkingBudget *int   // tokens; 0: none; nil: as the environment says
	Display        string // of the thinking that is shown: summarized or omitted
	MaxTurns       int    // 0: no limit
	MaxBudget      float64
	TaskBudget     int    // output tokens to work for
	Schema         string // of a structured answer
	Replay, Record string // recordings: answers from one, writes one
	Recording      []byte // the same as Replay; the session then uses nothing of the user's

	// What may be done.
	Mode            string // of permission
	SkipPermissions bool   // bypassPermissions
	AllowSkip       bool   // … may be changed to later
	Allowed, Denied []string
	Tools           []string    // the built-in ones to offer; nil: all
	Custom          []tool.Tool // the program's own
	Servers         []string    // of MCP: files or JSON
	StrictServers   bool        // and no others
	Plugins         []PluginDir

	// What is said.
	System      *string // replaces the system prompt
	SystemFile  string
	Append      string // is added to it
	AppendFile  string
	Override    string // is sent alone
	NoDynamic   bool   // nothing that varies stands in it
	Agent       string // works by this agent
	Agents      string // defines some
	AppendAgent string // is added to the prompts of sub-agents

	AppendAgentFile string
	NoCommands      bool   // a leading slash is text
	Unknown         bool   // … where nobody knows the command
	Prompt          string // the first one, where it is known: a local command needs no key
	Setup           string // init or maintenance: Setup hooks run first

	// Who is there.
	Print      bool                   // no person sits before it
	NoPrompts  bool                   // its tools are called from outside: it needs no model
	Asks       bool                   // somebody answers permission questions
	Questions  bool                   // of a Go program: and those of the model
	Unattended bool                   // nobody answers them, whoever is there
	PromptTool string                 // who answers them: stdio (the host) or a tool of an MCP server
	Host       *Host                  // what the host at the other end has asked for; nil: there is none
	Calls      func(kind string) bool // what can be called at the other end; nil: as Host says

	SuggestPrompts bool // a prompt is suggested after each turn
	AgentSummaries bool // what sub-agents do is told in words
	Stages         bool // each stage is told of
	Trace          bool // … and written beside the transcript

	Log io.Writer // what a person should know; nil: nobody is told
}

// PluginDir is a plugin that is named for one session.
type PluginDir struct {
	Path string
	MCP  bool // its MCP servers count
}

// Check refuses what can be seen to be wrong before anything is opened. The words are those of the command line.
func (o *Options) Check() error {
	if o.askTool() && !mcp.IsFullName(o.PromptTool) {
		return fmt.Errorf("--permission-prompt-tool must be stdio or a tool of an MCP server, such as mcp__server__tool, not %q", o.PromptTool)
	}
	if o.SessionID != "" && (o.Continue || o.Resume != "") && !o.Fork {
		return errors.New("--session-id with --resume or --continue needs --fork-session")
	}
	for _, rule := range cliRules(o, "") { // who types a rule counts on it: to go on without it could undo a guard
		if err := perm.Malformed(rule.Text); err != nil {
			return fmt.Errorf("%s: the rule %q cannot be used: %w", ruleFlag(rule.Effect), rule.Text, err)
		}
	}
	if o.Effort != "" && !slices.Contains([]string{"low", "medium", "high", "xhigh", "max"}, o.Effort) {
		return fmt.Errorf("--effort must be low, medium, high, xhigh or max, not %q", o.Effort)
	}
	if o.Display != "" && o.Display != "summarized" && o.Display != "omitted" {
		return fmt.Errorf("--thinking-display must be summarized or omitted, not %q", o.Display)
	}
	return nil
}

func ruleFlag(effect perm.Verdict) string {
	if effect == perm.Deny {
		return "--disallowedTools"
	}
	return "--allowedTools"
}

// FindPlace finds the place of a session. It starts nothing.
func (o *Options) FindPlace() (*place.Place, error) {
	at := o.Options
	at.Trust = at.Trust || o.hostTrusts()
	return place.Find(at)
}

// hostTrusts reports whether a host has named the project's files as sources of settings: that it starts a session with
// them is its own decision, like --trust.
func (o *Options) hostTrusts() bool {
	return o.Host != nil && (slices.Contains(o.Sources, "project") || slices.Contains(o.Sources, "local"))
}

// warn tells a person something, who may be nobody.
func (o *Options) warn(text string) {
	if o.Log != nil {
		fmt.Fprintf(o.Log, "lathe: %s\n", event.Aside(text))
	}
}

// source are the options of where the answers come from. A local command calls no model.
func (o *Options) source() source.Options {
	_, _, local := input.SplitCommand(o.Prompt)
	return source.Options{Replay: o.Replay, Record: o.Record, Recording: o.Recording, Betas: o.Betas, Local: local && !o.NoCommands || o.NoPrompts}
}
