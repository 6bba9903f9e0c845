package hook

import "lathe/internal/perm"

// condition is the field "if": one permission rule. The zero value always holds.
type condition struct {
	rules *perm.Ruleset
}

// newCondition compiles a rule as a deny rule, since that is how a guard must read it: a call is meant when any of
// its parts is, and also when a part that cannot be read might be.
func newCondition(text string, dir string, opt perm.Options) (condition, string) {
	opt.Trusted = true
	src := perm.Source{Kind: "rule", Rule: text}
	set, warnings := perm.Compile([]perm.Rule{{Text: text, Effect: perm.Deny, Source: src, Dir: dir}}, opt)
	if len(warnings) > 0 {
		return condition{}, warnings[0].Text
	}
	return condition{rules: set}, ""
}

// holds reports whether the rule speaks of the call.
func (c condition) holds(req perm.Request, env perm.Env) bool {
	if c.rules == nil {
		return true
	}
	env.Rules, env.Mode = c.rules, perm.ModeDefault
	d := perm.Decide(req, env)
	if meant(d.Verdict, d.Source) {
		return true
	}
	for _, p := range d.Parts {
		if meant(p.Verdict, p.Source) {
			return true
		}
	}
	return false
}

func meant(v perm.Verdict, s perm.Source) bool {
	if v == perm.Deny {
		return true
	}
	return v == perm.Ask && (s.Kind == "unsure" || s.Kind == "unparsed" || s.Kind == "path")
}
