package perm

import (
	"encoding/json"
	"net/netip"
	"path"
	"strings"

	"lathe/internal/shell"
)

// Sandbox is what decisions need to know of the operating system's sandbox around shell commands.
type Sandbox struct {
	// On says that this command runs in the sandbox, unless it leaves it.
	On bool
	// Auto says that a command in the sandbox needs no question of its own.
	Auto bool
	// Files says that the sandbox itself keeps to every rule for paths, so that a path need not be known beforehand.
	Files bool
	// NoExit says that the flag to leave the sandbox has no effect: the command runs inside all the same.
	NoExit bool
}

// leaves says that the call asks to run outside the sandbox, and would.
func (c *call) leaves() bool {
	return string(c.fields["dangerouslyDisableSandbox"]) == "true" && !(c.env.Sandbox.On && c.env.Sandbox.NoExit)
}

// sandboxed says that the sandbox stands in for a question: deny rules, ask rules with content and critical
// removals count as ever.
func (c *call) sandboxed() bool {
	s := c.env.Sandbox
	return s.On && s.Auto && c.info.family == famShell && c.env.Mode != ModePlan && !c.leaves()
}

// confined says that a path that cannot be told is no matter: whatever it is, the rules for paths hold.
func (c *call) confined() bool { return c.env.Sandbox.Files && c.sandboxed() }

// standsFor says that a rule asks for every shell command, and that the sandbox answers for it.
func (c *call) standsFor(effect Verdict, r *bashRule) bool {
	return effect == Ask && r.all && c.sandboxed()
}

// inSandbox is the decision when only the sandbox covers a command.
func (o *outcome) inSandbox() Decision {
	return because(Allow, "sandbox", "it runs in the sandbox").decision()
}

// Excluded says that patterns (as in Bash rules; a plain word also covers its arguments) cover every command of
// a text, so that it may run outside the sandbox. What runs other commands, changes directory or opens files is
// never covered.
func Excluded(patterns []string, text string) bool {
	if len(patterns) == 0 {
		return false
	}
	script := shell.Analyse(text)
	if len(script.Problems) > 0 || len(script.Commands) == 0 {
		return false
	}
	rest := text
	for i := range script.Commands {
		c := &script.Commands[i]
		between, after, found := strings.Cut(rest, c.Text)
		if !found || strings.Trim(between, separators) != "" || !excludedCommand(patterns, c) {
			return false
		}
		rest = after
	}
	return strings.Trim(rest, separators) == "" // else there are subshells, loops and the like
}

const separators = " \t\n;&|"

func excludedCommand(patterns []string, c *shell.Command) bool {
	if c.Kind != shell.Simple || len(c.Words) == 0 || len(c.Assigns) > 0 || len(c.Moves) > 0 || c.Lost || len(c.Redirs) > 0 {
		return false
	}
	for _, w := range c.Words {
		for _, p := range w.Pieces {
			if p.Kind != shell.Lit && p.Kind != shell.Glob {
				return false
			}
		}
	}
	name, literal := c.Words[0].Literal()
	if _, wraps := shell.Unwrap(c.Words); !literal || wraps || runsOthers(path.Base(name)) {
		return false
	}
	if _, runs := shell.Inner(c.Words); runs {
		return false
	}
	command := commandText(nil, c.Words)
	for _, text := range patterns {
		p := compileText(text)
		if p.match(command) {
			return true
		}
		if !strings.ContainsAny(text, "*:") && strings.HasPrefix(command, p.exact+string(sep)) && p.exact != "" {
			return true
		}
	}
	return false
}

func runsOthers(name string) bool {
	switch name {
	case "sudo", "doas", "su", "eval", "exec", "xargs", "cd", "pushd", "popd", "source", ".", "env", "command", "builtin", "trap":
		return true
	}
	return false
}

