package perm

import (
	"path"
	"strings"

	"lathe/internal/shell"
)

// removals looks for rm and rmdir on a critical path: the root, what is right below it, the home directory, the
// current directory and its parents, everything in a working directory. These are asked for in every mode.
func (s *shellCall) removals(c *shell.Command, l layer, at []string) {
	name, _ := l.words[0].Literal()
	base := path.Base(name)
	if base != "rm" && base != "rmdir" && base != "unlink" {
		return
	}
	recursive, flags := base == "rmdir", true
	var operands []shell.Word
	for _, w := range l.words[1:] {
		text, literal := w.Literal()
		switch {
		case flags && literal && text == "--":
			flags = false
		case flags && literal && len(text) > 1 && text[0] == '-':
			recursive = recursive || text == "--recursive" || !strings.HasPrefix(text, "--") && strings.ContainsAny(text, "rR")
		default:
			operands = append(operands, w)
		}
	}
	for _, w := range operands {
		if why := s.criticalWord(c, w, at, recursive); why != "" {
			f := because(Ask, "critical", "removing "+w.Text+" is always asked for: "+why)
			s.out.critical = append(s.out.critical, f)
			s.out.parts = append(s.out.parts, f.part(c.Text))
		}
	}
}

func (s *shellCall) criticalWord(c *shell.Command, w shell.Word, at []string, recursive bool) (why string) {
	w = s.resolveVars(w)
	v := s.value(w, len(c.Moves) == 0)
	if v.why != "" {
		return s.criticalUnknown(w, recursive)
	}
	if v.text != "" && strings.Trim(v.text, `\`) == "" {
		return "it is only backslashes"
	}
	text := v.text
	if s.env.Platform == "windows" {
		text, _ = windowsPath(text)
	}
	if at == nil && !strings.HasPrefix(text, "/") {
		if strings.Trim(text, "./*") == "" {
			return "the current directory is not known"
		}
		return ""
	}
	for _, dir := range at {
		if why = s.criticalPath(text, dir, v.glob); why != "" {
			return why
		}
	}
	if at == nil {
		return s.criticalPath(text, "", v.glob)
	}
	return ""
}

// criticalPath judges a path or pattern relative to dir.
func (s *shellCall) criticalPath(text, dir string, glob bool) (why string) {
	e := s.env
	if !strings.HasPrefix(text, "/") {
		text = dir + "/" + text
	}
	if glob {
		i := strings.IndexAny(text, "*?[")
		parent := cleanPath(text[:strings.LastIndexByte(text[:i], '/')+1])
		seg, _, _ := strings.Cut(text[strings.LastIndexByte(text[:i], '/')+1:], "/")
		if parent == "/" || parent == "" {
			return "it may be any directory of the root"
		}
		if strings.Trim(seg, "*?.![]") != "" {
			return "" // a pattern with a name in it
		}
		for _, root := range e.Workspace.Roots {
			if e.fold(parent) == e.fold(e.common(root)) {
				return "it is everything in a working directory"
			}
		}
		return s.criticalDir(parent, dir)
	}
	p := cleanPath(text)
	if why = s.criticalDir(p, dir); why != "" {
		return why
	}
	if t := e.locate(text, "/"); t.problem == "" && strings.HasSuffix(text, "/") && t.real != p {
		return s.criticalDir(t.real, dir)
	}
	return ""
}

// criticalDir judges one directory.
func (s *shellCall) criticalDir(p, dir string) (why string) {
	e := s.env
	p = e.fold(p)
	if strings.Count(p, "/") <= 1 {
		return "it is the root or right below it"
	}
	if e.Platform == "windows" && len(p) > 2 && p[2] == '/' && strings.Count(p, "/") <= 2 {
		return "it is right below a drive"
	}
	if home := e.fold(e.common(e.Workspace.Home)); home != "" {
		if _, ok := cutDir(home, p); ok {
			return "it is the home directory or above it"
		}
	}
	for _, here := range []string{dir, e.common(e.Workspace.Cwd), e.common(e.start())} {
		if here == "" {
			continue
		}
		if _, ok := cutDir(e.fold(here), p); ok {
			return "it is the current directory or above it"
		}
	}
	return ""
}

// resolveVars puts in the values of variables that the script sets once, to literal text.
func (s *shellCall) resolveVars(w shell.Word) shell.Word {
	out := w
	for i, p := range w.Pieces {
		if p.Kind != shell.Var {
			continue
		}
		if v, once := s.assigned(p.Text); once {
			if i == 0 || out.Pieces[0].Kind != shell.Lit {
				out.Pieces = append([]shell.Piece(nil), out.Pieces...)
			}
			if text, literal := v.Literal(); literal {
				out.Pieces = append([]shell.Piece(nil), out.Pieces...)
				out.Pieces[i] = shell.Piece{Kind: shell.Lit, Text: text}
			}
		}
	}
	return out
}

// assigned returns the only value that the script gives a variable.
func (s *shellCall) assigned(name string) (w shell.Word, once bool) {
	n := 0
	for _, a := range s.script.Assigned {
		if a == name {
			n++
		}
	}
	if n != 1 {
		return w, false
	}
	for i := range s.script.Commands {
		for _, a := range s.script.Commands[i].Assigns {
			if a.Name == name && !a.Append && !a.Other {
				return a.Value, true
			}
		}
	}
	return w, false
}

// criticalUnknown judges a target of which a piece is not known.
func (s *shellCall) criticalUnknown(w shell.Word, recursive bool) (why string) {
	before, after := "", ""
	seen, guarded, output := false, true, false
	name := ""
	for _, p := range w.Pieces {
		switch p.Kind {
		case shell.Lit, shell.Glob:
			if seen {
				after += p.Text
			} else {
				before += p.Text
			}
			continue
		case shell.Var:
			name = p.Text
			if v, once := s.assigned(p.Text); once && v.Has(shell.Subst) {
				output = true
			}
		case shell.Subst:
			output = true
		}
		seen, guarded, after = true, guarded && p.Guarded, ""
	}
	if guarded {
		return ""
	}
	tail := strings.TrimLeft(after, "/")
	switch {
	case before != "":
		if strings.HasPrefix(before, "/") && strings.Count(strings.TrimRight(before, "/"), "/") <= 1 && strings.HasSuffix(before, "/") && !strings.Contains(tail, "/") {
			return "it is right below a critical path"
		}
		return ""
	case name == "@" || name == "*" || len(name) == 1 && name[0] >= '0' && name[0] <= '9':
		return "its value is not known here"
	case after != "" && strings.Trim(after, "/*?.") == "":
		return "with an empty value it is the root"
	case strings.HasPrefix(after, "/") && !strings.Contains(strings.TrimRight(tail, "/"), "/"):
		return "with an empty value it is right below the root"
	case recursive && output && after == "":
		return "it is whatever a command prints"
	case recursive && after == "" && name != "" && s.script.Assigns(name):
		return "its value is set in the same command"
	}
	return ""
}
