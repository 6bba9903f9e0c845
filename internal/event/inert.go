package event

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Inert makes text safe for a terminal: what would move the cursor, change colours, set a title, fill the clipboard,
// make a link or turn the order of letters round is shown instead of done. Line ends and tabs stay, and so does all
// other text, byte for byte. Front ends pass everything through it that a tool, a file, a model or a name may have
// brought along, before they add colours of their own.
func Inert(s string) string { return inert(s, shown) }

// InertLine is Inert for what must stay on one line, such as a file's name: line ends and tabs are shown too.
func InertLine(s string) string {
	s = inert(s, shown)
	if !strings.ContainsAny(s, "\n\t") { // nearly always; a replacer is made anew with every call
		return s
	}
	return strings.NewReplacer("\n", "␊", "\t", "␉").Replace(s)
}

// Aside is Inert for what is said on lines of its own, such as a warning: further lines are indented, so that nothing
// within it looks like another message of the program.
func Aside(s string) string {
	return strings.ReplaceAll(strings.TrimRight(Inert(s), "\n"), "\n", "\n  ")
}

// InertJSON is Inert for a compact JSON text that is shown to a person: it stays the same JSON, with escapes for characters
// that act on a terminal.
func InertJSON(s string) string {
	return inert(s, func(b *strings.Builder, r rune, raw string) {
		if r == utf8.RuneError && len(raw) == 1 {
			b.WriteString(`\ufffd`)
			return
		}
		if r > 0xffff {
			r -= 0x10000
			fmt.Fprintf(b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
			return
		}
		fmt.Fprintf(b, `\u%04x`, r)
	})
}

func inert(s string, write func(b *strings.Builder, r rune, raw string)) string {
	i := harmless(s)
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for {
		b.WriteString(s[:i])
		if s = s[i:]; s == "" {
			return b.String()
		}
		r, size := utf8.DecodeRuneInString(s)
		write(&b, r, s[:size])
		s = s[size:]
		i = harmless(s)
	}
}

// harmless is the length of the text that nothing needs to be done about.
func harmless(s string) int {
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= 0x20 && c < 0x7f, c == '\n', c == '\t':
			i++
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
			i += 2
		case c < utf8.RuneSelf:
			return i
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 || acts(r) {
				return i
			}
			i += size
		}
	}
	return len(s)
}

// acts reports characters that do something instead of being seen: control characters, those that change the
// direction of text, those without width that hide in words, and the tags. Joiners stay, since words and emoji of many
// languages need them.
func acts(r rune) bool {
	switch {
	case r < 0xa0, r == 0xad, r == 0x61c, r == 0x180e, r == 0xfeff:
		return true
	case r == 0x200b, r == 0x200e, r == 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xe0000 && r <= 0xe007f, r >= 0xfff9 && r <= 0xfffb:
		return true
	}
	return unicode.Is(unicode.Co, r) && r >= 0xf0000
}

// shown writes a character in a form that can be seen.
func shown(b *strings.Builder, r rune, raw string) {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		fmt.Fprintf(b, "<%02x>", raw[0])
	case r < 0x20:
		b.WriteRune('␀' + r)
	case r == 0x7f:
		b.WriteRune('␡')
	default:
		fmt.Fprintf(b, "<U+%04X>", r)
	}
}
