package input

import (
	"fmt"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"

	"lathe/internal/turn"
)

var commandName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/([a-zA-Z][a-zA-Z0-9_:.-]*)(?:\s+(.*))?$`)
})

// SplitCommand splits "/name args". A path such as /etc/hosts is no command.
func SplitCommand(text string) (name, args string, ok bool) {
	text = strings.TrimSpace(text)
	first, rest, _ := strings.Cut(text, "\n")
	m := commandName().FindStringSubmatch(first)
	if m == nil {
		return "", "", false
	}
	args = m[2]
	if rest != "" {
		args += "\n" + rest
	}
	return m[1], strings.TrimSpace(args), true
}

// Typed is how a transcript says which command was typed.
func Typed(name, args string) string {
	text := "<command-message>" + name + "</command-message>\n<command-name>/" + name + "</command-name>"
	if args != "" {
		text += "\n<command-args>" + args + "</command-args>"
	}
	return text
}

// unknown names the nearest commands.
func unknown(name string, cmds []Command) error {
	type near struct {
		name string
		d    int
	}
	var found []near
	for _, c := range cmds {
		if d := distance(name, c.Name); d <= 2 || strings.HasPrefix(c.Name, name) {
			found = append(found, near{c.Name, d})
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].d < found[j].d })
	if len(found) == 0 {
		//lint:ignore ST1005 the documented wording
		return fmt.Errorf("Unknown command: /%s (see /help)", name)
	}
	var names []string
	for _, f := range found[:min(3, len(found))] {
		names = append(names, "/"+f.name)
	}
	//lint:ignore ST1005 the documented wording
	return fmt.Errorf("Unknown command: /%s. Did you mean %s?", name, strings.Join(names, ", "))
}

// distance is the edit distance of two short names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		prev := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := prev
			if a[i-1] != b[j-1] {
				cost = 1 + min(prev, row[j], row[j-1])
			}
			prev, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}

var mentionRef = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s(\[{,;:])@(?:"([^"\n]+)"|([^\s"'` + "`" + `]+))`)
})

// Mentions returns what follows @ in running text, in order and once each. Code is left out.
func Mentions(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, m := range mentionRef().FindAllStringSubmatch(withoutCode(text), -1) {
		ref := m[1]
		if ref == "" {
			ref = strings.TrimRight(m[2], ".,;:!?)]}>")
		}
		if ref != "" && !seen[ref] {
			seen[ref] = true
			out = append(out, ref)
		}
	}
	return out
}

var lineRange = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+)#L(\d+)(?:-L?(\d+))?$`) })

func parseRange(ref string) turn.Mention {
	m := lineRange().FindStringSubmatch(ref)
	if m == nil {
		return turn.Mention{Ref: ref, Path: ref}
	}
	from, _ := strconv.Atoi(m[2])
	to := from
	if m[3] != "" {
		to, _ = strconv.Atoi(m[3])
	}
	return turn.Mention{Ref: ref, Path: m[1], From: from, To: max(from, to)}
}

func isImageName(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		return true
	}
	return false
}

// hasKeyword reports whether the word stands in running text. In code and quotes it means nothing.
func hasKeyword(text, word string) bool {
	plain := quoted().ReplaceAllString(withoutCode(text), " ")
	for _, w := range strings.FieldsFunc(plain, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	}) {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

var quoted = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"[^"\n]*"|\B'[^'\n]*'\B|“[^”\n]*”|«[^»\n]*»`)
})

var code = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?s)```.*?(?:```|$)|~~~.*?(?:~~~|$)|`[^`\n]*`")
})

// withoutCode blanks fenced code and code spans.
func withoutCode(text string) string {
	if !strings.ContainsAny(text, "`~") {
		return text
	}
	return code().ReplaceAllString(text, " ")
}
