package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"lathe/internal/app"

	"github.com/spf13/pflag"
)

// flags are the command line, parsed: what a session begins with, and what its front end does with it.
type flags struct {
	app.Options

	outputFormat, inputFormat  string
	verbose, partial, replayed bool
	hookEvents, agentText      bool
	fullscreen, reader         bool
	pick                       bool // --resume without a value: the person chooses
	images                     []string
	rewindFiles                string
	debug, debugFile           string
	version, help              bool

	// Values that become options of the session, see finish.
	system, sources     string
	autocompact         string
	thinking            string
	maxThinking         int
	permissionPrompts   string
	snapshot            string
	pluginDirs, noMCP   []string
	setupInit, setupFix bool
	setupOnly           bool
	mirrored, awaitInit bool
	mirror              *mirror // nil: transcripts are not mirrored
}

// later are flags of the documented command line that this version does not have. They are refused by name, so
// that nobody relies on what does not happen.
var later = map[string]bool{ // name → takes a value
	"from-pr": true, "advisor": true,
	"restricted": false,
	"plugin-url": true,
	"safe-mode":  false, "ide": false, "chrome": false, "no-chrome": false, "tmux": false, "worktree": false,
	"bg": false, "background": false, "exec": false, "teammate-mode": true,
	"remote-control": false, "rc": false, "cloud": false, "remote": false, "environment": true, "ref": true, "teleport": false,
	"channels": true, "dangerously-load-development-channels": false, "desktop": false,
}

func (o *flags) set() *pflag.FlagSet {
	f := pflag.NewFlagSet("lathe", pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() {}
	o.outputFlags(f)
	o.sessionFlags(f)
	o.modelFlags(f)
	o.rightFlags(f)
	o.promptFlags(f)
	o.placeFlags(f)
	o.hostFlags(f)
	f.BoolVarP(&o.version, "version", "v", false, "print the version")
	f.BoolVarP(&o.help, "help", "h", false, "print this help")
	for name, value := range later {
		if value {
			f.String(name, "", "")
		} else {
			f.String(name, "", "")
			f.Lookup(name).NoOptDefVal = "-"
		}
		_ = f.MarkHidden(name)
	}
	f.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		switch name {
		case "allowed-tools":
			name = "allowedTools"
		case "disallowed-tools":
			name = "disallowedTools"
		}
		return pflag.NormalizedName(name)
	})
	return f
}

// outputFlags are those about what is printed.
func (o *flags) outputFlags(f *pflag.FlagSet) {
	f.BoolVarP(&o.Print, "print", "p", false, "run the prompt and exit (no terminal interface)")
	f.StringVar(&o.outputFormat, "output-format", "text", "`text`, json or stream-json")
	f.StringVar(&o.inputFormat, "input-format", "text", "`text`, or stream-json: messages and control requests, one a line")
	f.BoolVar(&o.partial, "include-partial-messages", false, "the model's stream events too (stream-json)")
	f.BoolVar(&o.hookEvents, "include-hook-events", false, "tell of each hook that runs (stream-json)")
	f.BoolVar(&o.replayed, "replay-user-messages", false, "echo the user's messages (stream-json)")
	f.BoolVar(&o.fullscreen, "fullscreen", false, "terminal interface on the whole screen")
	f.BoolVar(&o.reader, "ax-screen-reader", false, "terminal interface in plain lines, for screen readers")
	f.BoolVar(&o.verbose, "verbose", false, "tell on standard error what happens")
	f.StringVar(&o.Schema, "json-schema", "", "answer with JSON that fits this `schema`")
}

// sessionFlags are those about limits, and which session.
func (o *flags) sessionFlags(f *pflag.FlagSet) {
	f.IntVar(&o.MaxTurns, "max-turns", 0, "stop after `N` model calls")
	f.Float64Var(&o.MaxBudget, "max-budget-usd", 0, "stop before this many `dollars` are spent")
	f.IntVar(&o.TaskBudget, "task-budget", 0, "go on until about this many output `tokens` are used")
	f.BoolVarP(&o.Continue, "continue", "c", false, "continue the newest session of this directory")
	f.StringVarP(&o.Resume, "resume", "r", "", "resume a session by `id`, name or transcript file")
	f.BoolVar(&o.Fork, "fork-session", false, "with --resume or --continue: continue in a copy")
	f.StringVar(&o.SessionID, "session-id", "", "use this `uuid` for the new session")
	f.StringVarP(&o.Name, "name", "n", "", "`name` of the session")
	f.BoolVar(&o.NoPersist, "no-session-persistence", false, "keep no transcript")
}

