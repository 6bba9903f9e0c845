package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// ansiC decodes the inside of $'…'. sure is false where shells differ: a zero byte, which ends the text in bash,
// control letters, code points beyond the last, and escapes that only some know.
func ansiC(s string) (text string, sure bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		if k := strings.IndexByte("abeEfnrtv", s[i]); k >= 0 {
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v"[k])
			continue
		}
		if strings.IndexByte(`\'"?`, s[i]) >= 0 {
			b.WriteByte(s[i])
			continue
		}
		n, end := ansiNumber(s, i)
		if end == 0 || n == 0 || n > utf8.MaxRune || n >= 0xd800 && n < 0xe000 {
			return "", false
		}
		if s[i] == 'u' || s[i] == 'U' {
			b.WriteString(string(rune(n)))
		} else {
			b.WriteByte(byte(n))
		}
		i = end - 1
	}
	return b.String(), true
}

// ansiNumber reads the number of an escape whose letter or first digit is at i; end is 0 when there is none.
func ansiNumber(s string, i int) (n uint64, end int) {
	base, from, most := 16, i+1, 0
	switch s[i] {
	case 'x':
		most = 2
	case 'u':
		most = 4
	case 'U':
		most = 8
	default:
		base, from, most = 8, i, 3
	}
	end = from
	for end < len(s) && end-from < most && digit(s[end], base) {
		end++
	}
	n, err := strconv.ParseUint(s[from:end], base, 32)
	if err != nil {
		return 0, 0
	}
	return n, end
}

func digit(c byte, base int) bool {
	if base == 8 {
		return c >= '0' && c <= '7'
	}
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// zshReadsOn says that zsh takes the text after a $ differently from bash: $name[…] as a subscript, in which it
// evaluates arithmetic and so may run commands, $name:x as a modifier, and a second mark after the $ as a flag.
func zshReadsOn(parts []syntax.WordPart) bool {
	switch p := parts[0].(type) {
	case *syntax.Lit:
		text := p.Value
		if len(parts) > 1 {
			if next, ok := parts[1].(*syntax.Lit); ok { // the parser ends a text at a lone $
				text += next.Value
			}
		}
		for i := 0; i+1 < len(text); i++ {
			if text[i] == '\\' {
				i++
			} else if text[i] == '$' && strings.IndexByte("=~^+", text[i+1]) >= 0 {
				return true
			}
		}
	case *syntax.ParamExp:
		if !p.Short || p.Param == nil || len(parts) < 2 {
			return false
		}
		next, ok := parts[1].(*syntax.Lit)
		if !ok || next.Value == "" {
			return false
		}
		c := next.Value[0]
		switch {
		case c == '[':
			return true
		case c == ':':
			return len(next.Value) > 1 && strings.IndexByte("aAcefFgGhlpPqQrstuwWxX&", next.Value[1]) >= 0
		}
		return p.Param.Value == "#" && (c == '_' || strings.IndexByte("?*@-", c) >= 0 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z')
	}
	return false
}

func zshPiece(quoted bool) Piece {
	return Piece{Kind: Opaque, Text: "an expansion that zsh reads further than bash", Quoted: quoted}
}

// evaluated lists a word of a for or case clause whose expansion may run code of its own: arithmetic evaluates the
// values of variables, and a subscript in them runs commands.
func (a *analyser) evaluated(w Word, p place) {
	for _, piece := range w.Pieces {
		if piece.Kind == Opaque && piece.Text != extended {
			a.add(Command{Kind: Arith, Text: w.Text}, nil, p)
			return
		}
	}
}

// obeyed says that shells or programs may obey a loop's variable: PATH, exported names, and the small names that
// are special to zsh.
func obeyed(name string) bool {
	switch name {
	case "FILE", "DIR", "NAME", "ITEM", "LINE", "PKG", "TEST", "BRANCH", "ARG", "KEY", "VALUE", "VERSION", "TARGET":
		return false
	case "path", "fpath", "cdpath", "manpath", "mailpath", "module_path", "fignore", "prompt", "psvar", "watch", "options",
		"commands", "aliases", "galiases", "saliases", "functions", "builtins", "parameters", "modules", "argv", "status", "pipestatus",
		"signals", "histchars", "keymaps", "nameddirs", "userdirs", "jobdirs", "jobstates", "jobtexts", "dirstack", "history", "widgets":
		return true
	}
	if strings.HasSuffix(name, "_proxy") || strings.HasPrefix(name, "npm_") || strings.HasPrefix(name, "dis_") || strings.HasPrefix(name, "zsh_") {
		return true
	}
	return len(name) > 1 && name == strings.ToUpper(name)
}