// PathRule is a Read or Edit rule as the sandbox sees it.
type PathRule struct {
	Rule Rule
	// Base is the directory or file that every match is at or below; "" is the root.
	Base string
	// Whole says that Base itself and everything below it match.
	Whole bool
	// Name is the literal name that matches at any depth below Base; "" where the rule is of another form.
	Name string

	pattern pathPattern
}

// Match says whether the rule covers an absolute path.
func (r *PathRule) Match(path string) bool { return r.pattern.match(path) }

// PathRules returns the path rules of an effect: those for writing, or those for reading. Rules for a whole tool,
// which name no path, are left out.
func (s *Ruleset) PathRules(effect Verdict, write bool) []PathRule {
	if s == nil {
		return nil
	}
	list := s.read[effect]
	if write {
		list = s.edit[effect]
	}
	var out []PathRule
	for _, r := range list {
		if r.all {
			continue
		}
		out = append(out, PathRule{Rule: r.rule, Base: r.base, pattern: r.pathPattern})
		p := &out[len(out)-1]
		if r.deep {
			if len(r.segs) == 1 && !r.segs[0].pattern && !r.segs[0].any {
				p.Name = r.segs[0].text
			}
			continue
		}
		segs := r.segs
		for len(segs) > 0 && !segs[0].any && !segs[0].pattern {
			p.Base += "/" + segs[0].text
			segs = segs[1:]
		}
		p.Whole = len(segs) == 0 && r.below
	}
	return out
}

// RestrictsAllPaths says that a rule denies or asks for every file, which PathRules leaves out.
func (s *Ruleset) RestrictsAllPaths() bool {
	if s == nil {
		return false
	}
	for _, list := range [][]pathRule{s.read[Deny], s.read[Ask], s.edit[Deny], s.edit[Ask]} {
		for i := range list {
			if list[i].all {
				return true
			}
		}
	}
	return false
}

// Domains returns the hosts, with stars, that WebFetch rules of an effect name.
func (s *Ruleset) Domains(effect Verdict) []string {
	if s == nil {
		return nil
	}
	var out []string
	for _, r := range s.web[effect] {
		if _, content, _, err := ParseRule(r.rule.Text); err == nil {
			out = append(out, strings.TrimPrefix(content, "domain:"))
		}
	}
	return out
}

// DomainPattern is a host with stars, as in a WebFetch rule.
type DomainPattern struct{ p domainPattern }

// ParseDomain reads a host with stars. ok is false for what is none.
func ParseDomain(host string) (d DomainPattern, ok bool) {
	p, why := compileDomain(host)
	return DomainPattern{p}, why == ""
}

// Match compares a host in lower case without a trailing dot.
func (d *DomainPattern) Match(host string) bool { return d.p.match(host) }

// Names says that the pattern is the host itself, without a star.
func (d *DomainPattern) Names(host string) bool { return d.p.exact(host) }

// InternalHost says whether a host is on this machine or network, in any spelling of an address.
func InternalHost(host string) bool { return internalHost(host) }

// InternalAddr says whether an address is on this machine or network.
func InternalAddr(a netip.Addr) bool { return internalHost(a.WithZone("").String()) }

// ProtectedName says whether a file or directory of this name is protected wherever it is.
func ProtectedName(name string) bool { return protectedDirs[name] || protectedFiles[name] }

// ProtectedPath says why an absolute path may not be written without a question, or "".
func (e *Env) ProtectedPath(path string) (why string) { return e.protected(e.common(path)) }

// CommandOf returns the command of a shell call's input, and whether it asks to leave the sandbox.
func CommandOf(req Request) (command string, leave, ok bool) {
	if info(canonicalTool(req.Tool)).family != famShell {
		return "", false, false
	}
	var in struct {
		Command string `json:"command"`
		Leave   bool   `json:"dangerouslyDisableSandbox"`
	}
	ok = json.Unmarshal(req.Input, &in) == nil
	return in.Command, in.Leave, ok
}
