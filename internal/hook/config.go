package hook

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe/internal/perm"
)

// Source is the "hooks" value of one settings file. Only trusted files may be given, others as held.
type Source struct {
	Scope string
	File  string // empty: the command line
	Dir   string // what path rules with one leading slash are relative to
	Hooks json.RawMessage
	// Held says why the handlers are not run, "" where they are. What one would have judged is then held up; see holdsUp.
	Held string
	// CallsOnly leaves prompts, commands and models out of that: a person is there who was asked and knows.
	CallsOnly bool
	// Line is the line of the value at a JSON pointer below the file's root; nil or 0: not known.
	Line func(pointer string) int
}

// Set is the handlers of all sources. It is not changed after Parse.
type Set struct {
	groups map[Event][]group
	// Warnings name what was skipped, with file and line.
	Warnings []string
}

type group struct {
	matcher  matcher
	text     string // of the matcher, for messages
	where    string
	handlers []*handler
}

// handler is one entry of a hooks list.
type handler struct {
	fields
	kind    int
	timeout time.Duration // 0: the default
	cond    condition
	never   bool // has an "if" where none is understood
	key     string
	source  perm.Source
	where   string // file:line

	held     string // why it is not run
	callback string // id of the host's callback
}

// fields are those of the configuration. The whole of them is what makes two handlers the same.
type fields struct {
	Type            string            `json:"type"`
	If              string            `json:"if"`
	StatusMessage   string            `json:"statusMessage"`
	Command         string            `json:"command"`
	Args            []string          `json:"args"`
	Shell           string            `json:"shell"`
	Async           bool              `json:"async"`
	AsyncRewake     bool              `json:"asyncRewake"`
	OnFailure       string            `json:"onFailure"`
	URL             string            `json:"url"`
	Headers         map[string]string `json:"headers"`
	AllowedEnvVars  []string          `json:"allowedEnvVars"`
	Server          string            `json:"server"`
	Tool            string            `json:"tool"`
	Input           json.RawMessage   `json:"input"`
	Prompt          string            `json:"prompt"`
	Model           string            `json:"model"`
	ContinueOnBlock bool              `json:"continueOnBlock"`
}

// Parse reads the handlers of the sources, highest first. What cannot be read is skipped and named; the rest counts.
func Parse(sources []Source, opt perm.Options) *Set {
	s := &Set{groups: map[Event][]group{}}
	for _, src := range sources {
		p := parser{set: s, src: src, opt: opt}
		p.root()
	}
	return s
}

// Empty reports that no handler would ever run.
func (s *Set) Empty() bool { return s == nil || len(s.groups) == 0 }

// Has is what it is of a Bus, for the handlers of this set.
func (s *Set) Has(e Event, match string) bool { return s != nil && looked(e, match, s.groups[e]) }

// Of returns the handlers of an agent, which in turn are active in an agent that this one starts: for that one's end
// only its own count.
func (s *Set) Of(inner *Set) *Set {
	out := &Set{groups: map[Event][]group{}}
	for _, from := range []*Set{s, inner} {
		if from == nil {
			continue
		}
		for e, g := range from.groups {
			if from == inner || e != SubagentStop && e != SubagentStart {
				out.groups[e] = append(out.groups[e], g...)
			}
		}
	}
	return out
}

// Info is one handler, for people.
type Info struct{ Event, Matcher, Type, Title, Where string }

// List returns the handlers, sorted by event, in the order in which they stand.
func (s *Set) List() []Info {
	var out []Info
	for _, e := range slices.Sorted(maps.Keys(s.groups)) {
		for _, g := range s.groups[e] {
			for _, h := range g.handlers {
				out = append(out, Info{string(e), g.text, h.Type, h.title(), h.where})
			}
		}
	}
	return out
}

// Longest returns the largest timeout that handlers of an event ask for; 0 when none does.
func (s *Set) Longest(e Event) time.Duration {
	var most time.Duration
	for _, g := range s.groups[e] {
		for _, h := range g.handlers {
			most = max(most, h.timeout)
		}
	}
	return most
}

type parser struct {
	set *Set
	src Source
	opt perm.Options
}

func (p *parser) where(pointer string) string {
	file := "--settings"
	if p.src.File != "" {
		file = filepath.ToSlash(p.src.File)
	}
	if p.src.Line != nil {
		if n := p.src.Line(pointer); n > 0 {
			return fmt.Sprintf("%s:%d", file, n)
		}
	}
	return file
}

