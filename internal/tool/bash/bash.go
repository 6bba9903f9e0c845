package bash

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lathe/internal/msg"
	"lathe/internal/proc"
	"lathe/internal/sys"
	"lathe/internal/tool"
)

//go:embed bash.md
var bashText string

//go:embed background.md
var backgroundText string

const (
	defaultTimeout = 120 * time.Second
	maxTimeout     = 600 * time.Second
	inlineLimit    = 30_000 // bytes of output that the model gets
	maxInlineLimit = 150_000
	maxOutputChars = 128_000
	failureLimit   = 10_000 // the same for a command that failed
)

var errNUL = errors.New("command holds a NUL character, which no shell takes; write it as an escape such as \\0 in printf")

// Deps is what the tools work with. All but Cache and BackgroundLimit must be set.
type Deps struct {
	Sys        sys.Sys
	Workspace  *tool.Workspace
	Cache      *tool.ReadCache // nil records no file that a command showed
	Procs      *proc.Group
	Tasks      *Tasks
	ResultsDir func() string // the session's folder for outputs; made when needed
	// Clean returns what takes secrets out of one command's output, piece by piece. Nil: nothing is changed.
	Clean      func() func(p []byte) []byte
	Owner      string // the sub-agent whose tools these are; "" is the session itself
	Others     Others // background tasks that are no commands; nil: there are none
	Background bool   // commands may run in the background
	// BackgroundLimit ends background runs after this time; 0 is never. Set it where nobody watches.
	BackgroundLimit time.Duration
	// OutputChars is how much of an output the model gets at most, up to 128,000 bytes; 0: as the environment says.
	OutputChars int
	// Sandbox changes how a command is started so that it runs confined; nil confines nothing. leave is the wish of
	// the call to run outside. end, when not nil, must be called once the command has ended or could not be started;
	// what it returns is told to the model.
	Sandbox     func(spec *proc.Spec, command string, leave bool) (end SandboxEnd, err error)
	SandboxText string // what the model is told of it
	// Terminal shows commands that run in the foreground and unconfined; nil: they are run here.
	Terminal Terminal
}

// SandboxEnd lets go of what a confined command needed. It is told how the command went and its output.
type SandboxEnd func(failed bool, output string) (notes []string)

// New returns the tools: Bash and, where commands may run in the background, TaskOutput and TaskStop.
func New(d Deps) []tool.Tool {
	b := newBash(d)
	b.def = b.definition()
	if !d.Background {
		return []tool.Tool{b}
	}
	return []tool.Tool{b, &taskOutput{d.Tasks, d.Others}, &taskStop{d.Tasks, d.Others}}
}

func newBash(d Deps) *bash {
	if d.Sandbox == nil {
		d.Sandbox = func(*proc.Spec, string, bool) (SandboxEnd, error) { return nil, nil }
	}
	b := &bash{Deps: d, limits: readLimits(d.Sys.Getenv)}
	if d.OutputChars > 0 {
		b.limits.inline = min(d.OutputChars, maxOutputChars)
	}
	return b
}

type bash struct {
	Deps
	limits limits
	def    msg.ToolDef
}

type limits struct {
	timeout, maxTimeout time.Duration
	inline              int
}

// readLimits applies the documented environment variables.
func readLimits(getenv func(string) string) limits {
	num := func(key string, fallback int) int {
		if n, err := strconv.Atoi(getenv(key)); err == nil && n > 0 {
			return n
		}
		return fallback
	}
	ms := func(key string, fallback time.Duration) time.Duration {
		return time.Duration(num(key, int(fallback/time.Millisecond))) * time.Millisecond
	}
	l := limits{timeout: ms("BASH_DEFAULT_TIMEOUT_MS", defaultTimeout)}
	l.maxTimeout = max(ms("BASH_MAX_TIMEOUT_MS", maxTimeout), l.timeout)
	l.inline = min(num("BASH_MAX_OUTPUT_LENGTH", inlineLimit), maxInlineLimit)
	return l
}

type property struct {
	Type        string `json:"type"`
	Description string `json:"description,omitempty"`
}

func (b *bash) definition() msg.ToolDef {
	var p struct {
		Command     property  `json:"command"`
		Description property  `json:"description"`
		Timeout     property  `json:"timeout"`
		Background  *property `json:"run_in_background,omitempty"`
		NoSandbox   property  `json:"dangerouslyDisableSandbox"`
	}
	p.Command.Type = "string"
	p.Description = property{"string", "What it does, in 5-10 words"}
	p.Timeout = property{"number", fmt.Sprintf("ms; default %d, max %d", b.limits.timeout.Milliseconds(), b.limits.maxTimeout.Milliseconds())}
	p.NoSandbox.Type = "boolean"
	text := strings.TrimSpace(bashText)
	if b.Background {
		p.Background = &property{"boolean", "Return at once with a task id"}
		text += strings.TrimRight(backgroundText, "\n")
	}
	if b.SandboxText != "" {
		text += " " + b.SandboxText
	}
	return msg.ToolDef{Name: "Bash", Description: text, InputSchema: schema(p, "command")}
}

// schema makes a compact object schema of a struct of properties.
func schema(properties any, required ...string) json.RawMessage {
	s, _ := json.Marshal(struct { // plain structs of strings always encode
		Type       string   `json:"type"`
		Properties any      `json:"properties"`
		Required   []string `json:"required"`
	}{"object", properties, required})
	return s
}

func (b *bash) Def() msg.ToolDef { return b.def }

// Aliases are names that models use for the parameters.
func (b *bash) Aliases() map[string]string {
	return map[string]string{"cmd": "command", "script": "command", "timeout_ms": "timeout", "background": "run_in_background"}
}

type input struct {
	Command     string  `json:"command"`
	Description string  `json:"description"`
	Timeout     float64 `json:"timeout"`
	Background  bool    `json:"run_in_background"`
	NoSandbox   bool    `json:"dangerouslyDisableSandbox"`
}

func (b *bash) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in input
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("read the input of Bash: %w", err)
	}
	if strings.TrimSpace(in.Command) == "" {
		return tool.Plan{}, errors.New("command is empty; give the shell command to run")
	}
	if strings.ContainsRune(in.Command, 0) {
		return tool.Plan{}, errNUL
	}
	j := &job{bash: b, in: in, callID: call.ID, timeout: b.limits.clamp(in.Timeout)}
	return tool.Plan{Summary: summary(in), Run: j.run}, nil
}

// clamp makes a duration of a wish in milliseconds.
func (l limits) clamp(ms float64) time.Duration {
	switch {
	case !(ms > 0):
		return l.timeout
	case ms >= float64(l.maxTimeout.Milliseconds()):
		return l.maxTimeout
	}
	return time.Duration(ms * float64(time.Millisecond))
}

func summary(in input) string {
	if d := strings.TrimSpace(in.Description); d != "" {
		return firstLine(d)
	}
	return firstLine(strings.TrimSpace(in.Command))
}

func firstLine(s string) string {
	line, _, more := strings.Cut(s, "\n")
	if runes := []rune(line); len(runes) > 120 {
		return string(runes[:119]) + "…"
	}
	if more {
		line += " …"
	}
	return line
}