// modelFlags are those about the model.
func (o *flags) modelFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Model, "model", "", "`model` id or alias (opus, sonnet, haiku, fable)")
	f.StringSliceVar(&o.Fallback, "fallback-model", nil, "`models` to use when the model is overloaded")
	f.StringVar(&o.autocompact, "autocompact", "", "compact as if the window had so many `tokens` (500k), or auto")
	f.StringVar(&o.Effort, "effort", "", "`level`: low, medium, high, xhigh or max")
	f.StringVar(&o.thinking, "thinking", "", "adaptive or disabled")
	f.StringVar(&o.Display, "thinking-display", "", "`form` of the thinking that is shown: summarized or omitted")
	f.IntVar(&o.maxThinking, "max-thinking-tokens", -1, "thinking budget in `tokens` for models with budgets; 0: none")
}

// rightFlags are those about what may be done, with what, where.
func (o *flags) rightFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Mode, "permission-mode", "", "`mode`: default, acceptEdits, plan, auto, dontAsk or bypassPermissions")
	f.BoolVar(&o.SkipPermissions, "dangerously-skip-permissions", false, "same as --permission-mode bypassPermissions")
	f.BoolVar(&o.AllowSkip, "allow-dangerously-skip-permissions", false, "allow changing to bypassPermissions later")
	f.StringArrayVar(&o.Allowed, "allowedTools", nil, "allow `rules`, such as \"Bash(go test *)\" Edit")
	f.StringArrayVar(&o.Denied, "disallowedTools", nil, "deny `rules`; a bare name removes the tool")
	f.StringArrayVar(&o.Tools, "tools", nil, "offer only these built-in `tools`; \"\" for none, default for all")
	f.StringVar(&o.permissionPrompts, "permission-prompts", "host", "host or none: who answers permission questions")
	f.StringVar(&o.PromptTool, "permission-prompt-tool", "", "who answers permission questions: stdio (the host), or a `tool` of an MCP server, such as mcp__server__tool")
	f.StringArrayVar(&o.Servers, "mcp-config", nil, "MCP servers: `files` or JSON, {\"mcpServers\": {…}}")
	f.BoolVar(&o.StrictServers, "strict-mcp-config", false, "use only the MCP servers of --mcp-config")
	f.StringVar(&o.rewindFiles, "rewind-files", "", "with --resume: put the files back to what they were before the message with this `uuid`, and exit")
	_ = f.MarkHidden("rewind-files")
	f.StringArrayVar(&o.Dirs, "add-dir", nil, "further working `directories`")
	f.BoolVar(&o.Trust, "trust", false, "trust this directory's settings for this run")
}

// promptFlags are those about what the model and sub-agents are told.
func (o *flags) promptFlags(f *pflag.FlagSet) {
	f.StringVar(&o.system, "system-prompt", "", "replace the system prompt with this `text`")
	f.StringVar(&o.SystemFile, "system-prompt-file", "", "… with the text of this `file`")
	f.StringVar(&o.Append, "append-system-prompt", "", "add this `text` to the system prompt")
	f.StringVar(&o.AppendFile, "append-system-prompt-file", "", "… the text of this `file`")
	f.StringVar(&o.Override, "override-system-prompt", "", "send exactly this `text`, with nothing added")
	f.StringVar(&o.Agent, "agent", "", "work by the agent of this `name`")
	f.StringVar(&o.Agents, "agents", "", "define sub-agents: `JSON`, or a file that holds it")
	f.BoolVar(&o.agentText, "forward-subagent-text", false, "the words of sub-agents too (stream-json)")
	f.StringVar(&o.AppendAgent, "append-subagent-system-prompt", "", "add this `text` to the system prompt of sub-agents")
	f.StringVar(&o.AppendAgentFile, "append-subagent-system-prompt-file", "", "… the text of this `file`")
}