func (p *parser) warn(pointer, format string, args ...any) {
	p.set.Warnings = append(p.set.Warnings, p.where(pointer)+": "+fmt.Sprintf(format, args...))
}

func (p *parser) root() {
	var events map[string]json.RawMessage
	if err := json.Unmarshal(p.src.Hooks, &events); err != nil {
		p.warn("/hooks", "hooks must be an object of events (skipped)")
		return
	}
	for _, name := range slices.Sorted(maps.Keys(events)) {
		pointer := "/hooks/" + escape(name)
		info, ok := infoOf(Event(name))
		if !ok {
			p.warn(pointer, "there is no hook event %q (skipped)", name)
			continue
		}
		if p.src.Held != "" && (!holdsUp(Event(name)) || p.src.CallsOnly && Event(name) != PreToolUse) {
			continue
		}
		var list []json.RawMessage
		if json.Unmarshal(events[name], &list) != nil {
			p.warn(pointer, "hooks.%s must be a list of {matcher, hooks} (skipped)", name)
			continue
		}
		for i, raw := range list {
			p.group(Event(name), info, fmt.Sprintf("%s/%d", pointer, i), raw)
		}
	}
}

// escape writes a key for a JSON pointer.
func escape(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

func (p *parser) group(e Event, info eventInfo, pointer string, raw json.RawMessage) {
	var g struct {
		Matcher json.RawMessage `json:"matcher"`
		Hooks   json.RawMessage `json:"hooks"`
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &g) != nil || json.Unmarshal(g.Hooks, &list) != nil {
		p.warn(pointer, "an entry of hooks.%s needs a list \"hooks\" of handlers (skipped)", e)
		return
	}
	text := ""
	if len(g.Matcher) > 0 && json.Unmarshal(g.Matcher, &text) != nil {
		p.warn(pointer, "the matcher of hooks.%s must be a text (skipped)", e)
		return
	}
	out := group{text: text, where: p.where(pointer)}
	if info.match {
		out.matcher = newMatcher(text, info.narrow)
		p.checkMatcher(e, pointer, text, out.matcher)
	}
	for i, h := range list {
		if made := p.handler(e, info, fmt.Sprintf("%s/hooks/%d", pointer, i), h); made != nil {
			out.handlers = append(out.handlers, made)
		}
	}
	if len(out.handlers) > 0 {
		p.set.groups[e] = append(p.set.groups[e], out)
	}
}

func (p *parser) checkMatcher(e Event, pointer, text string, m matcher) {
	switch {
	case m.broken != "" && guards(e):
		p.warn(pointer, "the matcher %q of hooks.%s cannot be used (%s): until it is mended, every call is blocked", text, e, m.broken)
	case m.broken != "":
		p.warn(pointer, "the matcher %q of hooks.%s cannot be used (%s): it matches nothing", text, e, m.broken)
	case infoCond(e) && strings.HasSuffix(text, ")") && strings.IndexByte(text, '(') > 0 && isName(text[:strings.IndexByte(text, '(')]):
		p.warn(pointer, "the matcher %q of hooks.%s is compared with tool names only; write a permission rule as \"if\" of the handler", text, e)
	}
}

func isName(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !nameRune(r, true) || r == '|' }) < 0
}

func infoCond(e Event) bool { info, _ := infoOf(e); return info.cond }

// guards says that a matcher that cannot be evaluated must stop the call.
func guards(e Event) bool { return e == PreToolUse || e == PermissionRequest }

// holdsUp says that an event waits for what a handler says of it: one that is there and is not run must not let it pass unseen.
// What it holds up at PreToolUse is asked about; a question of PermissionRequest is asked as it is.
func holdsUp(e Event) bool {
	switch e {
	case PreToolUse, UserPromptSubmit, UserPromptExpansion, PreSkillShellCommand, PreModelSwitch, ConfigChange:
		return true
	}
	return false
}

func kindOf(name string) int {
	switch name {
	case "command":
		return kindCommand
	case "http":
		return kindHTTP
	case "mcp_tool":
		return kindTool
	case "prompt":
		return kindPrompt
	case "agent":
		return kindAgent
	}
	return 0
}

