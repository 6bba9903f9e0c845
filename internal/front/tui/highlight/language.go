package highlight

import "strings"

// language is what the scanner knows of one.
type language struct {
	words    map[string]Kind
	comments []string // to the end of the line
	delims   []delim  // strings and block comments; longer openings first
	extra    string   // further bytes of words
	keys     byte     // a word at a line's start before this byte is a key

	fold       bool // words in any case
	stringKeys bool // a string before a colon is a key
	here       bool // has here-documents
	markup     bool
	css        bool
	whole      func(line string) Kind // decides by the whole line
}

// delim is a string or a block comment.
type delim struct {
	open, close string
	kind        Kind
	escape      byte
	multi       bool // may span lines
	nests       bool
	char        bool // only as a literal of one character
	tag         bool // only outside of a tag
}

func (l *language) defines(word string) bool {
	switch word {
	case "func", "fn", "def", "fun", "function", "sub", "defp", "proc", "defmodule", "defmacro", "class", "struct", "interface", "trait", "enum":
		return true
	}
	return false
}

// with adds words of a kind, separated by blanks.
func (l *language) with(k Kind, words string) *language {
	if l.words == nil {
		l.words = make(map[string]Kind, 80)
	}
	for w := range strings.FieldsSeq(words) {
		l.words[w] = k
	}
	return l
}

var (
	dquote   = delim{open: `"`, close: `"`, kind: String, escape: '\\'}
	squote   = delim{open: `'`, close: `'`, kind: String, escape: '\\'}
	charLit  = delim{open: `'`, close: `'`, kind: String, escape: '\\', char: true}
	rawTick  = delim{open: "`", close: "`", kind: String, multi: true}
	template = delim{open: "`", close: "`", kind: String, escape: '\\', multi: true}
	cBlock   = delim{open: "/*", close: "*/", kind: Comment, multi: true}
	cNested  = delim{open: "/*", close: "*/", kind: Comment, multi: true, nests: true}
	triple   = delim{open: `"""`, close: `"""`, kind: String, escape: '\\', multi: true}
	triple1  = delim{open: `'''`, close: `'''`, kind: String, escape: '\\', multi: true}
	multiD   = delim{open: `"`, close: `"`, kind: String, escape: '\\', multi: true}
	multiS   = delim{open: `'`, close: `'`, kind: String, multi: true}
	xmlNote  = delim{open: "<!--", close: "-->", kind: Comment, multi: true}
)

// cLike has the comments of C.
func cLike(keywords, types, constants string, strings ...delim) *language {
	l := &language{comments: []string{"//"}, delims: append([]delim{cBlock}, strings...)}
	return l.with(Keyword, keywords).with(Type, types).with(Builtin, constants)
}

// hash has # comments.
func hash(keywords, types, constants string, strings ...delim) *language {
	l := &language{comments: []string{"#"}, delims: strings}
	return l.with(Keyword, keywords).with(Type, types).with(Builtin, constants)
}
