package msg

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Context is a block of text that the program adds beside what the person types, marked as such for the model. The text may
// come from anywhere: whatever it says, it does not leave its frame.
func Context(source, text string) Block {
	return Text(fmt.Sprintf("<context source=%q>\n%s\n</context>", source, WithoutMarks(strings.TrimRight(text, "\n"))))
}

// ContextText is what stands between the marks of a context block, for people; other texts are returned as they are.
func ContextText(text string) string {
	rest, ok := strings.CutPrefix(text, "<context source=")
	_, rest, begun := strings.Cut(rest, ">\n")
	inner, ended := strings.CutSuffix(rest, "\n</context>")
	if !ok || !begun || !ended {
		return text
	}
	return inner
}

// WithoutMarks spells the marks of context blocks in a text so that they end or begin none: what a file or a server says must
// not look like what the program or the user says.
func WithoutMarks(text string) string {
	return marks().ReplaceAllString(text, `<\$1`)
}

var marks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)<(\s*/?\s*context\b)`) })
