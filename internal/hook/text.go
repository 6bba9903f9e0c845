package hook

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxText is how many characters of one text are passed on; the whole goes to a file.
const maxText = 10_000

var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])`)
})

// inert makes a text harmless for a terminal: no escape sequences, no control characters but line ends and tabs.
func inert(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = escapes().ReplaceAllString(s, "")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

// capped returns at most maxText characters and says where the rest is.
func (b *Bus) capped(s string) string {
	s = strings.TrimSpace(inert(s))
	if len(s) <= maxText || utf8.RuneCountInString(s) <= maxText {
		return s
	}
	end, n := 0, 0
	for i := range s {
		if n == maxText {
			end = i
			break
		}
		n++
	}
	where := "the rest is not kept"
	if b.deps.Spill != nil {
		if path, err := b.deps.Spill(s); err == nil {
			where = "the whole text is in " + path
		}
	}
	return fmt.Sprintf("%s\n[cut: %d of %d characters shown; %s]", s[:end], maxText, utf8.RuneCountInString(s), where)
}

func firstLine(s string) string {
	s = strings.TrimSpace(inert(s))
	line, _, _ := strings.Cut(s, "\n")
	if len(line) > 300 {
		line = strings.ToValidUTF8(line[:300], "") + "…"
	}
	return line
}
