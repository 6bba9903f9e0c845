package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// words turns one written word into the words it becomes: several only by brace expansion.
func (a *analyser) words(w *syntax.Word) []Word {
	if !hasBrace(w) {
		return []Word{a.word(w)}
	}
	text := a.source(w)
	if strings.Count(text, "{") > maxOpenBraces {
		a.nested(w)
		return []Word{{Text: text, Pieces: []Piece{{Kind: Opaque, Text: "a large brace expansion"}}}}
	}
	split := *w // SplitBraces changes the word, whose substitutions must be walked once only
	a.nested(w)
	if !syntax.SplitBraces(&split) {
		return []Word{{Text: text, Pieces: a.pieces(w.Parts)}}
	}
	var out []Word
	for word, err := range expand.BracesSeq(&expand.Config{}, &split) {
		if err != nil || len(out) == maxBraces {
			return []Word{{Text: text, Pieces: []Piece{{Kind: Opaque, Text: "a large brace expansion"}}}}
		}
		out = append(out, Word{Text: text, Pieces: a.pieces(word.Parts)})
	}
	return out
}

func hasBrace(w *syntax.Word) bool {
	for _, p := range w.Parts {
		if l, ok := p.(*syntax.Lit); ok && strings.Contains(l.Value, "{") {
			return true
		}
	}
	return false
}

// word reads one word without brace expansion, and lists the commands of its substitutions.
func (a *analyser) word(w *syntax.Word) Word {
	if w == nil {
		return Word{}
	}
	a.nested(w)
	return Word{Text: a.source(w), Pieces: a.pieces(w.Parts)}
}

func (a *analyser) pieces(parts []syntax.WordPart) []Piece {
	out := make([]Piece, 0, len(parts))
	for i, p := range parts {
		out = a.piece(out, p, i == 0)
		if zshReadsOn(parts[i:]) {
			out = append(out, zshPiece(false))
		}
	}
	if len(out) == 1 && out[0].Kind == Glob && out[0].Text == "[" {
		out[0].Kind = Lit // the test command
	}
	return out
}

func (a *analyser) piece(out []Piece, part syntax.WordPart, first bool) []Piece {
	switch p := part.(type) {
	case *syntax.Lit:
		return unquoted(out, p.Value, first)
	case *syntax.SglQuoted:
		if text, sure := ansiC(p.Value); p.Dollar && sure {
			return append(out, Piece{Kind: Lit, Text: text, Quoted: true})
		} else if p.Dollar {
			return append(out, Piece{Kind: Opaque, Text: "an escape that not all shells read alike", Quoted: true})
		}
		return append(out, Piece{Kind: Lit, Text: p.Value, Quoted: true})
	case *syntax.DblQuoted:
		if p.Dollar {
			return append(out, Piece{Kind: Opaque, Text: "a translated string", Quoted: true})
		}
		n := len(out)
		out = a.quoted(out, p.Parts)
		if len(out) == n {
			out = append(out, Piece{Kind: Lit, Quoted: true})
		}
		return out
	}
	return append(out, expansion(part))
}

// quoted reads the inside of double quotes.
func (a *analyser) quoted(out []Piece, parts []syntax.WordPart) []Piece {
	for i, part := range parts {
		var p Piece
		if l, ok := part.(*syntax.Lit); ok {
			p = Piece{Kind: Lit, Text: unescapeQuoted(l.Value)}
		} else {
			p = expansion(part)
		}
		p.Quoted = true
		out = append(out, p)
		if zshReadsOn(parts[i:]) {
			out = append(out, zshPiece(true))
		}
	}
	return out
}

func expansion(part syntax.WordPart) Piece {
	switch p := part.(type) {
	case *syntax.ParamExp:
		return paramPiece(p)
	case *syntax.CmdSubst:
		if p.TempFile || p.ReplyVar {
			return Piece{Kind: Opaque, Text: "a substitution in the current shell"}
		}
		return Piece{Kind: Subst}
	case *syntax.ProcSubst:
		if p.Op == syntax.CmdIn {
			return Piece{Kind: ProcIn}
		}
		return Piece{Kind: ProcOut}
	case *syntax.ArithmExp:
		if numbersOnly(p.X) {
			return Piece{Kind: Num}
		}
		return Piece{Kind: Opaque, Text: "arithmetic on variables"}
	}
	return Piece{Kind: Opaque, Text: extended}
}

func paramPiece(p *syntax.ParamExp) Piece {
	opaque := Piece{Kind: Opaque, Text: "a parameter expansion beyond a plain name"}
	if p.Param == nil || p.Excl || p.Width || p.IsSet || p.Flags != nil || p.NestedParam != nil || p.Index != nil ||
		len(p.Modifiers) > 0 || p.Slice != nil || p.Repl != nil || p.Names != 0 ||
		p.Split != 0 || p.GlobSubst != 0 || p.RcExpand != 0 {
		return opaque
	}
	name := p.Param.Value
	if p.Exp != nil {
		if p.Exp.Op == syntax.ErrorUnsetOrNull && !p.Length {
			return Piece{Kind: Var, Text: name, Guarded: true}
		}
		return opaque
	}
	if p.Length || name == "?" || name == "#" || name == "$" {
		return Piece{Kind: Num}
	}
	return Piece{Kind: Var, Text: name}
}

// numbersOnly says that an arithmetic expression has only numbers and operators that set nothing.
func numbersOnly(x syntax.ArithmExpr) bool {
	if x == nil {
		return false
	}
	ok := true
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil, *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm, *syntax.Word:
		case *syntax.Lit:
			if _, err := strconv.ParseUint(n.Value, 10, 64); err != nil {
				ok = false
			}
		default:
			ok = false
		}
		return ok
	})
	return ok
}

// unquoted reads literal text outside quotes: backslashes, globs, tildes and the zsh forms.
func unquoted(out []Piece, s string, first bool) []Piece {
	if first && strings.HasPrefix(s, "~") {
		end := strings.IndexByte(s, '/')
		if end < 0 {
			end = len(s)
		}
		out = append(out, Piece{Kind: Tilde, Text: s[:end]})
		s = s[end:]
		if s == "" {
			return out
		}
	}
	if first && len(s) > 1 && s[0] == '=' && s[1] != '=' {
		out = append(out, Piece{Kind: Opaque, Text: "a word that zsh expands"})
	}
	if i := strings.Index(s, "=~"); first && i > 0 && syntax.ValidName(s[:i]) {
		out = append(out, Piece{Kind: Opaque, Text: "a tilde after an equals sign"})
	}
	if !strings.ContainsAny(s, `\*?[`) {
		return append(out, Piece{Kind: Lit, Text: s})
	}
	var lit []byte
	flush := func() {
		if len(lit) > 0 {
			out = append(out, Piece{Kind: Lit, Text: string(lit)})
			lit = nil
		}
	}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i+1 < len(s) {
				i++
			}
			lit = append(lit, s[i])
		case '*', '?':
			flush()
			out = append(out, Piece{Kind: Glob, Text: s[i : i+1]})
		case '[':
			flush()
			end := strings.IndexByte(s[i:], ']')
			if end < 0 || strings.ContainsAny(s[i:i+end], `\`) {
				end = 0
			}
			out = append(out, Piece{Kind: Glob, Text: s[i : i+end+1]})
			i += end
		default:
			lit = append(lit, s[i])
		}
	}
	flush()
	return out
}

func unescapeQuoted(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '$', '`', '"', '\\':
				i++
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
