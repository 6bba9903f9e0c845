package app

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"lathe/internal/mcp"
	"lathe/internal/perm"
	"lathe/internal/session"
	"lathe/internal/tool"
)

// options are the command line, parsed.
type options struct {
	print                      bool
	fullscreen, reader         bool
	outputFormat, inputFormat  string
	verbose, partial, replayed bool
	hookEvents                 bool
	jsonSchema                 string
	maxTurns                   int
	maxBudget                  float64
	taskBudget                 int
	noPersist                  bool
	cont                       bool
	resume                     string
	pick                       bool // --resume without a value: the person chooses
	fork                       bool
	sessionID, name            string
	model                      string
	fallback                   []string
	effort, autocompact        string
	mode                       string
	skipPermissions            bool
	allowSkip                  bool
	allowed, disallowed, tools []string
	toolsSet                   bool
	addDirs                    []string
	system, systemFile         string
	systemSet                  bool // by a host: even an empty one replaces the default
	appendSystem, appendFile   string
	override                   string
	settings                   string
	sourceList                 string
	sources                    []string // nil: all
	modeSet                    bool
	rewindFiles                string
	debug                      string
	debugFile                  string
	bare                       bool
	betas                      []string
	maxThinking                int
	thinking, display          string
	noCommands                 bool
	permissionPrompts          string
	promptTool                 string
	serverConfigs              []string
	strictServers              bool
	images                     []string
	agent, agents              string
	agentText                  bool
	appendAgent                string
	appendAgentFile            string
	record, replay             string
	trust                      bool
	stages                     bool
	traceOn                    bool
	version, help              bool

	prompt string // positional

	hostOptions
	host *initialize // what the host at the other end has asked for; nil without a host

	// Of front ends that make sessions themselves.
	dir       string                 // working directory; empty: the process's
	asks      bool                   // somebody answers permission questions
	questions bool                   // of a Go program: it answers the model's questions, too
	canCall   func(kind string) bool // what the host answers; nil: nothing
	entry     string                 // how the session was begun, for its records
	env       map[string]string      // over the process's environment
	custom    []tool.Tool            // tools of the program that embeds us
	store     session.Store          // keeps the session; nil: files
	fixed     bool                   // the session is not left for another: who made it knows it by its id

	state     string // of the demo: replaces the state directory
	recording []byte // of the demo: answers
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

func (o *options) set() *pflag.FlagSet {
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
func (o *options) outputFlags(f *pflag.FlagSet) {
	f.BoolVarP(&o.print, "print", "p", false, "run the prompt and exit (no terminal interface)")
	f.StringVar(&o.outputFormat, "output-format", "text", "`text`, json or stream-json")
	f.StringVar(&o.inputFormat, "input-format", "text", "`text`, or stream-json: messages and control requests, one a line")
	f.BoolVar(&o.partial, "include-partial-messages", false, "the model's stream events too (stream-json)")
	f.BoolVar(&o.hookEvents, "include-hook-events", false, "tell of each hook that runs (stream-json)")
	f.BoolVar(&o.replayed, "replay-user-messages", false, "echo the user's messages (stream-json)")
	f.BoolVar(&o.fullscreen, "fullscreen", false, "terminal interface on the whole screen")
	f.BoolVar(&o.reader, "ax-screen-reader", false, "terminal interface in plain lines, for screen readers")
	f.BoolVar(&o.verbose, "verbose", false, "tell on standard error what happens")
	f.StringVar(&o.jsonSchema, "json-schema", "", "answer with JSON that fits this `schema`")
}

// sessionFlags are those about limits, and which session.
func (o *options) sessionFlags(f *pflag.FlagSet) {
	f.IntVar(&o.maxTurns, "max-turns", 0, "stop after `N` model calls")
	f.Float64Var(&o.maxBudget, "max-budget-usd", 0, "stop before this many `dollars` are spent")
	f.IntVar(&o.taskBudget, "task-budget", 0, "go on until about this many output `tokens` are used")
	f.BoolVarP(&o.cont, "continue", "c", false, "continue the newest session of this directory")
	f.StringVarP(&o.resume, "resume", "r", "", "resume a session by `id`, name or transcript file")
	f.BoolVar(&o.fork, "fork-session", false, "with --resume or --continue: continue in a copy")
	f.StringVar(&o.sessionID, "session-id", "", "use this `uuid` for the new session")
	f.StringVarP(&o.name, "name", "n", "", "`name` of the session")
	f.BoolVar(&o.noPersist, "no-session-persistence", false, "keep no transcript")
}

// modelFlags are those about the model.
func (o *options) modelFlags(f *pflag.FlagSet) {
	f.StringVar(&o.model, "model", "", "`model` id or alias (opus, sonnet, haiku, fable)")
	f.StringSliceVar(&o.fallback, "fallback-model", nil, "`models` to use when the model is overloaded")
	f.StringVar(&o.autocompact, "autocompact", "", "compact as if the window had so many `tokens` (500k), or auto")
	f.StringVar(&o.effort, "effort", "", "`level`: low, medium, high, xhigh or max")
	f.StringVar(&o.thinking, "thinking", "", "adaptive or disabled")
	f.StringVar(&o.display, "thinking-display", "", "`form` of the thinking that is shown: summarized or omitted")
	f.IntVar(&o.maxThinking, "max-thinking-tokens", -1, "thinking budget in `tokens` for models with budgets; 0: none")
}

// rightFlags are those about what may be done, with what, where.
func (o *options) rightFlags(f *pflag.FlagSet) {
	f.StringVar(&o.mode, "permission-mode", "", "`mode`: default, acceptEdits, plan, auto, dontAsk or bypassPermissions")
	f.BoolVar(&o.skipPermissions, "dangerously-skip-permissions", false, "same as --permission-mode bypassPermissions")
	f.BoolVar(&o.allowSkip, "allow-dangerously-skip-permissions", false, "allow changing to bypassPermissions later")
	f.StringArrayVar(&o.allowed, "allowedTools", nil, "allow `rules`, such as \"Bash(go test *)\" Edit")
	f.StringArrayVar(&o.disallowed, "disallowedTools", nil, "deny `rules`; a bare name removes the tool")
	f.StringArrayVar(&o.tools, "tools", nil, "offer only these built-in `tools`; \"\" for none, default for all")
	f.StringVar(&o.permissionPrompts, "permission-prompts", "host", "host or none: who answers permission questions")
	f.StringVar(&o.promptTool, "permission-prompt-tool", "", "who answers permission questions: stdio (the host), or a `tool` of an MCP server, such as mcp__server__tool")
	f.StringArrayVar(&o.serverConfigs, "mcp-config", nil, "MCP servers: `files` or JSON, {\"mcpServers\": {…}}")
	f.BoolVar(&o.strictServers, "strict-mcp-config", false, "use only the MCP servers of --mcp-config")
	f.StringVar(&o.rewindFiles, "rewind-files", "", "with --resume: put the files back to what they were before the message with this `uuid`, and exit")
	_ = f.MarkHidden("rewind-files")
	f.StringArrayVar(&o.addDirs, "add-dir", nil, "further working `directories`")
	f.BoolVar(&o.trust, "trust", false, "trust this directory's settings for this run")
}

// promptFlags are those about what the model and sub-agents are told.
func (o *options) promptFlags(f *pflag.FlagSet) {
	f.StringVar(&o.system, "system-prompt", "", "replace the system prompt with this `text`")
	f.StringVar(&o.systemFile, "system-prompt-file", "", "… with the text of this `file`")
	f.StringVar(&o.appendSystem, "append-system-prompt", "", "add this `text` to the system prompt")
	f.StringVar(&o.appendFile, "append-system-prompt-file", "", "… the text of this `file`")
	f.StringVar(&o.override, "override-system-prompt", "", "send exactly this `text`, with nothing added")
	f.StringVar(&o.agent, "agent", "", "work by the agent of this `name`")
	f.StringVar(&o.agents, "agents", "", "define sub-agents: `JSON`, or a file that holds it")
	f.BoolVar(&o.agentText, "forward-subagent-text", false, "the words of sub-agents too (stream-json)")
	f.StringVar(&o.appendAgent, "append-subagent-system-prompt", "", "add this `text` to the system prompt of sub-agents")
	f.StringVar(&o.appendAgentFile, "append-subagent-system-prompt-file", "", "… the text of this `file`")
}

// placeFlags are those about settings, discovery, and looking inside.
func (o *options) placeFlags(f *pflag.FlagSet) {
	f.StringVar(&o.settings, "settings", "", "settings `file` or JSON")
	f.StringVar(&o.sourceList, "setting-sources", "", "which of user,project,local load")
	f.BoolVar(&o.bare, "bare", false, "start with no discovery: only Bash, Read and Edit, no instruction files")
	f.BoolVar(&o.noCommands, "disable-slash-commands", false, "take a leading slash as text")
	f.StringSliceVar(&o.betas, "betas", nil, "extra API feature `headers`")
	f.StringArrayVar(&o.images, "image", nil, "add an image `file` to the prompt")
	f.StringVar(&o.replay, "replay", "", "answer from this `recording`; no model is called")
	f.StringVar(&o.record, "record", "", "record the model's answers to this `file`")
	f.BoolVar(&o.stages, "stages", false, "tell of each stage of the pipeline")
	f.BoolVar(&o.traceOn, "trace", false, "write a trace of each stage beside the transcript")
	f.StringVar(&o.debug, "debug", "", "log to standard error what the program does; --debug=`filter`")
	f.Lookup("debug").NoOptDefVal = "*"
	f.StringVar(&o.debugFile, "debug-file", "", "write the debug log to this `file`")
}

// parseFlags reads the command line.
func parseFlags(args []string) (*options, *pflag.FlagSet, error) {
	o := &options{}
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
	o.toolsSet, o.modeSet = f.Changed("tools"), f.Changed("permission-mode")
	if f.Changed("setting-sources") {
		o.sources = settingSources(o.sourceList)
	}
	o.prompt = strings.Join(f.Args(), " ")
	return o, f, o.check(f)
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

func (o *options) check(f *pflag.FlagSet) error {
	if !slices.Contains([]string{"text", "json", "stream-json"}, o.outputFormat) {
		return fmt.Errorf("--output-format must be text, json or stream-json, not %q", o.outputFormat)
	}
	switch {
	case o.inputFormat != "text" && o.inputFormat != "stream-json":
		return fmt.Errorf("--input-format must be text or stream-json, not %q", o.inputFormat)
	case o.inputFormat == "stream-json" && o.outputFormat != "stream-json":
		return errors.New("--input-format stream-json needs --output-format stream-json")
	case o.inputFormat == "stream-json" && o.prompt != "":
		return errors.New("with --input-format stream-json prompts come on standard input, not as an argument")
	case o.promptTool == "stdio" && o.inputFormat != "stream-json":
		return errors.New("--permission-prompt-tool stdio asks the host, which needs --input-format stream-json")
	case o.askTool() && !mcp.IsFullName(o.promptTool):
		return fmt.Errorf("--permission-prompt-tool must be stdio or a tool of an MCP server, such as mcp__server__tool, not %q", o.promptTool)
	}
	if o.partial && o.outputFormat != "stream-json" {
		return fmt.Errorf("--include-partial-messages needs --output-format stream-json")
	}
	if f.Changed("max-turns") && o.maxTurns < 1 {
		return fmt.Errorf("--max-turns must be 1 or more")
	}
	if f.Changed("task-budget") && o.taskBudget < 1 {
		return fmt.Errorf("--task-budget must be 1 or more")
	}
	if f.Changed("max-budget-usd") && !(o.maxBudget > 0) {
		return fmt.Errorf("--max-budget-usd must be more than 0")
	}
	if o.sessionID != "" && (o.cont || f.Changed("resume")) && !o.fork {
		return fmt.Errorf("--session-id with --resume or --continue needs --fork-session")
	}
	if o.pick = f.Changed("resume") && o.resume == ""; strings.HasPrefix(o.resume, "-") {
		return fmt.Errorf("--resume needs a session id, a name or a transcript file")
	}
	if o.permissionPrompts != "host" && o.permissionPrompts != "none" {
		return fmt.Errorf("--permission-prompts must be host or none")
	}
	for _, rule := range cliRules(o, "") { // who types a rule counts on it: to go on without it could undo a guard
		if err := perm.Malformed(rule.Text); err != nil {
			return fmt.Errorf("%s: the rule %q cannot be used: %w", ruleFlag(rule.Effect), rule.Text, err)
		}
	}
	if o.effort != "" && !slices.Contains([]string{"low", "medium", "high", "xhigh", "max"}, o.effort) {
		return fmt.Errorf("--effort must be low, medium, high, xhigh or max, not %q", o.effort)
	}
	if _, err := windowOf(o.autocompact); err != nil {
		return fmt.Errorf("--autocompact: %w", err)
	}
	if o.display != "" && o.display != "summarized" && o.display != "omitted" {
		return fmt.Errorf("--thinking-display must be summarized or omitted, not %q", o.display)
	}
	if o.thinking != "" && o.thinking != "adaptive" && o.thinking != "disabled" {
		return fmt.Errorf("--thinking must be adaptive or disabled, not %q", o.thinking)
	}
	return nil
}

func ruleFlag(effect perm.Verdict) string {
	if effect == perm.Deny {
		return "--disallowedTools"
	}
	return "--allowedTools"
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
		return isToolName
	case "--add-dir":
		return func(s string) bool {
			info, err := os.Stat(s)
			return err == nil && info.IsDir() || looksLikePath(s)
		}
	}
	return nil
}

var toolNames = []string{
	"Bash", "Read", "Edit", "Write", "NotebookEdit", "Glob", "Grep", "WebFetch", "WebSearch",
	"TodoWrite", "TaskCreate", "TaskUpdate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "Task", "Agent", "SendMessage", "Skill", "MultiEdit", "default",
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

func isToolName(s string) bool { return slices.Contains(toolNames, s) }

func looksLikeRule(s string) bool {
	name, _, paren := strings.Cut(s, "(")
	return isToolName(strings.Split(s, ",")[0]) || strings.HasPrefix(s, "mcp__") || s == "*" ||
		paren && isToolName(name) && strings.HasSuffix(s, ")")
}
