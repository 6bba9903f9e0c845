package highlight

import (
	"strings"
	"unicode/utf8"
)

// Kind is what a span is.
type Kind uint8

const (
	Plain Kind = iota
	Keyword
	String
	Comment
	Number
	Function // where it is defined
	Type
	Builtin // constants and the like
	Key     // of an object, an attribute, a property
	Inserted
	Deleted
)

// Span is a part of a line. Spans are in order, do not overlap and leave plain text out.
type Span struct {
	Start, End int
	Kind       Kind
}

// maxLine is the longest line that is looked at; generated files have longer ones.
const maxLine = 4096

// Scanner highlights the lines of one text, in order.
type Scanner struct {
	lang  *language
	spans []Span

	open   *delim // the string or comment that the line before left open
	depth  int    // of nested comments
	here   string // the end of a here-document
	inTag  bool   // of HTML
	define bool   // the last word was one that defines a function
}

// New returns a scanner for a language by name, alias or file extension.
func New(name string) *Scanner {
	name = strings.ToLower(strings.TrimSpace(name))
	name = name[strings.LastIndexByte(name, '.')+1:]
	return &Scanner{lang: find(name)}
}

// Known reports whether the language is one that we highlight.
func (s *Scanner) Known() bool { return s.lang != nil }

// Line returns the spans of the next line, which has no line end. They are valid until the next call.
func (s *Scanner) Line(line string) []Span {
	s.spans = s.spans[:0]
	if s.lang == nil || len(line) > maxLine {
		return nil
	}
	s.define = false
	if s.here != "" {
		if strings.TrimSpace(line) == s.here {
			s.here = ""
		}
		s.add(0, len(line), String)
		return s.spans
	}
	if s.lang.whole != nil && s.open == nil {
		if k := s.lang.whole(line); k != Plain {
			s.add(0, len(line), k)
			return s.spans
		}
	}
	i := 0
	if s.open != nil {
		i = s.finish(line, 0, 0)
	}
	for i < len(line) {
		i = s.token(line, i)
	}
	return s.spans
}

func (s *Scanner) add(from, to int, k Kind) {
	if from >= to {
		return
	}
	if n := len(s.spans); n > 0 && s.spans[n-1].Kind == k && s.spans[n-1].End == from {
		s.spans[n-1].End = to
		return
	}
	s.spans = append(s.spans, Span{from, to, k})
}

// token takes one token of line from i on and returns where it ends.
func (s *Scanner) token(line string, i int) int {
	l, c := s.lang, line[i]
	if c == ' ' || c == '\t' {
		return i + 1
	}
	if l.here && c == '<' {
		if n := s.hereDoc(line[i:]); n > 0 {
			return i + n
		}
	}
	for k := range l.delims {
		d := &l.delims[k]
		if strings.HasPrefix(line[i:], d.open) && (!d.char || isChar(line[i:])) && (!d.tag || !s.inTag) {
			if d.kind == String && s.isKey(line, i, d) {
				return s.key(line, i, d)
			}
			s.open, s.depth = d, 1
			return s.finish(line, i, i+len(d.open))
		}
	}
	for _, mark := range l.comments {
		if strings.HasPrefix(line[i:], mark) && (mark != "#" || i == 0 || strings.IndexByte(" \t;(){}", line[i-1]) >= 0) {
			s.add(i, len(line), Comment)
			return len(line)
		}
	}
	switch {
	case l.markup:
		return s.markup(line, i)
	case c >= '0' && c <= '9':
		return s.number(line, i)
	case s.wordByte(c):
		return s.word(line, i)
	}
	s.define = s.define && c != '(' || c == ')' && !strings.Contains(line[:i], ")") && strings.HasPrefix(line, "func (") // Go's receivers
	_, n := utf8.DecodeRuneInString(line[i:])
	return i + n
}

// finish runs from a delimiter's inside at i to its end; from is where its span begins.
func (s *Scanner) finish(line string, from, i int) int {
	d := s.open
	for i < len(line) {
		switch {
		case d.escape != 0 && line[i] == d.escape && i+1 < len(line):
			i += 2
		case strings.HasPrefix(line[i:], d.close):
			i += len(d.close)
			if s.depth--; s.depth <= 0 || !d.nests {
				s.open = nil
				s.add(from, i, d.kind)
				return i
			}
		case d.nests && strings.HasPrefix(line[i:], d.open):
			s.depth++
			i += len(d.open)
		default:
			i++
		}
	}
	i = min(i, len(line))
	s.add(from, i, d.kind)
	if !d.multi {
		s.open = nil
	}
	return i
}

func (s *Scanner) number(line string, i int) int {
	end := i
	for end < len(line) && (isAlnum(line[end]) || line[end] == '_' || line[end] == '.' && end+1 < len(line) && isAlnum(line[end+1])) {
		end++
	}
	if end < len(line) && line[end] == '%' && s.lang.css {
		end++
	}
	s.add(i, end, Number)
	return end
}