// placeFlags are those about settings, discovery, and looking inside.
func (o *flags) placeFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Settings, "settings", "", "settings `file` or JSON")
	f.StringVar(&o.sources, "setting-sources", "", "which of user,project,local load")
	f.BoolVar(&o.Bare, "bare", false, "start with no discovery: only Bash, Read and Edit, no instruction files")
	f.BoolVar(&o.NoCommands, "disable-slash-commands", false, "take a leading slash as text")
	f.StringSliceVar(&o.Betas, "betas", nil, "extra API feature `headers`")
	f.StringArrayVar(&o.images, "image", nil, "add an image `file` to the prompt")
	f.StringVar(&o.Replay, "replay", "", "answer from this `recording`; no model is called")
	f.StringVar(&o.Record, "record", "", "record the model's answers to this `file`")
	f.BoolVar(&o.Stages, "stages", false, "tell of each stage of the pipeline")
	f.BoolVar(&o.Trace, "trace", false, "write a trace of each stage beside the transcript")
	f.StringVar(&o.debug, "debug", "", "log to standard error what the program does; --debug=`filter`")
	f.Lookup("debug").NoOptDefVal = "*"
	f.StringVar(&o.debugFile, "debug-file", "", "write the debug log to this `file`")
}

// parseFlags reads the command line.
func parseFlags(args []string) (*flags, *pflag.FlagSet, error) {
	o := &flags{}
	f := o.set()
	if err := f.Parse(joinValues(f, args)); err != nil {
		return nil, f, flagError(f, err)
	}
	for name := range later {
		if f.Changed(name) {
			return nil, f, fmt.Errorf("--%s is not supported by this version of Lathe", name)
		}
	}
	if err := o.takeHostFlags(f); err != nil {
		return nil, f, err
	}
	o.Prompt = strings.Join(f.Args(), " ")
	return o, f, o.finish(f)
}

// finish checks the flags and makes options of the session from those that are not written as such.
func (o *flags) finish(f *pflag.FlagSet) error {
	if err := o.check(f); err != nil {
		return err
	}
	var err error
	if o.Window, err = window(o.autocompact); err != nil {
		return fmt.Errorf("--autocompact: %w", err)
	}
	if f.Changed("setting-sources") {
		o.Sources = settingSources(o.sources)
	}
	if o.system != "" {
		o.System = &o.system
	}
	if o.maxThinking >= 0 {
		o.ThinkingBudget = &o.maxThinking
	}
	o.NoThinking = o.thinking == "disabled"
	o.Unattended = o.permissionPrompts == "none"
	return o.Options.Check()
}

