package frontmatter

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
)

// maxHead is the size up to which a head is read, in bytes.
const maxHead = 64 << 10

// Fields are the values of a head, by key.
type Fields map[string]any

// Split divides a text into the head, without its --- lines, and the body. ok is false where there is no head; the
// body is then the whole text.
func Split(text string) (head, body string, ok bool) {
	first, rest, found := strings.Cut(text, "\n")
	if !found || strings.TrimRight(first, "\r \t") != "---" {
		return "", text, false
	}
	for at := 0; at < len(rest) && at <= maxHead; {
		line, _, more := strings.Cut(rest[at:], "\n")
		next := at + len(line)
		if more {
			next++
		}
		if strings.TrimRight(line, "\r \t") == "---" {
			return rest[:at], rest[next:], true
		}
		at = next
	}
	return "", text, false
}

// Parse returns the fields of a text's head, and its body. A head that is no YAML gives no fields.
func Parse(text string) (Fields, string) {
	head, body, ok := Split(text)
	if !ok {
		return nil, body
	}
	return parse(head), body
}

func parse(head string) Fields {
	if strings.ContainsRune(head, '&') && anchor().MatchString(head) {
		return nil // aliases of aliases grow without bounds, and no such file needs any
	}
	var f Fields
	if yaml.Unmarshal([]byte(head), &f) == nil {
		return f
	}
	f = nil
	if yaml.Unmarshal([]byte(star().ReplaceAllString(head, `$1'$2'`)), &f) == nil {
		return f
	}
	return nil
}

var anchor = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)(^|[\s:\[,-])&\S`) })

// star finds globs such as **/*.go that stand without quotes, which YAML would take for an alias.
var star = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(\s*(?:-\s+|[A-Za-z_-]+:\s+))(\*[^'\r\n]*?)\s*$`)
})

// Text is a field as a text, "" where there is none.
func (f Fields) Text(key string) string {
	switch v := f[key].(type) {
	case nil, []any, map[string]any:
		return ""
	case string:
		return strings.TrimSpace(v)
	default:
		return fmt.Sprint(v)
	}
}

// List is a field as a list of texts; a single text is split at commas that stand outside braces and brackets.
func (f Fields) List(key string) []string {
	var out []string
	list, ok := f[key].([]any)
	if !ok {
		return splitCommas(f.Text(key))
	}
	for _, v := range list {
		if s, ok := v.(string); ok && strings.TrimSpace(s) != "" {
			out = append(out, strings.TrimSpace(s))
		}
	}
	return out
}

// Has reports whether the head has the key.
func (f Fields) Has(key string) bool { _, ok := f[key]; return ok }

// Bool is a field that says yes or no in any of the usual words, else def.
func (f Fields) Bool(key string, def bool) bool {
	switch strings.ToLower(f.Text(key)) {
	case "true", "yes", "on", "1":
		return true
	case "false", "no", "off", "0":
		return false
	}
	return def
}

func splitCommas(s string) []string {
	var out []string
	depth, from := 0, 0
	add := func(part string) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	for i, r := range s {
		switch r {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth <= 0 {
				add(s[from:i])
				from = i + 1
			}
		}
	}
	add(s[from:])
	return out
}
