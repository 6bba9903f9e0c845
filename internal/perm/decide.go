package perm

import (
	"encoding/json"
	"fmt"
	"strings"
)

// finding is one verdict with its reason and source.
type finding struct {
	verdict Verdict
	reason  string
	source  Source
}

func byRule(v Verdict, r *Rule, what string) finding {
	words := map[Verdict]string{Allow: "is allowed", Ask: "must be asked for", Deny: "is denied"}
	return finding{v, fmt.Sprintf("%s %s by the rule %s", what, words[v], r.Text), r.Source}
}

func because(v Verdict, kind, reason string) finding {
	return finding{v, reason, Source{Kind: kind}}
}

func (f finding) decision(parts ...Part) Decision {
	return Decision{Verdict: f.verdict, Reason: f.reason, Source: f.source, Parts: parts}
}

// part is a row of the proof. The text stands beside its reason there, so the reason does not say it again.
func (f finding) part(text string) Part {
	return Part{Text: text, Verdict: f.verdict, Reason: strings.TrimPrefix(f.reason, uncovered(text)), Source: f.source}
}

// uncovered begins the reason of a part that nothing covers.
func uncovered(text string) string { return "nothing covers the part " + quoted(text) + ": " }

// Decide judges one tool call. The first that speaks decides: a deny rule, an ask rule, what never runs unasked
// (critical removals, protected paths), the mode, an allow rule, what needs no approval; else it is asked.
// An Ask becomes a Deny in mode dontAsk; in mode auto its source kind is "classifier" where the classifier may
// answer it. Decide changes nothing, and looks at the file system only to resolve links and globs.
func Decide(req Request, env Env) Decision {
	if env.Mode == "" {
		env.Mode = ModeDefault
	}
	c := &call{env: &env, tool: canonicalTool(req.Tool), info: info(canonicalTool(req.Tool)), input: req.Input, readOnly: req.ReadOnly, target: req.Target, also: req.Also, person: req.Person}
	return env.inMode(c.decide())
}

// inMode turns a question into what the mode makes of it.
func (e *Env) inMode(d Decision) Decision {
	if d.Verdict != Ask {
		return d
	}
	switch e.Mode {
	case ModeDontAsk:
		d.Verdict, d.Suggest = Deny, nil
		d.Reason += "; the mode dontAsk denies what would be asked"
	case ModeAuto:
		if d.Source.Kind != "rule" && d.Source.Kind != "critical" && d.Source.Kind != "tool" && d.Source.Kind != "interaction" && d.Source.Kind != "unsure" {
			d.Source.Kind = "classifier"
		}
	}
	return d
}

// call is a request being judged.
type call struct {
	env      *Env
	tool     string
	info     toolInfo
	input    json.RawMessage
	fields   map[string]json.RawMessage
	readOnly bool
	target   string // see Request
	also     []string
	person   bool
	trial    bool // a check of suggested rules: makes no suggestions itself
}

func (c *call) decide() Decision {
	rules := c.env.Rules
	if r := rules.tool(Deny, c.tool); r != nil {
		return byRule(Deny, r, "the tool "+c.tool).decision()
	}
	if err := json.Unmarshal(c.input, &c.fields); err != nil && len(c.input) > 0 {
		return because(Ask, "unparsed", "the input is not a JSON object").decision()
	}
	if c.info.family == famAgent && c.fields != nil && strings.TrimSpace(c.field("subagent_type")) == "" {
		c.fields["subagent_type"] = json.RawMessage(`"general-purpose"`) // what a call without one gets
	}
	if r := c.named(Deny); r != nil {
		return byRule(Deny, r, "this call").decision()
	}
	asked := rules.tool(Ask, c.tool)
	if c.sandboxed() {
		asked = nil
	}
	if asked == nil {
		asked = c.named(Ask)
	}
	d := c.byFamily()
	if c.person && d.Verdict != Deny {
		d = because(Ask, "interaction", c.tool+" wants a person to agree to each call").decision(d.Parts...)
	}
	if asked != nil && d.Verdict != Deny {
		parts := d.Parts
		d = byRule(Ask, asked, "this call").decision(parts...)
	}
	return d
}

func (c *call) byFamily() Decision {
	switch c.info.family {
	case famShell:
		return c.shell()
	case famRead:
		return c.file(c.readPaths())
	case famWrite:
		return c.file([]access{{path: c.field(c.info.primary), write: true, target: c.target}})
	case famWeb:
		return c.web()
	case famPerson:
		return because(Ask, "tool", c.tool+" is a question to the person").decision()
	}
	return c.other()
}

// other judges the tools that have no path, command or URL.
func (c *call) other() Decision {
	if c.env.Mode == ModeBypass {
		return c.bypass()
	}
	if r := c.allowed(); r != nil && (c.env.Mode != ModePlan || c.info.family != famMCP || c.readOnly) {
		return byRule(Allow, r, "the tool "+c.tool).decision()
	}
	switch {
	case c.info.family == famFree, c.info.family == famAgent:
		return because(Allow, "tool", c.tool+" needs no approval by itself").decision()
	case c.info.family == famOther && c.readOnly:
		return because(Allow, "tool", c.tool+" changes nothing").decision()
	}
	d := c.uncovered("no rule covers a call of " + c.tool)
	switch c.info.family {
	case famMCP, famSearch, famOther:
		d.Suggest = c.suggested(Rule{Text: c.tool})
	case famSkill:
		d.Suggest = c.suggested(Rule{Text: "Skill(" + c.field("skill") + ")"})
	}
	return d
}

