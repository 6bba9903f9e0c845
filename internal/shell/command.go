package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// add lists a command with its redirections.
func (a *analyser) add(c Command, redirs []*syntax.Redirect, p place) {
	a.here = p
	for _, r := range redirs {
		c.Redirs = append(c.Redirs, a.redir(r))
	}
	c.Moves, c.Lost, c.Piped, c.Inside, c.Loops = p.moves, p.lost, p.piped, p.inside, p.loops
	a.script.Commands = append(a.script.Commands, c)
}

func (a *analyser) call(s *syntax.Stmt, call *syntax.CallExpr, p place) place {
	a.here = p
	c := Command{Kind: Simple, Text: a.stmtText(s)}
	for _, as := range call.Assigns {
		c.Assigns = append(c.Assigns, a.assign(as))
	}
	c.Words = make([]Word, 0, len(call.Args))
	for _, w := range call.Args {
		c.Words = append(c.Words, a.words(w)...)
	}
	a.add(c, s.Redirs, p)
	switch mover(c.Words) {
	case "cd":
		p = p.apart()
		p.moves = append(p.moves, Move{Command: len(a.script.Commands) - 1, Sure: true})
	case "pushd", "popd", "eval", "source", ".", "trap":
		p.lost = true
	}
	return p
}

// mover is the literal program name of a command, past the prefixes under which a builtin still acts on the
// shell itself.
func mover(words []Word) string {
	for _, w := range words {
		name, _ := w.Literal()
		switch name {
		case "command", "builtin", "noglob", "nocorrect", "-p", "--":
			continue
		}
		return name
	}
	return ""
}

func (a *analyser) assign(as *syntax.Assign) Assign {
	out := Assign{Append: as.Append}
	if as.Name != nil {
		out.Name = as.Name.Value
		a.script.Assigned = append(a.script.Assigned, out.Name)
	}
	if as.Index != nil || as.Array != nil {
		out.Other = true
		a.nested(as)
		return out
	}
	out.Value = a.word(as.Value)
	return out
}

func (a *analyser) declare(c *syntax.DeclClause, p place) {
	cmd := Command{Kind: Declare, Text: a.source(c), Words: []Word{Plain(c.Variant.Value)}}
	for _, as := range c.Args {
		if as.Naked && as.Name != nil {
			a.script.Assigned = append(a.script.Assigned, as.Name.Value)
			cmd.Words = append(cmd.Words, Plain(as.Name.Value))
			continue
		}
		if as.Naked {
			cmd.Words = append(cmd.Words, a.word(as.Value))
			continue
		}
		cmd.Assigns = append(cmd.Assigns, a.assign(as))
	}
	a.add(cmd, nil, p)
}

func (a *analyser) redir(r *syntax.Redirect) Redir {
	out := Redir{Text: r.Op.String()}
	if r.N != nil {
		out.Text = r.N.Value + out.Text
	}
	if r.Word != nil {
		out.Text += a.source(r.Word)
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		out.Kind = RedirText
		if r.Hdoc != nil {
			out.Target = Word{Pieces: a.hdocPieces(r)}
		}
		return out
	case syntax.WordHdoc:
		out.Kind = RedirText
	case syntax.RdrIn:
		out.Kind = RedirRead
	case syntax.DplIn, syntax.DplOut:
		out.Kind = RedirDup
	default:
		out.Kind = RedirWrite
	}
	out.Target = a.word(r.Word)
	if hasBrace(r.Word) {
		out.Target.Pieces = append(out.Target.Pieces, Piece{Kind: Opaque, Text: "a brace"})
	}
	name, literal := out.Target.Literal()
	if out.Kind == RedirDup && !(literal && isFd(name)) {
		out.Kind = RedirWrite
		if r.Op == syntax.DplIn {
			out.Kind = RedirUnsure
		}
	}
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") || name == "!" {
		out.Kind = RedirUnsure
	}
	return out
}

// hdocPieces are the pieces of a here-document's body: literal when its delimiter is quoted anywhere.
func (a *analyser) hdocPieces(r *syntax.Redirect) []Piece {
	for _, p := range r.Word.Parts {
		switch p := p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return []Piece{{Kind: Lit, Text: a.source(r.Hdoc), Quoted: true}}
		case *syntax.Lit:
			if strings.Contains(p.Value, `\`) {
				return []Piece{{Kind: Lit, Text: a.source(r.Hdoc), Quoted: true}}
			}
		}
	}
	if strings.Contains(a.slice(r.Pos(), r.Hdoc.End()), "\\\n") {
		// A shell joins the lines before it looks for the delimiter, the parser after.
		a.problem("a here-document has a continued line, so that its end is not sure")
	}
	a.nested(r.Hdoc)
	return a.quoted(nil, r.Hdoc.Parts)
}

// isFd says that a target is a descriptor, or - to close one. A descriptor to move, as in 3-, is a file to zsh.
func isFd(s string) bool { return s == "-" || s != "" && strings.Trim(s, "0123456789") == "" }

// nested lists the commands of all substitutions in a node.
func (a *analyser) nested(n syntax.Node) {
	here := a.here
	syntax.Walk(n, func(n syntax.Node) bool {
		var list []*syntax.Stmt
		switch n := n.(type) {
		case *syntax.CmdSubst:
			list = n.Stmts
		case *syntax.ProcSubst:
			list = n.Stmts
		case *syntax.ParamExp:
			if n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) && n.Param != nil {
				a.script.Assigned = append(a.script.Assigned, n.Param.Value)
			}
			return true
		default:
			return true
		}
		p := here.apart()
		if p.inside == "" {
			p.inside = "substitution"
		}
		a.stmts(list, p)
		a.here = here
		return false
	})
}

// testWords flattens [[ … ]] into its words; operators become plain words.
func (a *analyser) testWords(c *syntax.TestClause) []Word {
	var out []Word
	var walk func(syntax.TestExpr)
	walk = func(x syntax.TestExpr) {
		switch x := x.(type) {
		case *syntax.Word:
			out = append(out, Word{Text: a.source(x), Pieces: a.pieces(x.Parts)})
		case *syntax.UnaryTest:
			out = append(out, Plain(x.Op.String()))
			walk(x.X)
		case *syntax.BinaryTest:
			walk(x.X)
			out = append(out, Plain(x.Op.String()))
			walk(x.Y)
		case *syntax.ParenTest:
			walk(x.X)
		}
	}
	walk(c.X)
	return out
}

func (a *analyser) stmtText(s *syntax.Stmt) string {
	from, to := s.Position, s.Position
	if s.Cmd != nil {
		from, to = s.Cmd.Pos(), s.Cmd.End()
	}
	for _, r := range s.Redirs {
		if r.Pos().Offset() < from.Offset() {
			from = r.Pos()
		}
		if r.Word != nil && r.Word.End().Offset() > to.Offset() {
			to = r.Word.End()
		}
	}
	return a.slice(from, to)
}

func (a *analyser) redirText(s *syntax.Stmt) string {
	first, last := s.Redirs[0], s.Redirs[len(s.Redirs)-1]
	if last.Word == nil {
		return a.source(first)
	}
	return a.slice(first.Pos(), last.Word.End())
}
