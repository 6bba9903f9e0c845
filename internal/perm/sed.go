package perm

import "strings"

// checkSed admits a small grammar of scripts: what prints, deletes, substitutes and branches, and nothing that
// writes or reads a file or runs a program.
func checkSed(a *args, u *usage) {
	scripts := []string{}
	for _, f := range a.flags {
		switch f.name {
		case "-e", "--expression":
			if text, ok := f.value.Literal(); ok {
				scripts = append(scripts, text)
			}
		case "-i", "--in-place":
			u.edits = true
			if f.value != nil {
				if suffix, ok := f.value.Literal(); !ok || strings.ContainsAny(suffix, "/*") {
					u.edits = false
				}
			}
		}
	}
	if !a.has("-e", "--expression") {
		if len(a.operands) == 0 {
			return
		}
		text, ok := a.operands[0].Literal()
		if !ok {
			u.no("its script expands")
			u.edits = false
		}
		scripts = append(scripts, text)
		if len(u.reads) > 0 && u.reads[0].word.Text == a.operands[0].Text {
			u.reads = u.reads[1:] // the script was counted as a path
		}
	}
	if !sedHarmless(strings.Join(scripts, "\n")) {
		u.no("its script is not known to only print")
		u.edits = false
	}
	if a.why != "" || u.why != "" {
		u.edits = false
	}
	if a.has("-i", "--in-place") {
		u.no("it changes files in place")
		u.writes = append(u.writes, u.reads...)
	}
}

// sedHarmless reads a whole script. What it does not understand is not harmless.
func sedHarmless(s string) bool {
	p := &sedScript{s: s}
	for {
		p.skip(" \t\n;}")
		if p.s == "" {
			return true
		}
		if !p.address() || !p.command() {
			return false
		}
	}
}

type sedScript struct{ s string }

func (p *sedScript) skip(set string) { p.s = strings.TrimLeft(p.s, set) }

// address reads none, one or two addresses and the marks after them.
func (p *sedScript) address() bool {
	for {
		p.skip(" \t")
		switch {
		case p.s == "":
			return false
		case p.s[0] >= '0' && p.s[0] <= '9', p.s[0] == '$', p.s[0] == '~', p.s[0] == '+':
			p.s = p.s[1:]
		case p.s[0] == '/':
			if !p.regexp('/', 1) {
				return false
			}
			p.skip("IM")
		case p.s[0] == '\\' && len(p.s) > 1 && p.s[1] != '\n':
			if !p.regexp(p.s[1], 2) {
				return false
			}
			p.skip("IM")
		case p.s[0] == ',', p.s[0] == '!':
			p.s = p.s[1:]
		default:
			return true
		}
	}
}

// regexp skips from text of n bytes to the closing delimiter. A delimiter inside brackets is read differently by
// different programs, so that it fails.
func (p *sedScript) regexp(delim byte, n int) bool {
	bracket := false
	for i := n; i < len(p.s); i++ {
		switch c := p.s[i]; {
		case c == '\\' && !bracket:
			i++
		case c == '\n':
			return false
		case c == delim:
			if bracket {
				return false
			}
			p.s = p.s[i+1:]
			return true
		case c == '[' && bracket && i+1 < len(p.s) && strings.IndexByte(":.=", p.s[i+1]) >= 0:
			end := strings.Index(p.s[i+2:], p.s[i+1:i+2]+"]")
			if end < 0 || strings.IndexByte(p.s[i:i+2+end], delim) >= 0 {
				return false
			}
			i += 2 + end + 1
		case c == '[' && !bracket:
			bracket = true
			if i+1 < len(p.s) && p.s[i+1] == '^' {
				i++
			}
			if i+1 < len(p.s) && p.s[i+1] == ']' {
				i++
			}
		case c == ']':
			bracket = false
		}
	}
	return false
}

// plain skips a replacement, in which brackets mean nothing.
func (p *sedScript) plain(delim byte) bool {
	for i := 0; i < len(p.s); i++ {
		switch p.s[i] {
		case '\\':
			i++
		case delim:
			p.s = p.s[i+1:]
			return true
		}
	}
	return false
}

func (p *sedScript) command() bool {
	c := p.s[0]
	p.s = p.s[1:]
	switch c {
	case '{', '}', 'p', 'P', 'd', 'D', 'n', 'N', 'g', 'G', 'h', 'H', 'x', '=', 'z', 'F':
		return c == '{' || p.ended()
	case 'q', 'Q', 'l', 'L':
		p.skip(" \t0123456789")
		return p.ended()
	case 's':
		return p.substitute()
	case 'y':
		if p.s == "" || p.s[0] == '\\' || p.s[0] == '\n' {
			return false
		}
		delim := p.s[0]
		p.s = p.s[1:]
		for range 2 { // the letters, and what they become
			if !p.plain(delim) {
				return false
			}
		}
		return p.ended()
	case 'a', 'i', 'c':
		return p.text()
	case 'b', 't', 'T', ':': // GNU ends a label at a blank, and reads a command behind it
		p.skip(" \t")
		p.skip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
		return p.ended()
	case '#':
		end := strings.IndexByte(p.s, '\n')
		if end < 0 {
			end = len(p.s)
		}
		p.s = p.s[end:]
		return true
	}
	return false
}

// ended says that nothing but a separator follows.
func (p *sedScript) ended() bool {
	p.skip(" \t")
	return p.s == "" || strings.IndexByte(";\n}#", p.s[0]) >= 0
}

func (p *sedScript) substitute() bool {
	if p.s == "" || p.s[0] == '\\' || p.s[0] == '\n' {
		return false
	}
	delim := p.s[0]
	if !p.regexp(delim, 1) || !p.plain(delim) {
		return false
	}
	p.skip("gpiIMm0123456789")
	return p.ended()
}

// text skips the text of a, i and c: to the end of the line, past continued ones.
func (p *sedScript) text() bool {
	for {
		end := strings.IndexByte(p.s, '\n')
		if end < 0 {
			p.s = ""
			return true
		}
		if strings.HasSuffix(p.s[:end], `\\`) {
			return false // an escaped backslash: not all take the next line for text
		}
		continued := strings.HasSuffix(p.s[:end], `\`)
		p.s = p.s[end+1:]
		if !continued {
			return true
		}
	}
}
