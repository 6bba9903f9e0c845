package perm

import (
	"strings"

	"lathe/internal/shell"
)

// shellCall judges one shell command. Findings are kept by strength; the strongest speaks for the whole.
type shellCall struct {
	*call
	script *shell.Script
	// start are the directories that the script may run in; nil means that they are not known.
	start []string
	out   *outcome
	depth int
}

// outcome is what was found over all parts.
type outcome struct {
	deny, ask, critical, unsure, guard []finding
	open                               []finding // parts that nothing covers
	parts                              []Part
	wanted                             [][]shell.Word // uncovered commands, for suggestions
	reads                              []string       // uncovered directories of cd, for suggestions
	noSuggest                          bool
	looks                              int     // directory entries that may still be looked at
	gitRuns                            *string // see gitRuns; nil before anybody has looked
	links                              bool    // the script makes links, see linksFirst
}

const (
	maxInner  = 4      // how deep shells in shells are looked into
	maxLayers = 40     // how many commands are taken out of one
	maxMoves  = 16     // how many directory changes are followed
	maxLooks  = 20_000 // how many directory entries one decision looks at
)

func (c *call) shell() Decision {
	text := c.field("command")
	s := &shellCall{
		call: c, script: shell.Analyse(text), out: &outcome{looks: maxLooks},
		start: []string{c.env.common(c.env.Workspace.Cwd)},
	}
	s.out.links = s.restrictsPaths() && s.linksFirst()
	s.examine(true)
	s.problems()
	d := s.out.decision(c)
	d.Parts = s.out.parts
	return d
}

// problems are what stands against the script as a whole.
func (s *shellCall) problems() {
	for _, why := range s.script.Problems {
		s.out.noSuggest = true
		s.out.guard = append(s.out.guard, because(Ask, "unparsed", "the command cannot be judged: "+why))
		s.opaque("the command cannot be read in full: " + why)
	}
	if len(s.script.Commands) == 0 && len(s.script.Problems) == 0 {
		s.out.open = append(s.out.open, because(Ask, "default", "the command is empty"))
	}
	if s.leaves() {
		s.out.noSuggest = true
		f := because(Ask, "tool", "it asks to run outside the sandbox")
		if s.env.Sandbox.On {
			s.out.unsure = append(s.out.unsure, f) // in every mode: whoever switched the sandbox on relies on it
		}
		s.out.guard = append(s.out.guard, f)
	}
}

func (o *outcome) decision(c *call) Decision {
	for _, list := range [][]finding{o.deny, o.ask, o.critical, o.unsure} {
		if len(list) > 0 {
			return list[0].decision()
		}
	}
	if c.env.Mode == ModeBypass {
		return c.bypass()
	}
	if c.sandboxed() && len(o.guard)+len(o.open) > 0 {
		return o.inSandbox()
	}
	if len(o.guard) > 0 {
		return o.guard[0].decision()
	}
	if len(o.open) == 0 {
		return o.covered()
	}
	d := o.open[0].decision()
	if !o.noSuggest && !c.trial {
		d.Suggest = c.suggested(c.commandRules(o)...)
	}
	return d
}

// covered is the decision when every part is allowed: its source is that of the first part with a rule or mode.
func (o *outcome) covered() Decision {
	best := because(Allow, "readonly", "every part only reads inside the working directories")
	for _, p := range o.parts {
		if p.Source.Kind == "rule" || p.Source.Kind == "mode" {
			best = finding{Allow, "every part is covered: " + p.Reason, p.Source}
			break
		}
	}
	return best.decision()
}

// examine looks at every command of the script. With cover it also asks what allows each one; without, it only
// looks for what speaks against it (the inside of sh -c, which no rule for the inner command covers).
func (s *shellCall) examine(cover bool) {
	for i := range s.script.Commands {
		c := &s.script.Commands[i]
		at := s.dirs(c)
		if len(c.Loops) == 0 {
			s.examineOne(c, at, cover)
			continue
		}
		for _, v := range s.variants(c) {
			s.examineOne(v, at, cover)
		}
	}
}

func (s *shellCall) examineOne(c *shell.Command, at []string, cover bool) {
	layers := s.layers(c)
	s.rulesAgainst(c, layers)
	for _, l := range layers {
		s.pathsAgainst(c, l, at)
		s.removals(c, l, at)
		s.lookInside(l, at)
	}
	s.redirects(c, at, cover)
	if cover {
		s.cover(c, layers, at)
	}
}

// layer is a command with its wrappers taken off one by one; the first is the command as written.
type layer struct {
	words   []shell.Word
	plain   bool // only wrappers that allow rules look through were taken off
	assigns bool // a wrapper set variables
	guess   bool // it may be what a program runs, and may be none of its commands
}