// settingSources are the names of --setting-sources; none of them is not nil.
func settingSources(text string) []string {
	out := []string{}
	for s := range strings.SplitSeq(text, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// window reads the value of --autocompact: a number of tokens, or auto for the model's own window.
func window(text string) (int, error) {
	switch {
	case text == "":
		return 0, nil
	case strings.EqualFold(text, "auto"):
		return -1, nil
	}
	n, err := app.TokenCount(text)
	if err == nil && (n < 100_000 || n > 1_000_000) {
		err = fmt.Errorf("%q is not between 100k and 1M tokens", text)
	}
	return n, err
}

func (o *flags) check(f *pflag.FlagSet) error {
	if !slices.Contains([]string{"text", "json", "stream-json"}, o.outputFormat) {
		return fmt.Errorf("--output-format must be text, json or stream-json, not %q", o.outputFormat)
	}
	switch {
	case o.inputFormat != "text" && o.inputFormat != "stream-json":
		return fmt.Errorf("--input-format must be text or stream-json, not %q", o.inputFormat)
	case o.inputFormat == "stream-json" && o.outputFormat != "stream-json":
		return errors.New("--input-format stream-json needs --output-format stream-json")
	case o.inputFormat == "stream-json" && o.Prompt != "":
		return errors.New("with --input-format stream-json prompts come on standard input, not as an argument")
	case o.PromptTool == "stdio" && o.inputFormat != "stream-json":
		return errors.New("--permission-prompt-tool stdio asks the host, which needs --input-format stream-json")
	}
	if o.partial && o.outputFormat != "stream-json" {
		return errors.New("--include-partial-messages needs --output-format stream-json")
	}
	if f.Changed("max-turns") && o.MaxTurns < 1 {
		return errors.New("--max-turns must be 1 or more")
	}
	if f.Changed("task-budget") && o.TaskBudget < 1 {
		return errors.New("--task-budget must be 1 or more")
	}
	if f.Changed("max-budget-usd") && !(o.MaxBudget > 0) {
		return errors.New("--max-budget-usd must be more than 0")
	}
	if o.SessionID != "" && (o.Continue || f.Changed("resume")) && !o.Fork {
		return errors.New("--session-id with --resume or --continue needs --fork-session")
	}
	if o.pick = f.Changed("resume") && o.Resume == ""; strings.HasPrefix(o.Resume, "-") {
		return errors.New("--resume needs a session id, a name or a transcript file")
	}
	if o.permissionPrompts != "host" && o.permissionPrompts != "none" {
		return errors.New("--permission-prompts must be host or none")
	}
	if o.thinking != "" && o.thinking != "adaptive" && o.thinking != "disabled" {
		return fmt.Errorf("--thinking must be adaptive or disabled, not %q", o.thinking)
	}
	return nil
}

// joinValues brings the documented spellings into the parser's form: --resume takes its value from the next
// word, and the list flags take further words that can only belong to them.
func joinValues(f *pflag.FlagSet, args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return append(out, args[i:]...)
		}
		if (a == "--resume" || a == "-r") && (i+1 == len(args) || strings.HasPrefix(args[i+1], "-")) && !(i > 0 && wantsValue(f, args[i-1])) {
			out = append(out, "--resume=") // the person chooses
			continue
		}
		belongs := listMember(a)
		if belongs == nil {
			out = append(out, a)
			continue
		}
		if i+1 >= len(args) {
			out = append(out, a)
			continue
		}
		i++
		out = append(out, a+"="+args[i])
		for i+1 < len(args) && belongs(args[i+1]) {
			i++
			out = append(out, a+"="+args[i])
		}
	}
	return out
}

// wantsValue reports whether a word is a flag whose value is the next word.
func wantsValue(f *pflag.FlagSet, word string) bool {
	var flag *pflag.Flag
	switch name, long := strings.CutPrefix(word, "--"); {
	case long:
		flag = f.Lookup(name)
	case len(word) == 2 && word[0] == '-':
		flag = f.ShorthandLookup(word[1:])
	}
	return flag != nil && flag.NoOptDefVal == ""
}

func listMember(flag string) func(string) bool {
	switch flag {
	case "--allowedTools", "--allowed-tools", "--disallowedTools", "--disallowed-tools":
		return looksLikeRule
	case "--mcp-config":
		return looksLikeConfig
	case "--tools":
		return app.IsToolName
	case "--add-dir":
		return func(s string) bool {
			info, err := os.Stat(s)
			return err == nil && info.IsDir() || looksLikePath(s)
		}
	}
	return nil
}

// looksLikePath reports whether a word is meant as a path, although there is none: an error is better than a
// directory that becomes a part of the prompt.
func looksLikePath(s string) bool {
	return !strings.ContainsAny(s, " \t\n") && (strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasPrefix(s, "~/"))
}

// looksLikeConfig reports whether a word can only be one more of --mcp-config: JSON, or a file of it.
func looksLikeConfig(s string) bool {
	if strings.HasPrefix(strings.TrimSpace(s), "{") {
		return true
	}
	info, err := os.Stat(s)
	return strings.HasSuffix(s, ".json") && (looksLikePath(s) || err == nil && info.Mode().IsRegular())
}

func looksLikeRule(s string) bool {
	name, _, paren := strings.Cut(s, "(")
	return app.IsToolName(strings.Split(s, ",")[0]) || strings.HasPrefix(s, "mcp__") || s == "*" ||
		paren && app.IsToolName(name) && strings.HasSuffix(s, ")")
}
