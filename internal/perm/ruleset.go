package perm

import (
	"cmp"
	"fmt"
	"strings"
)

// Options are what rules need to be compiled.
type Options struct {
	Start       string // the directory that the session started in
	Home        string
	ProjectRoot string
	Platform    string // as in Env
	// Trusted says that rules from the repository's own files may grant.
	Trusted bool
}

// Ruleset is a compiled set of rules, safe for concurrent use and never changed.
type Ruleset struct {
	opt   Options
	rules []Rule
	tools [4][]toolRule // by effect
	bash  [4][]bashRule
	read  [4][]pathRule
	edit  [4][]pathRule
	web   [4][]webRule
	named [4][]namedRule
}

type toolRule struct {
	name string // may hold stars
	glob bool
	rule Rule
}

type bashRule struct {
	textPattern
	blanket bool // lets anything run: not in force in mode auto
	rule    Rule
}

type pathRule struct {
	pathPattern
	rule Rule
	tool string // only calls of this tool, or "" for all
}

type webRule struct {
	domainPattern
	rule Rule
}

// namedRule is Agent(name), Skill(name …) and Tool(param:value).
type namedRule struct {
	tool  string
	param string // the input field
	value string // may hold stars
	rule  Rule
}

// Compile reads rules. Those that are malformed or can never match come back as warnings.
func Compile(rules []Rule, opt Options) (*Ruleset, []Warning) {
	s := &Ruleset{opt: opt}
	var warnings []Warning
	for _, r := range rules {
		if r.Effect < Allow || r.Effect > Deny {
			continue
		}
		if r.Source.Kind == "" {
			r.Source.Kind = "rule"
		}
		r.Source.Rule = r.Text
		if r.Effect == Allow && r.Repo && !opt.Trusted {
			continue
		}
		s.rules = append(s.rules, r)
		if why := s.add(r); why != "" {
			warnings = append(warnings, Warning{Rule: r, Text: why})
		}
	}
	return s, warnings
}

// With returns a set with more rules.
func (s *Ruleset) With(rules ...Rule) *Ruleset {
	more := &Ruleset{}
	if s != nil {
		*more = *s
	}
	for i := range more.tools {
		// The clipped slices make sure that append copies.
		more.tools[i] = more.tools[i][:len(more.tools[i]):len(more.tools[i])]
		more.bash[i] = more.bash[i][:len(more.bash[i]):len(more.bash[i])]
		more.read[i] = more.read[i][:len(more.read[i]):len(more.read[i])]
		more.edit[i] = more.edit[i][:len(more.edit[i]):len(more.edit[i])]
		more.web[i] = more.web[i][:len(more.web[i]):len(more.web[i])]
		more.named[i] = more.named[i][:len(more.named[i]):len(more.named[i])]
	}
	more.rules = append(more.rules[:len(more.rules):len(more.rules)], rules...)
	for _, r := range rules {
		r.Source.Kind, r.Source.Rule = "rule", r.Text
		more.add(r)
	}
	return more
}

// add compiles one rule. why is not empty when it is left out or will not do what its text says.
func (s *Ruleset) add(r Rule) (why string) {
	p, err := parseRule(r.Text)
	switch {
	case err == errEmpty && r.Effect != Allow:
		p.bare, why = true, err.Error()
	case err != nil:
		return err.Error()
	}
	if strings.Contains(p.tool, "*") {
		return s.addGlob(p, r)
	}
	if meant := meantTool(p.tool); meant != "" || r.Effect != Allow && !known(p.tool) {
		why = fmt.Sprintf("there is no tool named %q", p.tool)
		if meant != "" {
			why += "; did you mean " + meant + "?"
		}
	}
	if p.bare {
		s.addBare(p.tool, r)
		return why
	}
	if strings.HasPrefix(p.tool, "mcp__") || r.Effect != Allow && !known(p.tool) {
		return cmp.Or(why, s.addParam(p, r))
	}
	switch i := info(p.tool); {
	case s.isParam(p, i):
		return s.addParam(p, r)
	case i.family == famShell:
		e := bashRule{textPattern: compileText(p.content), rule: r}
		e.blanket = blanket(e.textPattern)
		s.bash[r.Effect] = append(s.bash[r.Effect], e)
		return neverMatches(p.content)
	case i.family == famRead || i.family == famWrite:
		return s.addPath(p, r)
	case i.family == famWeb:
		return s.addWeb(p, r)
	case i.family == famAgent:
		s.named[r.Effect] = append(s.named[r.Effect], namedRule{tool: "Agent", param: "subagent_type", value: p.content, rule: r})
		return ""
	case i.family == famSkill:
		s.named[r.Effect] = append(s.named[r.Effect], namedRule{tool: "Skill", param: "skill", value: p.content, rule: r})
		return ""
	case p.tool == "Cd":
		return ""
	}
	return cmp.Or(why, fmt.Sprintf("%s takes no content in parentheses", p.tool))
}