func (s *shellCall) layers(c *shell.Command) []layer {
	if c.Kind != shell.Simple || len(c.Words) == 0 {
		return nil
	}
	out := []layer{{words: c.Words, plain: true}}
	for i := 0; i < len(out) && len(out) < maxLayers; i++ {
		l := out[i]
		if text, literal := l.words[0].Literal(); literal && i > 0 && strings.ContainsAny(text, " \t\n;&|") { // watch 'git push'
			for _, words := range commandsOf(text) {
				out = append(out, layer{words: words, guess: l.guess})
			}
		}
		if in, ok := shell.Unwrap(l.words); ok {
			out = append(out, layer{in.Words, l.plain && in.Plain, l.assigns || len(in.Assigns) > 0, l.guess})
		}
		for _, words := range findExecs(l.words) {
			out = append(out, layer{words: words, guess: l.guess})
		}
		for _, words := range runBy(l.words) {
			out = append(out, layer{words: words, guess: l.guess})
		}
		for _, words := range shell.Guesses(l.words) {
			out = append(out, layer{words: words, guess: true})
		}
	}
	return out
}

// lookInside reads the script that a layer hands to another shell.
func (s *shellCall) lookInside(l layer, at []string) {
	h, ok := shell.Inner(l.words)
	if !ok {
		return
	}
	if h.Script == nil || s.depth >= maxInner {
		s.opaque(h.By + " runs commands that cannot be seen")
		return
	}
	inner := &shellCall{call: s.call, script: h.Script, start: at, out: s.out, depth: s.depth + 1}
	s.out.links = s.out.links || s.restrictsPaths() && inner.linksFirst()
	inner.examine(false)
	for _, why := range h.Script.Problems {
		s.opaque("the text that " + h.By + " runs cannot be read: " + why)
	}
}

// opaque notes a command that cannot be seen: where rules deny or ask for commands, one of them might match.
func (s *shellCall) opaque(why string) {
	rules := s.env.Rules
	if rules == nil {
		return
	}
	for _, effect := range []Verdict{Deny, Ask} {
		for i := range rules.bash[effect] {
			r := rules.bash[effect][i].rule
			if s.standsFor(effect, &rules.bash[effect][i]) {
				continue
			}
			s.out.unsure = append(s.out.unsure, because(Ask, "unsure", why+", so that a rule such as "+r.Text+" cannot be applied"))
			return
		}
	}
}

func (s *shellCall) add(text string, f finding) {
	s.out.parts = append(s.out.parts, f.part(text))
	switch f.verdict {
	case Deny:
		s.out.deny = append(s.out.deny, f)
	case Ask:
		s.out.open = append(s.out.open, f)
	}
}

// dirs are the directories that a command may run in, or nil when they cannot be told.
func (s *shellCall) dirs(c *shell.Command) []string {
	if c.Lost || s.start == nil || len(c.Moves) > maxMoves {
		return nil
	}
	cur := s.start
	for _, m := range c.Moves {
		cd := &s.script.Commands[m.Command]
		var next []string
		for _, dir := range cur {
			to, ok := s.cdTarget(cd, dir)
			if !ok {
				return nil
			}
			next = append(next, to)
		}
		if !m.Sure {
			next = append(next, cur...)
		}
		if cur = unique(next); len(cur) > 8 {
			return nil
		}
	}
	return cur
}

func unique(list []string) []string {
	out := list[:0:0]
	for _, s := range list {
		seen := false
		for _, o := range out {
			seen = seen || o == s
		}
		if !seen {
			out = append(out, s)
		}
	}
	return out
}

// cdTarget is the directory that a cd command leads to from dir.
func (s *shellCall) cdTarget(c *shell.Command, dir string) (to string, ok bool) {
	words := c.Words
	for {
		in, wrapped := shell.Unwrap(words)
		if !wrapped {
			break
		}
		words = in.Words
	}
	var operand *shell.Word
	for i := 1; i < len(words); i++ {
		flag, literal := words[i].Literal()
		if literal && (flag == "-P" || flag == "-L" || flag == "--") && operand == nil {
			continue
		}
		if operand != nil || literal && strings.HasPrefix(flag, "-") {
			return "", false
		}
		operand = &words[i]
	}
	for _, a := range c.Assigns {
		if a.Name == "CDPATH" || a.Name == "HOME" {
			return "", false
		}
	}
	if s.script.Assigns("CDPATH") {
		return "", false
	}
	if operand == nil {
		return s.env.common(s.env.Workspace.Home), s.env.Workspace.Home != "" && !s.script.Assigns("HOME")
	}
	v := s.value(*operand, len(c.Moves) == 0)
	if v.why != "" || v.glob || v.text == "" {
		return "", false
	}
	t := s.env.locate(v.text, dir)
	if strings.Contains(v.text, "..") && (t.problem != "" || s.env.locate(t.lexical, "/").real != t.real) {
		return "", false // past a link, .. leads elsewhere with -P, and where the written path does not exist
	}
	return t.lexical, true
}