func (s *Scanner) word(line string, i int) int {
	end := i
	for end < len(line) && (s.wordByte(line[end]) || line[end] >= '0' && line[end] <= '9') {
		end++
	}
	word := line[i:end]
	if s.lang.fold {
		word = strings.ToLower(word)
	}
	k := s.lang.words[word]
	switch {
	case s.define && k == Plain:
		k = Function
	case s.lang.keys != 0 && k != Keyword && s.keyAt(line, i, end):
		k = Key
	case k != Plain && i > 0 && line[i-1] == '.' && !s.lang.fold: // a field that is named like a word
		k = Plain
	}
	s.define = k == Keyword && s.lang.defines(word)
	s.add(i, end, k)
	return end
}

func (s *Scanner) wordByte(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf || strings.IndexByte(s.lang.extra, c) >= 0
}

// keyAt reports that the word at [i, end) is followed by what makes it a key, and begins its line.
func (s *Scanner) keyAt(line string, i, end int) bool {
	lead := strings.TrimLeft(line[:i], " \t-{,?")
	if s.lang.css {
		if lead = strings.TrimRight(line[:i], " \t"); strings.HasSuffix(lead, ";") || strings.HasSuffix(lead, "{") {
			lead = ""
		}
	}
	rest := strings.TrimLeft(line[end:], " \t")
	return lead == "" && rest != "" && rest[0] == s.lang.keys && (s.lang.keys != ':' || len(rest) == 1 || rest[1] == ' ' || s.lang.css)
}

// isKey: a string before a colon is the key of an object.
func (s *Scanner) isKey(line string, i int, d *delim) bool {
	if !s.lang.stringKeys {
		return false
	}
	end := closing(line, i+len(d.open), d)
	return end >= 0 && strings.HasPrefix(strings.TrimLeft(line[end:], " \t"), ":")
}

func (s *Scanner) key(line string, i int, d *delim) int {
	end := closing(line, i+len(d.open), d)
	s.add(i, end, Key)
	return end
}

func closing(line string, i int, d *delim) int {
	for i < len(line) {
		if d.escape != 0 && line[i] == d.escape {
			i += 2
			continue
		}
		if strings.HasPrefix(line[i:], d.close) {
			return i + len(d.close)
		}
		i++
	}
	return -1
}

// hereDoc recognises <<EOF, <<-"EOF", <<~EOF and <<<EOF, and returns its length.
func (s *Scanner) hereDoc(rest string) int {
	if !strings.HasPrefix(rest, "<<") {
		return 0
	}
	i := 2
	for i < len(rest) && strings.IndexByte("<-~", rest[i]) >= 0 {
		i++
	}
	quote := byte(0)
	if i < len(rest) && (rest[i] == '\'' || rest[i] == '"') {
		quote = rest[i]
		i++
	}
	start := i
	for i < len(rest) && (isAlnum(rest[i]) || rest[i] == '_') {
		i++
	}
	tag := rest[start:i]
	if tag == "" || tag[0] < 'A' || quote != 0 && (i >= len(rest) || rest[i] != quote) {
		return 0
	}
	s.here = tag
	if quote != 0 {
		i++
	}
	return i
}

// markup scans HTML and XML: names of tags, attributes and their values.
func (s *Scanner) markup(line string, i int) int {
	rest := line[i:]
	switch {
	case !s.inTag && rest[0] == '<':
		end := 1
		for end < len(rest) && (isAlnum(rest[end]) || strings.IndexByte("/!?-:_", rest[end]) >= 0) {
			end++
		}
		if end > 1 {
			s.inTag = true
			s.add(i, i+end, Keyword)
		}
		return i + end
	case s.inTag && (rest[0] == '>' || strings.HasPrefix(rest, "/>") || strings.HasPrefix(rest, "?>")):
		end := strings.IndexByte(rest, '>') + 1
		s.inTag = false
		s.add(i, i+end, Keyword)
		return i + end
	case s.inTag && (rest[0] == '"' || rest[0] == '\''):
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 0 {
			end = len(rest) - 2
		}
		s.add(i, i+end+2, String)
		return i + end + 2
	case s.inTag && isAlnum(rest[0]):
		end := 0
		for end < len(rest) && (isAlnum(rest[end]) || strings.IndexByte("-:_.@", rest[end]) >= 0) {
			end++
		}
		s.add(i, i+end, Key)
		return i + end
	}
	_, n := utf8.DecodeRuneInString(rest)
	return i + n
}

// isChar reports that a quote starts a character literal and not, say, a lifetime.
func isChar(s string) bool {
	if len(s) < 3 || s[1] == '\'' {
		return false
	}
	if s[1] == '\\' {
		return true
	}
	_, n := utf8.DecodeRuneInString(s[1:])
	return len(s) > 1+n && s[1+n] == '\''
}

func isAlnum(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }

// Fork returns a scanner that goes on from here without changing s.
func (s *Scanner) Fork() Scanner {
	f := *s
	f.spans = nil
	return f
}
