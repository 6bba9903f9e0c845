package search

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// Query says what to look for.
type Query struct {
	Pattern    string // Go (RE2) syntax
	IgnoreCase bool
	// Multiline lets matches span lines, and the dot match a line end. Without it a match lies in one line.
	Multiline bool
}

// Matcher is a compiled Query. It is safe for concurrent use.
type Matcher struct {
	re        *regexp.Regexp
	multiline bool
	lits      []literal // one of them stands in every match; empty when none is known
	whole     bool      // each of them is a match
	foldTrap  [][]byte  // when one of these is in the text, lits must not be trusted
	nfa       *nfa      // nil when it would be too large
	pool      sync.Pool // of *dfa
}

// maxPlainCost is the most that a literal may cost (see literal.cost) to be better than the automaton alone.
const maxPlainCost = 225

// Compile prepares a query. The error says what is wrong with the pattern and what to write instead.
func Compile(q Query) (*Matcher, error) {
	if q.Pattern == "" {
		return nil, errors.New("the pattern is empty; give the text or regular expression to look for")
	}
	flags := syntax.Perl &^ syntax.OneLine
	if q.IgnoreCase {
		flags |= syntax.FoldCase
	}
	if q.Multiline {
		flags |= syntax.DotNL
	}
	tree, err := syntax.Parse(q.Pattern, flags)
	if err != nil {
		return nil, explain(q.Pattern, err)
	}
	if !q.Multiline {
		if err := keepInLine(tree); err != nil {
			return nil, err
		}
	}
	re, err := regexp.Compile(tree.String())
	if err != nil {
		return nil, explain(q.Pattern, err)
	}
	m := &Matcher{re: re, multiline: q.Multiline}
	simple := tree.Simplify()
	m.lits, m.whole = requiredLiterals(tree)
	if !m.whole && len(m.lits) > 0 {
		for _, l := range m.lits {
			if l.cost() > maxPlainCost {
				m.lits = nil
				break
			}
		}
	}
	m.foldTrap = foldTraps(m.lits)
	prog, err := syntax.Compile(simple)
	if err != nil {
		return nil, explain(q.Pattern, err)
	}
	m.nfa = buildNFA(prog)
	return m, nil
}

// foldTraps lists the letters beyond ASCII that fold to a letter of a folded literal.
func foldTraps(lits []literal) [][]byte {
	var out [][]byte
	for _, t := range [][2]string{{"k", "\u212a"}, {"s", "\u017f"}} {
		for _, l := range lits {
			if l.fold && bytes.Contains(l.text, []byte(t[0])) {
				out = append(out, []byte(t[1]))
				break
			}
		}
	}
	return out
}

// explain turns a parser's error into what to do about it.
func explain(pattern string, err error) error {
	var se *syntax.Error
	if !errors.As(err, &se) {
		return fmt.Errorf("bad pattern %q: %w", pattern, err)
	}
	hint := ""
	switch {
	case lookAround(se):
		hint = "; look-around is not supported: search for the text alone and sort the results yourself"
	case se.Code == syntax.ErrInvalidEscape && len(se.Expr) == 2 && se.Expr[1] >= '1' && se.Expr[1] <= '9':
		hint = "; back references are not supported"
	case se.Code == syntax.ErrMissingParen || se.Code == syntax.ErrUnexpectedParen:
		hint = `; write a literal parenthesis as \( or \)`
	case se.Code == syntax.ErrMissingBracket:
		hint = `; write a literal bracket as \[`
	case se.Code == syntax.ErrMissingRepeatArgument:
		hint = `; write the character itself with a backslash before it`
	case se.Code == syntax.ErrInvalidRepeatSize:
		hint = `; a repeat count goes up to 1000, and a literal brace is written \{`
	case se.Code == syntax.ErrInvalidEscape:
		hint = `; write a literal backslash as \\`
	}
	return fmt.Errorf("bad pattern %q: %s: `%s`%s", pattern, se.Code, se.Expr, hint)
}

func lookAround(se *syntax.Error) bool {
	if se.Code != syntax.ErrInvalidPerlOp && se.Code != syntax.ErrInvalidNamedCapture {
		return false
	}
	for _, op := range []string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(se.Expr, op) || op[:3] == se.Expr {
			return true
		}
	}
	return false
}

