package perm

import (
	"encoding/json"
	"path"
	"strings"

	"lathe/internal/shell"
)

// Risk is how much a call could do that is hard to take back: Low, Medium or High.
type Risk int

// The risks.
const (
	RiskLow    Risk = iota // it only looks
	RiskMedium             // it changes something, or does what is not known here
	RiskHigh               // it reaches beyond the working directories, destroys, or cannot be seen
)

func (r Risk) String() string { return [...]string{"low", "medium", "high"}[r] }

// Effect is one thing that a call would do.
type Effect struct {
	Part string // the piece of the call as written; empty: the whole
	Does string // in words
	Risk Risk
}

// Explain says what a call would do, from its text and its paths alone: nothing is run, and no model is asked. It is for a
// person who decides, and decides nothing itself. The risk of the whole is that of its worst effect.
func Explain(req Request, env Env) (effects []Effect, worst Risk) {
	x := &explainer{call: &call{env: &env, tool: req.Tool, info: info(req.Tool), input: req.Input, readOnly: req.ReadOnly, target: req.Target}}
	if json.Unmarshal(req.Input, &x.fields) != nil {
		x.add("", "has an input that cannot be read", RiskHigh)
	}
	switch x.info.family {
	case famShell:
		x.script(&shellCall{
			call: x.call, script: shell.Analyse(x.field("command")), out: &outcome{looks: maxLooks}, start: []string{env.common(env.Workspace.Cwd)},
		})
	case famRead:
		for _, a := range x.readPaths() {
			x.file("", "reads", env.locate(a.path, first(a.base, env.Workspace.Cwd)), RiskLow)
		}
	case famWrite:
		t := env.locate(x.field(x.info.primary), env.Workspace.Cwd)
		does := "makes the file"
		if t.exists {
			does = "changes the file"
		}
		x.file("", does, t, RiskMedium)
	case famWeb:
		x.web()
	default:
		x.other()
	}
	for _, e := range x.effects {
		worst = max(worst, e.Risk)
	}
	return x.effects, worst
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

type explainer struct {
	*call
	effects []Effect
}

func (x *explainer) add(part, does string, r Risk) {
	x.effects = append(x.effects, Effect{part, does, r})
}

func (x *explainer) web() {
	host, problem := webHost(x.field("url"))
	switch {
	case problem != "":
		x.add("", "asks an address that cannot be judged: "+problem, RiskHigh)
	case internalHost(host):
		x.add("", "sends a request to "+host+", which is on this machine or network; the model reads the answer", RiskHigh)
	default:
		x.add("", "sends a request to "+host+"; the address itself may carry data, and the model reads the answer", RiskMedium)
	}
}

func (x *explainer) other() {
	switch {
	case strings.HasPrefix(x.tool, "mcp__") && x.readOnly:
		x.add("", "hands its input to an MCP server, which says that this tool changes nothing", RiskMedium)
	case strings.HasPrefix(x.tool, "mcp__"):
		x.add("", "hands its input to an MCP server; what that does with it is not seen here, and no rule of files or addresses reaches it", RiskMedium)
	case x.readOnly:
		x.add("", "changes nothing, by the tool's own word", RiskLow)
	default:
		x.add("", "does what the tool "+x.tool+" does", RiskMedium)
	}
}

// file adds what is done to a file; where it stands says how much that matters.
func (x *explainer) file(part, does string, t target, r Risk) {
	does += " " + t.lexical
	write := r > RiskLow
	if t.real != "" && t.real != t.lexical {
		does += ", which is " + t.real
	}
	switch f := x.env.guarded(access{path: t.lexical, write: write}, t); {
	case t.problem != "":
		does, r = does+": "+t.problem, RiskHigh
	case f.verdict != Abstain:
		does, r = does+": "+f.reason, RiskHigh
	case !x.env.insideAll(t) && write:
		does, r = does+", outside of the working directories", RiskHigh
	case !x.env.insideAll(t):
		does, r = does+", outside of the working directories", max(r, RiskMedium)
	}
	x.add(part, does, r)
}

func (x *explainer) script(s *shellCall) {
	for i := range s.script.Commands {
		x.command(s, &s.script.Commands[i])
	}
	for _, why := range s.script.Problems {
		x.add("", "cannot be read in full: "+why, RiskHigh)
	}
}

func (x *explainer) command(s *shellCall, c *shell.Command) {
	at := s.dirs(c)
	switch {
	case c.Kind == shell.Test:
		x.add(c.Text, "compares, and changes nothing", RiskLow)
	case c.Kind == shell.Function:
		x.add(c.Text, "gives commands a name, which may be that of a program", RiskMedium)
	case c.Kind == shell.Simple && len(c.Words) == 0 && len(c.Assigns) > 0, c.Kind == shell.Declare:
		x.add(c.Text, "sets variables", RiskLow)
	case c.Kind == shell.Simple && len(c.Words) > 0:
		for _, l := range s.layers(c) {
			if name, _ := l.words[0].Literal(); l.guess && programs()[path.Base(name)] == nil && deeds()[path.Base(name)].does == "" {
				continue // no more than an argument, as far as is known
			}
			x.program(s, c, l, at)
		}
	case c.Kind != shell.Group && c.Kind != shell.Simple:
		x.add(c.Text, "cannot be told", RiskMedium)
	}
	for _, r := range c.Redirs {
		if name, ok := r.Target.Literal(); ok && strings.HasPrefix(name, "/dev/") {
			continue
		}
		switch r.Kind {
		case shell.RedirWrite:
			x.operands(s, r.Text, "writes", []operand{{word: r.Target}}, at, RiskMedium)
		case shell.RedirRead:
			x.operands(s, r.Text, "reads", []operand{{word: r.Target}}, at, RiskLow)
		case shell.RedirUnsure:
			x.add(r.Text, "is read differently by different shells", RiskHigh)
		}
	}
}

// program adds what one program would do with its words. Of a wrapper (sudo, xargs) only what it adds itself is told: what
// it runs is a layer of its own.
func (x *explainer) program(s *shellCall, c *shell.Command, l layer, at []string) {
	name, literal := l.words[0].Literal()
	base := path.Base(name)
	deed, told := deeds()[base]
	part := wordsText(l.words)
	if h, ok := shell.Inner(l.words); ok {
		if h.Script == nil || s.depth >= maxInner {
			x.add(part, "runs commands that are only known when it runs", RiskHigh)
			return
		}
		x.script(&shellCall{call: s.call, script: h.Script, start: at, out: s.out, depth: s.depth + 1})
		return
	}
	_, wraps := shell.Unwrap(l.words)
	wraps = wraps || len(findExecs(l.words)) > 0 || base != "git" && len(runBy(l.words)) > 0
	p, _ := lookup(l.words)
	switch {
	case !literal:
		x.add(part, "runs a program whose name is only known when it runs", RiskHigh)
	case wraps && told:
		x.add(part, deed.does, deed.risk)
	case wraps:
	case p != nil && name != "git":
		x.known(s, base, l.words, p.use(l.words), at)
	case p != nil:
		u := p.use(l.words)
		if u.why == "" {
			x.add(part, "looks at the repository, and changes nothing", RiskLow)
			return
		}
		does, r := gitDeed(l.words)
		x.add(part, does, r)
	case told:
		x.add(part, deed.does, deed.risk)
	default:
		x.add(part, "runs the program "+name+"; what that does is not known here", RiskMedium)
	}
}

func wordsText(words []shell.Word) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.Text
	}
	return strings.Join(list, " ")
}

