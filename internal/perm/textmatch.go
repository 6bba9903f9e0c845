package perm

import "strings"

// A command is matched as one text: its words after quote removal, joined by sep. A piece that the shell would
// expand is the rune unknown, which in an allow rule only a star covers.
const (
	sep     = '\x1f'
	unknown = '\x01'
	wild    = '\x03' // a star of a pattern; a plain * is that character
)

// textPattern is the compiled content of a Bash rule.
type textPattern struct {
	all   bool     // matches every command
	parts []string // literal texts between stars; the first is anchored at the start, the last at the end
	bare  []string // for "cmd *": the same without its last word, so that cmd alone matches
	exact string   // the whole pattern read literally, stars too
}

// compileText reads the content of a Bash rule: an exact command, or one with stars; "x:*" at the end is "x *".
func compileText(content string) textPattern {
	content = strings.TrimSpace(content)
	if content == "*" || content == ":*" {
		return textPattern{all: true}
	}
	if s, ok := strings.CutSuffix(content, ":*"); ok {
		content = s + " *"
	}
	text := dequote(content)
	p := textPattern{parts: strings.Split(text, string(wild)), exact: strings.ReplaceAll(text, string(wild), "*")}
	if bare, ok := strings.CutSuffix(text, string(sep)+string(wild)); ok {
		p.bare = strings.Split(bare, string(wild))
	}
	return p
}

// match reports whether the pattern matches text, where unknown is only covered by a star.
func (p *textPattern) match(text string) bool {
	return p.all || globParts(p.parts, text) || p.bare != nil && globParts(p.bare, text)
}

// might reports whether the pattern matches some text that the unknown pieces could become.
func (p *textPattern) might(text string) bool {
	if p.all || strings.IndexByte(text, unknown) < 0 {
		return p.match(text)
	}
	return overlap(strings.Join(p.parts, string(wild)), text) ||
		p.bare != nil && overlap(strings.Join(p.bare, string(wild)), text)
}

// Stars reports whether a text fits a pattern in which a star stands for anything, also for nothing.
func Stars(pattern, text string) bool { return globParts(strings.Split(pattern, "*"), text) }

// globParts matches literal parts around stars, leftmost first.
func globParts(parts []string, text string) bool {
	if len(parts) == 1 {
		return text == parts[0]
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, parts[last])
}

// overlap says whether some text matches both a pattern with stars and a text with unknown pieces. Both are
// walked with one row of a table, so the time is their product at most.
func overlap(pattern, text string) bool {
	row := make([]bool, len(text)+1)
	row[0] = true
	for j := 0; j < len(text) && text[j] == unknown; j++ {
		row[j+1] = true
	}
	for i := 0; i < len(pattern); i++ {
		star := pattern[i] == wild
		diagonal := row[0]
		row[0] = row[0] && star
		for j := 0; j < len(text); j++ {
			up := row[j+1]
			switch {
			case star, text[j] == unknown:
				row[j+1] = up || row[j] || star && diagonal
			default:
				row[j+1] = diagonal && pattern[i] == text[j]
			}
			diagonal = up
		}
	}
	return row[len(text)]
}

// dequote reads rule text as words: quotes are removed, runs of blanks between words become sep, and a star that
// no backslash precedes becomes wild. Text with an unbalanced quote keeps its quotes.
func dequote(s string) string {
	out, ok := dequoteWords(s)
	if !ok {
		out = strings.ReplaceAll(strings.Join(strings.Fields(s), string(sep)), "*", string(wild))
	}
	return out
}

func dequoteWords(s string) (string, bool) {
	out := make([]byte, 0, len(s))
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '*':
			out = append(out, wild)
		case quote != 0 && c == quote:
			quote = 0
		case quote == '\'':
			out = append(out, c)
		case c == '\\' && i+1 < len(s) && (quote == 0 || strings.IndexByte("$`\"\\*", s[i+1]) >= 0):
			i++
			out = append(out, s[i])
		case quote != 0:
			out = append(out, c)
		case c == '\'' || c == '"':
			quote = c
		case c == ' ' || c == '\t' || c == '\n':
			if n := len(out); n > 0 && out[n-1] != sep {
				out = append(out, sep)
			}
		default:
			out = append(out, c)
		}
	}
	return string(out), quote == 0
}
