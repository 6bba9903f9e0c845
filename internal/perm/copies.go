package perm

import (
	"strings"

	"lathe/internal/shell"
)

// checkCopy finds where cp and mv write: the last operand or the directory flag, and below it under the names of
// the sources.
func checkCopy(moves bool) func(a *args, u *usage) {
	return func(a *args, u *usage) {
		sources := a.operands
		dest := len(u.writes) > 0 // the directory flag
		if !dest {
			if len(sources) < 2 {
				u.edits = false
				return
			}
			u.writes = append(u.writes, operand{word: sources[len(sources)-1]})
			sources = sources[:len(sources)-1]
		}
		u.into = u.writes[0].word
		for _, src := range sources {
			u.reads = append(u.reads, operand{word: src})
			u.lands = append(u.lands, operand{word: src})
			if moves {
				u.writes = append(u.writes, operand{word: src})
			}
			name, literal := src.Literal()
			last := name[strings.LastIndexByte(name, '/')+1:]
			if literal && (last == "." || last == ".." || last == "") && !moves {
				u.edits = false // the content lands in the directory under names that are not seen
			}
		}
	}
}

// landings judges the names under which copied and moved files arrive.
func (s *shellCall) landings(c *shell.Command, u *usage, at []string) (why string) {
	for _, src := range u.lands {
		list, why := s.paths(src.word, at, len(c.Moves) == 0)
		if why != "" {
			return why
		}
		for _, name := range list {
			if t := s.env.locate(name, "/"); t.dir { // under another name a rule for its content would not hold
				if why := s.deep(t.real, &usage{}); why != "" {
					return why
				}
			}
			o := operand{word: appended(u.into, "/"+lastSegment(name))}
			if why := s.mayTouch(c, o, at, true, u); why != "" {
				return why
			}
			if why := s.overLinks(o, at, len(c.Moves) == 0); why != "" {
				return why
			}
		}
	}
	return ""
}

// overLinks says why a directory that is copied over another could be written through a link in that.
func (s *shellCall) overLinks(o operand, at []string, atStart bool) (why string) {
	list, why := s.paths(o.word, at, atStart)
	for _, name := range list {
		if t := s.env.locate(name, "/"); t.dir {
			if why = s.deep(t.real, &usage{links: true}); why != "" {
				return why
			}
		}
	}
	return why
}
