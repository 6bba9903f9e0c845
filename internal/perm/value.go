package perm

import (
	"io/fs"
	"strings"

	"lathe/internal/shell"
)

// value is what is known of a word.
type value struct {
	text  string // the value; a pattern when glob
	glob  bool
	minus bool   // it starts with a dash that the shell did not hide
	why   string // why the value is not known
}

// value reads a word: home and current directory are known where the script leaves them alone. atStart says that
// no directory change came before.
func (s *shellCall) value(w shell.Word, atStart bool) value {
	if text, ok := w.Literal(); ok {
		return value{text: text, minus: strings.HasPrefix(text, "-")}
	}
	var b strings.Builder
	v := value{glob: w.Has(shell.Glob)}
	for _, p := range w.Pieces {
		text, why := s.piece(p, atStart)
		if why != "" {
			return value{why: why}
		}
		if v.glob && p.Kind != shell.Glob {
			text = escapeGlob(text)
		}
		b.WriteString(text)
	}
	v.text = b.String()
	v.minus = strings.HasPrefix(v.text, "-")
	return v
}

func (s *shellCall) piece(p shell.Piece, atStart bool) (text, why string) {
	switch p.Kind {
	case shell.Lit:
		return p.Text, ""
	case shell.Glob:
		if p.Text == "[" {
			return "", "it has a pattern that is not closed"
		}
		return p.Text, ""
	case shell.Num:
		return "0", ""
	case shell.Tilde:
		if p.Text == "~" && s.env.Workspace.Home != "" && !s.script.Assigns("HOME") {
			return s.env.common(s.env.Workspace.Home), ""
		}
		return "", "it has the directory of a user that is not known"
	case shell.Var:
		switch {
		case p.Text == "HOME" && s.env.Workspace.Home != "" && !s.script.Assigns("HOME"):
			return s.env.common(s.env.Workspace.Home), ""
		case p.Text == "PWD" && atStart && len(s.start) == 1 && !s.script.Assigns("PWD"):
			return s.start[0], ""
		}
		return "", "it has the variable " + p.Text
	case shell.Subst:
		return "", "it has the output of a command"
	case shell.ProcIn, shell.ProcOut:
		return "", "it has a process substitution"
	}
	return "", "it has " + p.Text
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

// onlyProcIn says that a word is one <(…), which a program reads like a file.
func onlyProcIn(w shell.Word) bool { return len(w.Pieces) == 1 && w.Pieces[0].Kind == shell.ProcIn }

// maxMatches is how many names one glob is followed to.
const maxMatches = 1000

// paths are the paths that a word names in each of the directories: the matches of a glob, and the pattern itself,
// which the shell passes on when nothing matches.
func (s *shellCall) paths(w shell.Word, at []string, atStart bool) (list []string, why string) {
	v := s.value(w, atStart)
	if v.why != "" {
		return nil, v.why
	}
	absolute := strings.HasPrefix(v.text, "/")
	if at == nil && !absolute {
		return nil, "the directory that it is relative to is not known"
	}
	if absolute {
		at = []string{""}
	}
	for _, dir := range at {
		if !v.glob {
			list = append(list, join(dir, v.text))
			continue
		}
		found, ok := s.env.expand(dir, v.text, &s.out.looks)
		if !ok {
			return nil, "its pattern matches too much"
		}
		list = append(list, found...)
		list = append(list, join(dir, unescapeGlob(v.text)))
	}
	return list, ""
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func unescapeGlob(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// expand lists what a glob matches below dir.
func (e *Env) expand(dir, pattern string, looks *int) (list []string, ok bool) {
	bases := []string{dir}
	if strings.HasPrefix(pattern, "/") {
		bases, pattern = []string{""}, strings.TrimLeft(pattern, "/")
	}
	budget := maxMatches
	for pattern != "" {
		var seg string
		seg, pattern, _ = strings.Cut(pattern, "/")
		var next []string
		for _, base := range bases {
			if seg == "" {
				next = append(next, base)
				continue
			}
			if !strings.ContainsAny(seg, "*?[") || seg == "." || seg == ".." {
				next = append(next, base+"/"+unescapeGlob(seg))
				continue
			}
			entries, _ := e.fs().ReadDir(e.native(base + "/")) // what cannot be listed matches nothing
			if *looks -= len(entries); *looks < 0 {
				return nil, false
			}
			for _, entry := range entries {
				name := entry.Name()
				if name[0] == '.' && seg[0] != '.' || !e.mayMatch(seg, name) {
					continue
				}
				if budget--; budget < 0 {
					return nil, false
				}
				next = append(next, base+"/"+name)
			}
		}
		bases = next
	}
	return bases, true
}

// mayMatch says that some shell could match a name: named classes and the like stand for anything, and characters
// may be bytes, as in the C locale.
func (e *Env) mayMatch(pattern, name string) bool {
	for _, open := range []string{"[:", "[=", "[."} {
		if i := strings.Index(pattern, open); i >= 0 {
			pattern = pattern[:strings.IndexByte(pattern, '[')] + "*"
		}
	}
	if globName(e.fold(pattern), e.fold(name)) {
		return true
	}
	if ascii(name) || e.Platform == "windows" {
		return false
	}
	return globName(latin1(pattern), latin1(name))
}

// latin1 makes a character of every byte.
func latin1(s string) string {
	out := make([]rune, len(s))
	for i := range len(s) {
		out[i] = rune(s[i])
	}
	return string(out)
}

// below looks through a directory for what must not be read: files under a deny or ask rule, and with links set
// also links that lead outside. It returns the first, or ok false when there is too much to look at.
func (e *Env) below(dir string, links bool, looks *int) (f finding, ok bool) {
	rules := e.Rules
	limited := rules != nil && len(rules.read[Deny])+len(rules.read[Ask]) > 0
	if !limited && !links {
		return finding{}, true
	}
	queue := []string{dir}
	for len(queue) > 0 {
		dir := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		entries, _ := e.fs().ReadDir(e.native(dir)) // an unreadable directory gives nothing to the command either
		for _, entry := range entries {
			if *looks--; *looks < 0 {
				return finding{}, false
			}
			name := dir + "/" + entry.Name()
			if limited {
				if f := e.restricted("", false, target{names: []string{name}}); f.verdict != Abstain {
					return f, true
				}
			}
			if entry.IsDir() {
				queue = append(queue, name)
			} else if links && entry.Type()&fs.ModeSymlink != 0 && !e.insideAll(e.locate(name, "/")) {
				return because(Ask, "path", "the link "+name+" leads outside the working directories"), true
			}
		}
	}
	return finding{}, true
}
