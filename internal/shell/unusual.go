package shell

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unusual names the first character of s that a person would not see, or that programs read differently from a
// shell: control characters, blanks other than space and tab, invisible and direction-changing characters,
// broken UTF-8. It returns "" when there is none.
func unusual(s string) string {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return fmt.Sprintf("the control character U+%04X", c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return "bytes that are not UTF-8"
		}
		if invisible(r) {
			return fmt.Sprintf("the invisible character U+%04X", r)
		}
		i += n
	}
	return ""
}

// continuedComment says that a line with what looks like a comment ends in a backslash. A shell ends the comment
// there and runs the next line; the parser would take that line into the comment.
func continuedComment(s string) bool {
	for line := range strings.SplitSeq(s, "\n") {
		if !strings.HasSuffix(line, "\\") {
			continue
		}
		for i := range len(line) {
			if line[i] == '#' && (i == 0 || strings.IndexByte(" \t;|&()<>`{}!", line[i-1]) >= 0) {
				return true
			}
		}
	}
	return false
}

func invisible(r rune) bool {
	switch {
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Z, r):
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0, r == 0x2800:
		return true // fillers and joiners that show nothing
	case r >= 0xe000 && r <= 0xf8ff, r >= 0xe0000:
		return true // private use and tags
	}
	return false
}