// addGlob adds a rule whose tool name has a star.
func (s *Ruleset) addGlob(p parsed, r Rule) (why string) {
	if !p.bare {
		return "a tool name with a star takes no content in parentheses"
	}
	if r.Effect == Allow {
		server, _, ok := strings.Cut(strings.TrimPrefix(p.tool, "mcp__"), "__")
		if !strings.HasPrefix(p.tool, "mcp__") || !ok || strings.Contains(server, "*") || server == "" {
			return "a tool name with a star allows nothing, except after a full mcp__server__"
		}
	}
	s.addBare(p.tool, r)
	return ""
}

// addBare adds a rule for a whole tool. Those for Bash, Read and Edit also count where their content rules do.
func (s *Ruleset) addBare(tool string, r Rule) {
	s.tools[r.Effect] = append(s.tools[r.Effect], toolRule{name: tool, glob: strings.Contains(tool, "*"), rule: r})
	switch tool {
	case "Bash":
		s.bash[r.Effect] = append(s.bash[r.Effect], bashRule{textPattern: textPattern{all: true}, blanket: true, rule: r})
	case "Read":
		s.read[r.Effect] = append(s.read[r.Effect], pathRule{pathPattern: pathPattern{all: true}, rule: r})
	case "Edit":
		s.edit[r.Effect] = append(s.edit[r.Effect], pathRule{pathPattern: pathPattern{all: true}, rule: r})
	}
}

// isParam says whether the content is param:value.
func (s *Ruleset) isParam(p parsed, i toolInfo) bool {
	name, _, ok := strings.Cut(p.content, ":")
	return ok && (i.hasField(name) || primaryField(name))
}

func (s *Ruleset) addParam(p parsed, r Rule) (why string) {
	name, value, ok := strings.Cut(p.content, ":")
	switch {
	case !ok || strings.ContainsAny(name, " \t*"):
		return fmt.Sprintf("%s takes parameter:value in parentheses", p.tool)
	case r.Effect == Allow:
		return "a parameter rule cannot allow"
	case primaryField(name) && !strings.HasPrefix(p.tool, "mcp__"):
		return fmt.Sprintf("the field %s cannot be matched as a parameter", name)
	}
	s.named[r.Effect] = append(s.named[r.Effect], namedRule{tool: p.tool, param: name, value: value, rule: r})
	return ""
}

func (s *Ruleset) addPath(p parsed, r Rule) (why string) {
	source := r.Dir
	if source == "" {
		source = s.opt.ProjectRoot
	}
	e := Env{Platform: s.opt.Platform}
	pattern, why := compilePath(p.content, r.Effect, anchors{
		start: e.common(s.opt.Start), home: e.common(s.opt.Home), source: e.common(source), platform: s.opt.Platform,
	})
	if why != "" {
		return why
	}
	switch p.tool {
	case "Read":
		s.read[r.Effect] = append(s.read[r.Effect], pathRule{pathPattern: pattern, rule: r})
	case "Edit":
		s.edit[r.Effect] = append(s.edit[r.Effect], pathRule{pathPattern: pattern, rule: r})
	default:
		name := info(p.tool).bare
		why = fmt.Sprintf("paths are matched by %s rules; write %s(%s)", name, name, p.content)
		if r.Effect == Allow {
			return why
		}
		// What restricts is kept for the tool that it names.
		list := &s.read
		if name == "Edit" {
			list = &s.edit
		}
		list[r.Effect] = append(list[r.Effect], pathRule{pathPattern: pattern, rule: r, tool: p.tool})
	}
	return why
}

func (s *Ruleset) addWeb(p parsed, r Rule) (why string) {
	domain, ok := strings.CutPrefix(p.content, "domain:")
	if !ok {
		return "WebFetch takes domain:host in parentheses"
	}
	pattern, why := compileDomain(domain)
	if why == "" {
		s.web[r.Effect] = append(s.web[r.Effect], webRule{domainPattern: pattern, rule: r})
	}
	return why
}

// tool returns the first rule of an effect that covers every call of the tool.
func (s *Ruleset) tool(effect Verdict, name string) *Rule {
	if s == nil {
		return nil
	}
	for i := range s.tools[effect] {
		t := &s.tools[effect][i]
		if t.covers(name) {
			return &t.rule
		}
	}
	return nil
}

func (t *toolRule) covers(name string) bool {
	if t.glob {
		return Stars(t.name, name)
	}
	if t.name == name || t.name == info(name).bare {
		return true
	}
	server, isServer := strings.CutPrefix(t.name, "mcp__")
	return isServer && !strings.Contains(server, "__") && strings.HasPrefix(name, t.name+"__")
}