func (p *parser) handler(e Event, info eventInfo, pointer string, raw json.RawMessage) *handler {
	h := &handler{where: p.where(pointer)}
	var keys map[string]json.RawMessage
	if json.Unmarshal(raw, &keys) != nil {
		p.warn(pointer, "a handler of hooks.%s must be an object (skipped)", e)
		return nil
	}
	p.timeout(h, pointer, keys["timeout"])
	delete(keys, "timeout")
	rest, err := json.Marshal(keys)
	if err == nil {
		err = json.Unmarshal(rest, &h.fields)
	}
	if err != nil {
		p.warn(pointer, "a handler of hooks.%s has a value of the wrong type: %v (skipped)", e, err)
		return nil
	}
	if h.kind = kindOf(h.Type); h.kind == 0 {
		p.warn(pointer, "a handler of hooks.%s needs a type: command, http, mcp_tool, prompt or agent, not %q (skipped)", e, h.Type)
		return nil
	}
	if problem := h.problem(info); problem != "" {
		p.warn(pointer, "a handler of hooks.%s %s (skipped)", e, problem)
		return nil
	}
	h.held = p.src.Held
	if h.held != "" && (h.Async || h.AsyncRewake) {
		return nil // it decides nothing
	}
	p.condition(h, e, info, pointer)
	key, _ := json.Marshal(h.fields)
	h.key = string(key)
	line := 0
	if p.src.Line != nil {
		line = p.src.Line(pointer)
	}
	h.source = perm.Source{Kind: "hook", Rule: h.title(), Scope: p.src.Scope, File: p.src.File, Line: line}
	return h
}

// timeout reads seconds. One that is no number costs the handler nothing but its own limit: a guard must not go
// away for that.
func (p *parser) timeout(h *handler, pointer string, raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	var seconds float64
	if json.Unmarshal(raw, &seconds) != nil || seconds <= 0 || seconds > 1e6 {
		p.warn(pointer, "timeout must be a number of seconds, not %s (the default counts)", raw)
		return
	}
	h.timeout = time.Duration(seconds * float64(time.Second))
}

// problem says what makes a handler useless, "" when nothing does.
func (h *handler) problem(info eventInfo) string {
	need := map[int]string{kindCommand: h.Command, kindHTTP: h.URL, kindTool: h.Tool, kindPrompt: h.Prompt, kindAgent: h.Prompt}
	name := map[int]string{kindCommand: "command", kindHTTP: "url", kindTool: "tool", kindPrompt: "prompt", kindAgent: "prompt"}
	switch {
	case info.kinds&h.kind == 0:
		return fmt.Sprintf("has the type %s, which this event does not allow", h.Type)
	case strings.TrimSpace(need[h.kind]) == "":
		return "has no " + name[h.kind]
	case h.kind == kindTool && h.Server == "":
		return "has no server"
	case h.Shell != "" && h.Shell != "bash" && h.Shell != "powershell":
		return fmt.Sprintf("has the shell %q, which is neither bash nor powershell", h.Shell)
	case h.OnFailure != "" && h.OnFailure != "continue" && h.OnFailure != "block":
		return fmt.Sprintf("has onFailure %q, which is neither continue nor block", h.OnFailure)
	}
	return ""
}

func (p *parser) condition(h *handler, e Event, info eventInfo, pointer string) {
	switch {
	case h.If == "":
	case !info.cond:
		h.never = true
		p.warn(pointer, "hooks.%s knows no \"if\": the handler never runs", e)
	default:
		var problem string
		if h.cond, problem = newCondition(h.If, p.src.Dir, p.opt); problem != "" {
			p.warn(pointer, "the condition %q cannot be used (%s): the handler runs without it", h.If, problem)
		}
	}
}

// title is how messages name the handler.
func (h *handler) title() string {
	switch h.kind {
	case kindCommand:
		return strings.TrimSpace(h.Command + " " + strings.Join(h.Args, " "))
	case kindHTTP:
		return h.URL
	case kindTool:
		return "mcp__" + h.Server + "__" + h.Tool
	case kindCallback:
		return "the host's " + h.callback
	}
	return h.Type + ": " + firstLine(h.Prompt)
}

// limit is how long the handler may take at an event.
func (h *handler) limit(info eventInfo) time.Duration {
	switch {
	case h.timeout > 0:
		return h.timeout
	case info.timeout > 0:
		return info.timeout
	case h.kind == kindPrompt:
		return 30 * time.Second
	case h.kind == kindAgent:
		return 60 * time.Second
	}
	return 600 * time.Second
}

// blocksOnFailure says that a failure counts as a block.
func (h *handler) blocksOnFailure(info eventInfo) bool {
	return h.OnFailure == "block" && h.kind&(kindCommand|kindHTTP|kindTool|kindAgent|kindCallback) != 0 && !info.firm && !h.Async && !h.AsyncRewake
}
