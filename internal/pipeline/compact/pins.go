package compact

import (
	"strings"
	"unicode"

	"lathe/internal/msg"
)

// sourcePins is the attachment that carries pins over a compaction.
const sourcePins = "pins"

// pinWord marks a user message that must survive every compaction word for word.
const pinWord = "#pin"

// pinned reports whether a text is marked with #pin, as a word of its own, or holds one of the marks.
func pinned(text string, marks []string) bool {
	for _, mark := range marks {
		if mark != "" && strings.Contains(text, mark) {
			return true
		}
	}
	for rest, at := text, 0; ; {
		i := strings.Index(rest, pinWord)
		if i < 0 {
			return false
		}
		before, after := rune(' '), rune(' ')
		if at+i > 0 {
			before = rune(text[at+i-1])
		}
		if end := at + i + len(pinWord); end < len(text) {
			after = rune(text[end])
		}
		if !word(before) && !word(after) {
			return true
		}
		at += i + len(pinWord)
		rest = text[at:]
	}
}

func word(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' || r >= 0x80
}

// pinsIn lists the pinned texts of the view, each once, with those that an earlier compaction carried.
func pinsIn(view []msg.Message, s Settings) []string {
	var out []string
	seen := map[string]bool{}
	add := func(text string) {
		if !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	for _, m := range view {
		switch {
		case m.Kind == msg.KindAttachment && m.Source == sourcePins:
			add(m.Key)
		case typed(m) && m.Source != sourceCarried && pinned(m.Text(), s.Pins):
			add(m.Text())
		}
	}
	return out
}