// known adds what a program does whose words are understood.
func (x *explainer) known(s *shellCall, name string, words []shell.Word, u usage, at []string) {
	part := wordsText(words)
	before := len(x.effects)
	x.operands(s, part, "reads", u.reads, at, RiskLow)
	verb := "changes"
	switch name {
	case "rm", "rmdir", "unlink":
		verb = "deletes"
	case "mkdir", "touch":
		verb = "makes"
	case "cp", "mv", "ln", "tee":
		verb = "writes"
	}
	risk := RiskMedium
	if name == "rm" && recursive(words) {
		verb, risk = "deletes, with all that is in it,", RiskHigh
	}
	x.operands(s, part, verb, u.writes, at, risk)
	switch {
	case u.why != "" && !u.edits:
		x.add(part, "may do more than read: "+u.why, RiskMedium)
	case u.why != "" && len(u.writes) == 0:
		x.add(part, "changes files", RiskMedium)
	case len(x.effects) == before:
		x.add(part, "reads or prints, and changes nothing", RiskLow)
	}
}

// recursive reports whether words of rm ask for folders with all that is in them.
func recursive(words []shell.Word) bool {
	for _, w := range words[1:] {
		switch f, _ := w.Literal(); {
		case f == "--":
			return false
		case strings.HasPrefix(f, "--"):
			if strings.HasPrefix("--recursive", f) {
				return true
			}
		case strings.HasPrefix(f, "-") && strings.ContainsAny(f, "rR"):
			return true
		}
	}
	return false
}

// operands adds what is done to the files that words name.
func (x *explainer) operands(s *shellCall, part, does string, list []operand, at []string, r Risk) {
	for _, o := range list {
		names, why := s.paths(o.word, at, false)
		if why != "" {
			x.add(part, does+" "+o.word.Text+", a file that cannot be told: "+why, max(r, RiskMedium))
			continue
		}
		for i, n := range names {
			if i == 5 {
				x.add(part, does+" more files like these", r)
				break
			}
			x.file(part, does, x.env.locate(n, "/"), r)
		}
	}
}
