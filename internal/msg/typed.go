package msg

import (
	"regexp"
	"strings"
	"sync"
)

// Typed reads what a transcript keeps of a typed command and returns it as it was typed: "/name args". Any other text
// it returns as it is.
func Typed(text string) (string, bool) {
	if !strings.HasPrefix(strings.TrimSpace(text), "<command-") {
		return text, false
	}
	m := typedForm().FindStringSubmatch(text)
	if m == nil {
		return text, false
	}
	return strings.TrimSpace(m[1] + " " + m[2]), true
}

var typedForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^\s*(?:<command-message>.*?</command-message>\s*)?<command-name>(.*?)</command-name>\s*(?:<command-message>.*?</command-message>\s*)?(?:<command-args>(.*)</command-args>)?\s*$`)
})
