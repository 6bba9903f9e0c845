package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Analyse reads a script. It never fails: what cannot be read is a problem of the result.
func Analyse(text string) *Script {
	a := &analyser{script: &Script{Text: text}}
	if why := unusual(text); why != "" {
		a.problem("it contains %s", why)
	}
	if continuedComment(text) {
		a.problem("a line with a comment ends in a backslash, which not all shells read alike")
	}
	if len(text) > maxLen {
		a.problem("it is longer than %d characters", maxLen)
	}
	if strings.Count(text, "(")+strings.Count(text, "`")+strings.Count(text, "{")+strings.Count(text, "[") > maxOpen {
		a.problem("it has more than %d brackets", maxOpen)
		return a.script
	}
	if len(text) > maxParse {
		return a.script
	}
	a.read(text)
	return a.script
}

// read parses the text. A parser that gives up on an odd text must not take the session with it.
func (a *analyser) read(text string) {
	defer func() {
		if r := recover(); r != nil {
			a.problem("it does not parse: %v", r)
		}
	}()
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		a.problem("it does not parse: %s", strings.TrimPrefix(err.Error(), ":"))
		a.rest(text)
		return
	}
	a.stmts(file.Stmts, place{})
}

type analyser struct {
	script *Script
	// here is the place of the command being read, for the substitutions in its words.
	here place
}

// place is where a command stands.
type place struct {
	moves  []Move
	lost   bool
	piped  bool
	inside string
	loops  []Loop
}

// apart is the place of a command that runs in a shell of its own.
func (p place) apart() place {
	p.moves = p.moves[:len(p.moves):len(p.moves)]
	p.piped = false
	return p
}

// unsure marks the moves after the first n as possibly failed.
func (p place) unsure(n int) place {
	if n >= len(p.moves) {
		return p
	}
	moves := append([]Move(nil), p.moves...)
	for i := n; i < len(moves); i++ {
		moves[i].Sure = false
	}
	p.moves = moves
	return p
}

func (a *analyser) problem(format string, args ...any) {
	a.script.Problems = append(a.script.Problems, fmt.Sprintf(format, args...))
}

// rest finds commands in a text that does not parse as a whole, so that a deny rule still sees them.
func (a *analyser) rest(text string) {
	parser := syntax.NewParser(syntax.Variant(syntax.LangBash))
	for s, err := range parser.StmtsSeq(strings.NewReader(text)) {
		if err == nil && s != nil { // the loop goes on to its own end: the parser does not take a break well
			a.stmt(s, place{})
		}
	}
}

func (a *analyser) source(n syntax.Node) string { return a.slice(n.Pos(), n.End()) }

func (a *analyser) slice(from, to syntax.Pos) string {
	i, j := int(from.Offset()), int(to.Offset())
	if i < 0 || j < i || j > len(a.script.Text) {
		return ""
	}
	return a.script.Text[i:j]
}

func (a *analyser) stmts(list []*syntax.Stmt, p place) place {
	for _, s := range list {
		n := len(p.moves)
		p = a.stmt(s, p).unsure(n)
	}
	return p
}

func (a *analyser) stmt(s *syntax.Stmt, p place) place {
	if s.Background || s.Coprocess || s.Disown {
		a.bare(s, p.apart())
		return p
	}
	return a.bare(s, p)
}

func (a *analyser) bare(s *syntax.Stmt, p place) place {
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		return a.call(s, call, p)
	}
	if len(s.Redirs) > 0 {
		if s.Cmd == nil {
			a.add(Command{Kind: Simple, Text: a.stmtText(s)}, s.Redirs, p)
			return p
		}
		a.add(Command{Kind: Group, Text: a.redirText(s)}, s.Redirs, p)
	}
	if s.Cmd == nil {
		return p
	}
	return a.compound(s, p)
}

func (a *analyser) compound(s *syntax.Stmt, p place) place {
	n := len(p.moves)
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return a.binary(c, p)
	case *syntax.Subshell:
		a.stmts(c.Stmts, p.apart())
		return p
	case *syntax.Block:
		return a.stmts(c.Stmts, p)
	case *syntax.IfClause:
		return a.ifClause(c, p).unsure(n)
	case *syntax.WhileClause:
		return a.loop(p, func(p place) place { return a.stmts(c.Do, a.stmts(c.Cond, p)) })
	case *syntax.ForClause:
		return a.forClause(c, p)
	case *syntax.CaseClause:
		return a.caseClause(c, p).unsure(n)
	case *syntax.TimeClause:
		if c.Stmt == nil {
			return p
		}
		return a.stmt(c.Stmt, p)
	case *syntax.FuncDecl:
		a.add(Command{Kind: Function, Text: a.source(c)}, nil, p)
		p2 := p.apart()
		p2.inside, p2.lost = "function", true
		if c.Body != nil {
			a.stmt(c.Body, p2)
		}
		p.lost = true // calling it may change the directory
		return p
	}
	return a.special(s, p)
}

