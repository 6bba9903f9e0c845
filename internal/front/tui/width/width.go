package width

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"lathe/internal/event"
)

// TabCells is how wide Inert makes a tab.
const TabCells = 4

// Next is the length in bytes and the width in cells of what s starts with: one of our escape sequences (no width) or
// one grapheme cluster. It is 0, 0 at the end.
func Next(s string) (size, cells int) {
	if s == "" {
		return 0, 0
	}
	c := s[0]
	if c >= 0x20 && c < 0x7f && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1, 1
	}
	if c == '\x1b' {
		if n := escape(s); n > 0 {
			return n, 0
		}
	}
	g := displaywidth.StringGraphemes(s)
	if !g.Next() {
		return len(s), 0
	}
	return len(g.Value()), g.Width()
}

// escape is the length of the escape sequence that s starts with: CSI … final byte, or OSC … BEL or ST; 0 if none.
func escape(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
	case ']':
		for i := 2; i < len(s); i++ {
			if s[i] == '\a' {
				return i + 1
			}
			if s[i] == '\x1b' && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
	}
	return 0
}

// Of is the width of s in cells.
func Of(s string) int {
	total := 0
	for s != "" {
		n, w := Next(s)
		total += w
		s = s[n:]
	}
	return total
}

// Strip removes our escape sequences.
func Strip(s string) string {
	i := strings.IndexByte(s, '\x1b')
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexByte(s, '\x1b') {
		b.WriteString(s[:i])
		n := max(1, escape(s[i:]))
		s = s[i+n:]
	}
	b.WriteString(s)
	return b.String()
}

// Cut shortens s to at most cells cells; where something is cut off, tail takes its place. Styles that are open at the
// cut are closed.
func Cut(s string, cells int, tail string) string {
	if cells <= 0 {
		return ""
	}
	tailCells := Of(tail)
	if tailCells > cells {
		tail, tailCells = "", 0
	}
	used, keep, styled := 0, 0, false // keep: where to cut if the rest does not fit
	for i := 0; i < len(s); {
		n, w := Next(s[i:])
		if used+w > cells {
			out := s[:keep] + tail
			if styled {
				out += "\x1b[m"
			}
			return out
		}
		styled = styled || s[i] == '\x1b'
		used += w
		i += n
		if used+tailCells <= cells {
			keep = i
		}
	}
	return s
}

// Fit makes s exactly cells wide: cut with an ellipsis, or padded with spaces at its right.
func Fit(s string, cells int) string {
	s = Cut(s, cells, "…")
	return s + Spaces(cells-Of(s))
}

// Spaces is n spaces; none if n is negative.
func Spaces(n int) string {
	const some = "                                                                                "
	switch {
	case n <= 0:
		return ""
	case n <= len(some):
		return some[:n]
	}
	return strings.Repeat(" ", n)
}

// Inert makes one line of foreign text safe and measurable: control characters take a visible form (event.InertLine),
// tabs become spaces up to the next multiple of TabCells.
func Inert(s string) string { return event.InertLine(Tabs(s)) }

// Painted makes one line of a program that may use colours safe: styles and links to web pages stay, and are closed at its
// end; all else that a terminal would act on takes a visible form.
func Painted(s string) string {
	if !strings.Contains(s, "\x1b") {
		return Inert(s)
	}
	var b strings.Builder
	var open sequences
	text := 0 // where the text since the last sequence that stays begins
	for i := 0; i < len(s); i++ {
		if s[i] != '\x1b' {
			continue
		}
		if n := escape(s[i:]); n > 0 && paints(s[i:i+n]) {
			b.WriteString(Inert(s[text:i]) + s[i:i+n])
			open.read(s[i : i+n])
			i, text = i+n-1, i+n
		}
	}
	return b.String() + Inert(s[text:]) + open.close()
}

// paints reports a sequence that sets styles, or opens or closes a link to a web page.
func paints(seq string) bool {
	if style, ok := strings.CutPrefix(seq, "\x1b["); ok {
		style, ok = strings.CutSuffix(style, "m")
		return ok && strings.Trim(style, "0123456789;:") == ""
	}
	link, ok := strings.CutPrefix(seq, "\x1b]8;")
	if !ok {
		return false
	}
	_, address, ok := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(link, "\a"), "\x1b\\"), ";")
	web := address == "" || strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
	return ok && web && !strings.ContainsFunc(link[:strings.Index(link, ";")]+address, func(r rune) bool { return r < 0x21 || r > 0x7e })
}

// Tabs replaces tabs by spaces up to the next multiple of TabCells, counting from the start of s.
func Tabs(s string) string {
	i := strings.IndexByte(s, '\t')
	if i < 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for ; i >= 0; i = strings.IndexByte(s, '\t') {
		b.WriteString(s[:i])
		at += Of(s[:i])
		n := TabCells - at%TabCells
		b.WriteString(Spaces(n))
		at += n
		s = s[i+1:]
	}
	b.WriteString(s)
	return b.String()
}
