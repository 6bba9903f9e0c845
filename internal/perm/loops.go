package perm

import (
	"strings"

	"lathe/internal/shell"
)

// maxVariants is how many forms of one command are judged for the values of the loops around it.
const maxVariants = 64

// variants are a command with the values of the loops around it put in, one for each. A command that names no loop
// variable is its only variant.
func (s *shellCall) variants(c *shell.Command) []*shell.Command {
	out := []*shell.Command{c}
	for _, l := range c.Loops {
		if !names(c, l.Name) || s.setElsewhere(l.Name) || len(out)*len(l.Items) > maxVariants {
			continue
		}
		var next []*shell.Command
		for _, v := range out {
			for _, item := range l.Items {
				with, ok := putIn(v, l.Name, item)
				if !ok {
					return []*shell.Command{c}
				}
				next = append(next, with)
			}
		}
		out = next
	}
	return out
}

// setElsewhere says that the script sets the variable in more places than the loop.
func (s *shellCall) setElsewhere(name string) bool {
	n := 0
	for _, a := range s.script.Assigned {
		if a == name {
			n++
		}
	}
	return n != 1
}

func names(c *shell.Command, name string) bool {
	has := func(w shell.Word) bool {
		for _, p := range w.Pieces {
			if p.Kind == shell.Var && p.Text == name {
				return true
			}
		}
		return false
	}
	for _, w := range c.Words {
		if has(w) {
			return true
		}
	}
	for _, a := range c.Assigns {
		if has(a.Value) {
			return true
		}
	}
	for _, r := range c.Redirs {
		if has(r.Target) {
			return true
		}
	}
	return false
}

// putIn returns the command with the variable's value in place. ok is false where the shell would split or expand
// the value once more.
func putIn(c *shell.Command, name string, item shell.Word) (*shell.Command, bool) {
	out := *c
	ok := true
	put := func(w shell.Word) shell.Word {
		var pieces []shell.Piece
		for _, p := range w.Pieces {
			if p.Kind != shell.Var || p.Text != name {
				pieces = append(pieces, p)
				continue
			}
			text, literal := item.Literal()
			printed := len(item.Pieces) == 1 && item.Pieces[0].Kind == shell.Subst // judged as the output of a command where it stands
			if !p.Quoted && !printed && (!literal || text == "" || strings.ContainsAny(text, " \t\n*?[\\")) {
				ok = false
			}
			pieces = append(pieces, item.Pieces...)
		}
		w.Pieces = pieces
		return w
	}
	out.Words = make([]shell.Word, len(c.Words))
	for i, w := range c.Words {
		out.Words[i] = put(w)
	}
	out.Assigns = append([]shell.Assign(nil), c.Assigns...)
	for i := range out.Assigns {
		out.Assigns[i].Value = put(out.Assigns[i].Value)
	}
	out.Redirs = append([]shell.Redir(nil), c.Redirs...)
	for i := range out.Redirs {
		out.Redirs[i].Target = put(out.Redirs[i].Target)
	}
	return &out, ok
}