// special handles the commands that are not made of commands.
func (a *analyser) special(s *syntax.Stmt, p place) place {
	a.here = p
	switch c := s.Cmd.(type) {
	case *syntax.TestClause:
		a.nested(c)
		a.add(Command{Kind: Test, Text: a.source(c), Words: a.testWords(c)}, nil, p)
	case *syntax.DeclClause:
		a.declare(c, p)
	case *syntax.CoprocClause:
		a.add(Command{Kind: Coproc, Text: a.source(c)}, nil, p)
		a.stmt(c.Stmt, p.apart())
	case *syntax.LetClause:
		a.nested(c)
		a.add(Command{Kind: Arith, Text: a.source(c)}, nil, p)
	case *syntax.ArithmCmd:
		a.nested(c)
		if !numbersOnly(c.X) {
			a.add(Command{Kind: Arith, Text: a.source(c)}, nil, p)
		}
	default:
		a.problem("it has a form that is not known: %s", a.source(s))
	}
	return p
}

func (a *analyser) binary(c *syntax.BinaryCmd, p place) place {
	n := len(p.moves)
	switch c.Op {
	case syntax.AndStmt:
		return a.stmt(c.Y, a.stmt(c.X, p))
	case syntax.OrStmt:
		return a.stmt(c.Y, a.stmt(c.X, p).unsure(n)).unsure(n)
	}
	a.stmt(c.X, p.apart())
	y := p.apart()
	y.piped = true
	a.stmt(c.Y, y)
	return p
}

func (a *analyser) ifClause(c *syntax.IfClause, p place) place {
	n := len(p.moves)
	cond := p
	for i, s := range c.Cond {
		m := len(cond.moves)
		cond = a.stmt(s, cond)
		if i < len(c.Cond)-1 {
			cond = cond.unsure(m)
		}
	}
	then := a.stmts(c.Then, cond)
	if c.Else == nil {
		return then.unsure(n)
	}
	// What runs in the other branch may come after a failed condition; moves of both may have happened.
	return a.ifClause(c.Else, then.unsure(n))
}

// loop walks a body whose directory changes repeat: where there is one, directories are lost.
func (a *analyser) loop(p place, body func(place) place) place {
	n, from := len(p.moves), len(a.script.Commands)
	after := body(p)
	if len(after.moves) > n || after.lost {
		for i := from; i < len(a.script.Commands); i++ {
			a.script.Commands[i].Lost = true
		}
		after.lost = true
	}
	return after.unsure(n)
}

func (a *analyser) forClause(c *syntax.ForClause, p place) place {
	a.here = p
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		a.script.Assigned = append(a.script.Assigned, l.Name.Value)
		if obeyed(l.Name.Value) { // for PATH in …: the commands inside would run other programs
			set := Assign{Name: l.Name.Value, Other: true}
			a.add(Command{Kind: Simple, Text: "for " + l.Name.Value, Assigns: []Assign{set}}, nil, p)
		}
		loop := Loop{Name: l.Name.Value}
		known := l.InPos.IsValid() && len(l.Items) > 0 && !c.Select
		listed := true
		for _, w := range l.Items {
			for _, item := range a.words(w) {
				a.evaluated(item, p)
				known = known && (writtenOut(item) || printed(item))
				listed = listed && writtenOut(item)
				loop.Items = append(loop.Items, item)
			}
		}
		if !listed || len(loop.Items) > maxItems { // its values are as good as what commands print, which are judged themselves
			loop.Items = []Word{{Text: "…", Pieces: []Piece{{Kind: Subst}}}}
		}
		if known {
			inner := p
			inner.loops = append(p.loops[:len(p.loops):len(p.loops)], loop)
			after := a.loop(inner, func(p place) place { return a.stmts(c.Do, p) })
			after.loops = p.loops
			return after
		}
	case *syntax.CStyleLoop:
		a.nested(l)
		a.add(Command{Kind: Arith, Text: a.source(l)}, nil, p)
	}
	return a.loop(p, func(p place) place { return a.stmts(c.Do, p) })
}

// writtenOut says that a loop's value is literal or a pattern of file names.
func writtenOut(w Word) bool {
	for _, p := range w.Pieces {
		if p.Kind != Lit && p.Kind != Glob {
			return false
		}
	}
	return true
}

// printed says that a loop's values are known, or what commands print: no value of a variable is among them.
func printed(w Word) bool {
	for _, p := range w.Pieces {
		if p.Kind != Lit && p.Kind != Glob && p.Kind != Subst && p.Kind != Num {
			return false
		}
	}
	return true
}

func (a *analyser) caseClause(c *syntax.CaseClause, p place) place {
	n := len(p.moves)
	a.here = p
	a.evaluated(a.word(c.Word), p)
	for _, item := range c.Items {
		a.here = p
		for _, pattern := range item.Patterns {
			a.evaluated(a.word(pattern), p)
		}
		p = a.stmts(item.Stmts, p).unsure(n)
	}
	return p
}