// keepInLine changes the tree so that no match can hold a line end.
func keepInLine(re *syntax.Regexp) error {
	switch re.Op {
	case syntax.OpAnyChar:
		re.Op = syntax.OpAnyCharNotNL
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		*re = *beforeLineEnd()
		return nil
	case syntax.OpEndLine:
		*re = *beforeLineEnd()
		return nil
	case syntax.OpLiteral:
		if slices.Contains(re.Rune, '\n') {
			return errors.New(`the pattern holds a line end (\n), which cannot match within one line; set multiline to true`)
		}
	case syntax.OpCharClass:
		re.Rune = withoutNewline(re.Rune)
		if len(re.Rune) == 0 {
			return errors.New(`the pattern holds a line end (\n), which cannot match within one line; set multiline to true`)
		}
	}
	for _, sub := range re.Sub {
		if err := keepInLine(sub); err != nil {
			return err
		}
	}
	return nil
}

// beforeLineEnd is $ that also stands before a carriage return that ends a line.
func beforeLineEnd() *syntax.Regexp {
	cr := &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{'\r'}}
	quest := &syntax.Regexp{Op: syntax.OpQuest, Sub: []*syntax.Regexp{cr}}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{quest, {Op: syntax.OpEndLine}}}
}

func withoutNewline(ranges []rune) []rune {
	var out []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if lo > '\n' || hi < '\n' {
			out = append(out, lo, hi)
			continue
		}
		if lo < '\n' {
			out = append(out, lo, '\n'-1)
		}
		if hi > '\n' {
			out = append(out, '\n'+1, hi)
		}
	}
	return out
}

// probe is one goroutine's use of a matcher.
type probe struct {
	m       *Matcher
	finder  *finder
	dfa     *dfa
	trusted bool // literals may be used for the buffer at hand
}

func (m *Matcher) probe() *probe {
	p := &probe{m: m}
	if len(m.lits) > 0 {
		p.finder = newFinder(m.lits)
	}
	if m.nfa != nil {
		p.dfa, _ = m.pool.Get().(*dfa)
		if p.dfa == nil {
			p.dfa = newDFA(m.nfa)
		}
	}
	return p
}

func (p *probe) close() {
	if p.dfa != nil && !p.dfa.off {
		p.m.pool.Put(p.dfa)
	}
	p.dfa = nil
}

// begin prepares for a new buffer, which must start at the start of a line.
func (p *probe) begin(b []byte) {
	p.trusted = p.finder != nil
	for _, t := range p.m.foldTrap {
		if bytes.Contains(b, t) {
			p.trusted = false
		}
	}
	if p.trusted {
		p.finder.reset()
	}
}

// nextLine returns the bounds of the next line at or after pos (a line start) that matches; the line end is not
// part of it. Between two calls of begin pos must not go back.
func (p *probe) nextLine(b []byte, pos int) (start, end int, ok bool) {
	for pos < len(b) {
		at, n := pos, 0
		switch {
		case p.trusted:
			if at, n = p.finder.find(b, pos); at < 0 {
				return 0, 0, false
			}
		case p.useDFA():
			if at = p.dfa.find(b, pos); at < 0 && !p.dfa.off {
				return 0, 0, false
			}
			at = max(at, pos)
		default:
			loc := p.m.re.FindIndex(b[pos:])
			if loc == nil {
				return 0, 0, false
			}
			at = pos + loc[0]
		}
		start, end = lineAround(b, pos, at, n)
		if start == len(b) {
			return 0, 0, false // an empty match behind the last line end
		}
		if p.trusted && p.m.whole || p.lineMatches(b[start:end]) {
			return start, end, true
		}
		pos = end + 1
	}
	return 0, 0, false
}

func (p *probe) useDFA() bool { return p.dfa != nil && !p.dfa.off }

// lineAround returns the line that holds at; it starts at pos or later.
func lineAround(b []byte, pos, at, n int) (start, end int) {
	start = pos + bytes.LastIndexByte(b[pos:at], '\n') + 1
	from := min(at+n, len(b))
	end = len(b)
	if i := bytes.IndexByte(b[from:], '\n'); i >= 0 {
		end = from + i
	}
	return start, end
}

// lineMatches looks closely at one line. The automaton's word counts on ASCII only.
func (p *probe) lineMatches(line []byte) bool {
	if p.useDFA() {
		if p.dfa.find(line, 0) < 0 {
			if !p.dfa.off {
				return false
			}
		} else if isASCII(line) {
			return true
		}
	}
	return p.m.re.Match(line)
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// mayMatch reports false only when no match is in the whole text b.
func (p *probe) mayMatch(b []byte) bool {
	p.begin(b)
	if p.trusted {
		if at, _ := p.finder.find(b, 0); at < 0 {
			return false
		}
	}
	if p.useDFA() {
		if p.dfa.find(b, 0) < 0 && !p.dfa.off {
			return false
		}
	}
	return true
}

// spans lists the matches within one line (or, for multiline, one text) as byte offsets.
func (m *Matcher) spans(b []byte, limit int) [][]int { return m.re.FindAllIndex(b, limit) }
