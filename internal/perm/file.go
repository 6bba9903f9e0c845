package perm

import "strings"

// access is one path that a call would read or write.
type access struct {
	path  string
	write bool
	list  bool   // only names are read, or a search whose results are filtered by the tool
	base  string // the directory of a relative path; empty means the current one
	// target is where the tool found that the path leads; empty when it did not look.
	target string
}

// readPaths are the paths of a reading tool: its own field, or the directory that its pattern climbs to.
func (c *call) readPaths() []access {
	path := c.field(c.info.primary)
	if path == "" && c.info.pattern != "" {
		path = c.env.Workspace.Cwd
	}
	list := c.info.pattern != ""
	paths := []access{{path: path, list: list, target: c.target}}
	if c.info.pattern == "" {
		return paths
	}
	pattern := c.field(c.info.pattern)
	path, _ = c.env.absolute(path, c.env.Workspace.Cwd) // its problem is found with the path itself
	if up := climbs(pattern); up > 0 {
		paths = append(paths, access{path: strings.Repeat("../", up), list: list, base: path})
	}
	if plain := strings.ReplaceAll(pattern, `\`, ""); strings.Contains(plain, "{/") || strings.Contains(plain, ",/") || strings.HasPrefix(plain, "{}/") {
		paths = append(paths, access{path: "/", list: list}) // braces may make it absolute
	}
	if i := strings.IndexAny(pattern, `*?[{`); i >= 0 && !strings.Contains(pattern[i:], "..") {
		pattern = pattern[:strings.LastIndexByte(pattern[:i], '/')+1]
	}
	if pattern != "" && (strings.Contains(pattern, "/") || strings.HasPrefix(pattern, "~")) ||
		hasDrive(pattern) || strings.HasPrefix(pattern, `\`) {
		paths = append(paths, access{path: pattern, list: list, base: path})
	}
	return paths
}

// climbs is how many levels a pattern may climb where its text does not show the path: with .. in braces, behind a
// wildcard, or written with backslashes.
func climbs(pattern string) (levels int) {
	plain := strings.ReplaceAll(pattern, `\`, "")
	if plain == pattern && !strings.ContainsAny(pattern, "*?[{") {
		return 0
	}
	segs := strings.FieldsFunc(plain, func(r rune) bool { return r == '/' || r == '{' || r == '}' || r == ',' })
	for i, seg := range segs {
		if seg == ".." {
			levels++
		} else if seg == "." && i > 0 && segs[i-1] == "." {
			levels++ // {.,x}{.,y}
		}
	}
	return levels
}

// file judges a tool that touches files.
func (c *call) file(paths []access) Decision {
	var worst finding
	parts := make([]Part, 0, len(paths))
	for _, a := range paths {
		f := c.env.path(c.tool, a)
		parts = append(parts, f.part(a.path))
		if worst.verdict == Abstain || f.verdict > worst.verdict {
			worst = f
		}
	}
	d := worst.decision(parts...)
	if worst.verdict == Ask && worst.source.Kind == "default" && len(paths) == 1 {
		d.Suggest = c.suggested(c.pathRule(paths[0])...)
	}
	return d
}

// pathRule is the rule that a lasting answer for a file saves: for reads the directory, for edits the rest of
// the session.
func (c *call) pathRule(a access) []Rule {
	t := c.env.locate(a.path, c.base(a))
	if t.problem != "" || strings.ContainsAny(t.lexical, `*?[]\()!`) {
		return nil
	}
	dir := parentDir(t.lexical)
	if t.dir {
		dir = t.lexical
	}
	if dir == "" || t.lexical != t.real {
		return nil
	}
	if a.write {
		return []Rule{{Text: "Edit(/" + t.lexical + ")", Source: Source{Scope: "session"}}}
	}
	return []Rule{{Text: "Read(/" + dir + "/**)"}}
}

func (c *call) base(a access) string {
	if a.base != "" {
		return a.base
	}
	return c.env.Workspace.Cwd
}

// path judges one path for one tool.
func (e *Env) path(tool string, a access) finding {
	base := a.base
	if base == "" {
		base = e.Workspace.Cwd
	}
	if a.path == "" {
		return because(Ask, "path", "the call names no path")
	}
	t := e.locate(a.path, base)
	if t.problem == "" && a.target != "" && !e.sameName(t.real, e.common(a.target)) {
		return because(Deny, "path", t.lexical+" led to "+a.target+" when the call was read and leads to "+t.real+
			" now; nothing was done. Name the file itself, or call again")
	}
	return e.judge(tool, a, t)
}

// sameName compares two resolved paths as the platform does.
func (e *Env) sameName(a, b string) bool {
	if e.Platform == "windows" {
		a, b = foldName(a), foldName(b)
	}
	return a == b
}

// judge is the order of 5.1 for a path. It is used for tools, operands and redirections alike.
func (e *Env) judge(tool string, a access, t target) finding {
	shown := t.lexical
	if f := e.restricted(tool, a.write, t); f.verdict != Abstain {
		return f
	}
	if e.BlockOutsideReads && !a.write && !e.insideAll(t) {
		return because(Ask, "path", shown+" is outside the working directories, and reads there always ask")
	}
	if e.Mode == ModeBypass {
		return because(Allow, "mode", "the mode bypassPermissions asks for nothing here")
	}
	if e.Mode == ModePlan && a.write {
		return because(Deny, "mode", "files are not changed in plan mode; say what should change instead")
	}
	if f := e.guarded(a, t); f.verdict != Abstain {
		return f
	}
	if a.write {
		if f := e.startupFinding(tool, t); f.verdict != Abstain {
			return f
		}
	}
	if a.write && (e.Mode == ModeAcceptEdits || e.Mode == ModeAuto) && e.insideAll(t) {
		return because(Allow, "mode", "the mode "+string(e.Mode)+" allows edits in the working directories")
	}
	if r := e.granted(tool, a.write, t); r != nil {
		return byRule(Allow, r, shown)
	}
	if why := e.keys(t); why != "" && !a.write && !a.list && e.insideAll(t) {
		return because(Ask, "default", shown+" is not read just because it is inside the working directories: "+why)
	}
	if !a.write && e.insideAll(t) {
		return because(Allow, "workspace", shown+" is inside the working directories")
	}
	if !a.write {
		return because(Ask, "default", shown+" is outside the working directories, and no rule covers reading it")
	}
	return because(Ask, "default", "no rule covers changing "+shown)
}

// guarded are the paths that no rule opens.
func (e *Env) guarded(a access, t target) finding {
	if t.problem != "" {
		return because(Ask, "path", "the path cannot be judged: "+t.problem)
	}
	if t.special != "" {
		return because(Ask, "path", t.lexical+" is "+t.special+", not a file")
	}
	for _, name := range []string{t.lexical, t.real} {
		if a.write {
			if why := e.protected(name); why != "" {
				return because(Ask, "protected", name+" is protected: "+why)
			}
		} else if why := e.credential(name); why != "" {
			return because(Ask, "protected", name+" is protected: "+why)
		}
	}
	return finding{}
}

// restricted applies deny and ask rules to every name of a path. What may not be read may not be written.
func (e *Env) restricted(tool string, write bool, t target) finding {
	s := e.Rules
	if s == nil {
		return finding{}
	}
	names := t.names
	if e.Copy != "" {
		names = e.withOriginals(names)
	}
	for _, effect := range []Verdict{Deny, Ask} {
		for _, name := range names {
			if r := firstPath(s.read[effect], tool, name); r != nil {
				return byRule(effect, r, name)
			}
			if !write {
				continue
			}
			if r := firstPath(s.edit[effect], tool, name); r != nil {
				return byRule(effect, r, name)
			}
		}
	}
	return finding{}
}

// withOriginals adds to names in a copy those of what they are copies of.
func (e *Env) withOriginals(names []string) []string {
	out := names[:len(names):len(names)]
	for _, name := range names {
		if rest, ok := cutDir(name, e.common(e.Copy)); ok && rest != "" {
			out = append(out, e.common(e.Original)+"/"+rest)
		}
	}
	return out
}

// granted returns an allow rule for a path: one that covers both its name and where it lands. An edit rule also
// grants reading.
func (e *Env) granted(tool string, write bool, t target) *Rule {
	s := e.Rules
	if s == nil {
		return nil
	}
	lists := [][]pathRule{s.edit[Allow]}
	if !write {
		lists = append(lists, s.read[Allow])
	}
	var lands *Rule
	named := false
	for _, list := range lists {
		if firstPath(list, tool, t.lexical) != nil {
			named = true
		}
		if r := firstPath(list, tool, t.real); r != nil {
			lands = r
		}
	}
	if !named || lands == nil {
		return e.Rules.ownTool(tool)
	}
	return lands
}

// ownTool returns a bare allow rule for the tool itself, such as Write or Grep.
func (s *Ruleset) ownTool(tool string) *Rule {
	if tool == "" {
		return nil
	}
	return s.tool(Allow, tool)
}

func firstPath(list []pathRule, tool, path string) *Rule {
	for i := range list {
		if p := &list[i]; (p.tool == "" || p.tool == tool) && p.match(path) {
			return &p.rule
		}
	}
	return nil
}

func (e *Env) insideAll(t target) bool {
	return t.problem == "" && e.inside(t.lexical) && e.inside(t.real)
}

// ReadDenied says whether a deny rule covers reading a path (absolute), so that searches leave it out of their
// results.
func (e *Env) ReadDenied(path string) bool {
	if e.Rules == nil || len(e.Rules.read[Deny]) == 0 {
		return false
	}
	return e.restricted("Read", false, e.locate(path, e.Workspace.Cwd)).verdict == Deny
}