// allowed returns the allow rule that covers the whole tool, or this call by name.
func (c *call) allowed() *Rule {
	r := c.env.Rules.tool(Allow, c.tool)
	if r == nil {
		return c.named(Allow)
	}
	if c.env.Mode == ModeAuto && c.info.family == famAgent {
		return nil // any agent would run any command
	}
	return r
}

func (c *call) bypass() Decision {
	return because(Allow, "mode", "the mode bypassPermissions asks for nothing here").decision()
}

func (c *call) uncovered(reason string) Decision {
	return because(Ask, "default", reason).decision()
}

// field returns a string field of the input.
func (c *call) field(name string) string {
	var s string
	_ = json.Unmarshal(c.fields[name], &s) // another type is no string: the tool refuses it
	return s
}

// named returns the first rule of an effect that names a field's value: Agent(x), Skill(x), Tool(param:value).
func (c *call) named(effect Verdict) *Rule {
	if c.env.Rules == nil {
		return nil
	}
	list := c.env.Rules.named[effect]
	for i := range list {
		if n := &list[i]; n.tool == c.tool && c.fieldMatches(n) {
			return &n.rule
		}
		if n := &list[i]; strings.HasPrefix(n.tool, "mcp__") && strings.HasPrefix(c.tool, n.tool+"__") && c.fieldMatches(n) {
			return &n.rule
		}
	}
	return nil
}

func (c *call) fieldMatches(n *namedRule) bool {
	raw, ok := c.fields[n.param]
	if !ok {
		return false
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return false
	}
	text := ""
	switch v := v.(type) {
	case string:
		text = strings.TrimSpace(v)
	case bool, float64:
		text = strings.TrimSpace(string(raw))
	default:
		return false
	}
	value := n.value
	if n.tool == "Agent" && n.param == "subagent_type" && n.rule.Effect != Allow { // the tool finds a type in letters of any case
		return Stars(strings.ToLower(value), strings.ToLower(text))
	}
	if n.tool == "Skill" && n.param == "skill" {
		return c.skillMatches(n, text)
	}
	return Stars(value, text)
}

// skillMatches compares a skill with a rule. What restricts means it by any of its names.
func (c *call) skillMatches(n *namedRule, text string) bool {
	texts := []string{text}
	if n.rule.Effect != Allow {
		texts = append(texts, c.also...)
	}
	for _, text := range texts {
		value := strings.TrimPrefix(n.value, "/")
		text = strings.TrimPrefix(text, "/")
		if name, ok := strings.CutSuffix(value, " *"); ok {
			if text == name {
				return true
			}
			continue
		}
		if text == value {
			return c.field("args") == "" || n.rule.Effect != Allow
		}
		if Stars(value, text) {
			return true
		}
	}
	return false
}

func (c *call) web() Decision {
	host, problem := webHost(c.field("url"))
	list := [4][]webRule{}
	if c.env.Rules != nil {
		list = c.env.Rules.web
	}
	for i := range list[Deny] {
		if r := &list[Deny][i]; host != "" && r.match(host) {
			return byRule(Deny, &r.rule, host).decision()
		}
	}
	for i := range list[Ask] {
		if r := &list[Ask][i]; host != "" && r.match(host) {
			return byRule(Ask, &r.rule, host).decision()
		}
	}
	if problem != "" && len(list[Deny])+len(list[Ask]) > 0 {
		return because(Ask, "unsure", "the URL cannot be compared with the rules: "+problem).decision()
	}
	if c.env.Mode == ModeBypass {
		return c.bypass()
	}
	if problem != "" {
		return because(Ask, "unparsed", "the URL cannot be judged: "+problem).decision()
	}
	internal := internalHost(host)
	for i := range list[Allow] {
		if r := &list[Allow][i]; r.match(host) && (!internal || r.exact(host)) {
			return byRule(Allow, &r.rule, host).decision()
		}
	}
	if internal {
		return because(Ask, "default", host+" is on this machine or network; only a rule that names it covers it").decision()
	}
	if r := c.env.Rules.tool(Allow, c.tool); r != nil {
		return byRule(Allow, r, "the tool "+c.tool).decision()
	}
	d := c.uncovered("no rule covers the host " + host)
	d.Suggest = c.suggested(Rule{Text: "WebFetch(domain:" + host + ")"})
	return d
}

// suggested gives rules their effect and keeps them only when with them the same call is allowed.
func (c *call) suggested(rules ...Rule) []Rule {
	for i := range rules {
		rules[i].Effect = Allow
		if rules[i].Source.Scope == "" {
			rules[i].Source.Scope = "local"
		}
		rules[i].Source.Kind = "rule"
		rules[i].Source.Rule = rules[i].Text
	}
	if c.env.Mode == ModePlan || c.trial || len(rules) == 0 {
		return nil
	}
	env := *c.env
	env.Rules = env.Rules.With(rules...)
	again := *c
	again.env, again.trial = &env, true
	if again.decide().Verdict != Allow {
		return nil
	}
	return rules
}
