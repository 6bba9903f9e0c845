package skill

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Vars are what a skill's text may refer to beside its arguments.
type Vars struct{ Session, Effort, Project string }

var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\\?\$(?:ARGUMENTS(?:\[(\d+)\])?|(\d+)|\{(CLAUDE_[A-Z_]+)\}|([A-Za-z_][A-Za-z0-9_-]*))`)
})

// Render returns the skill's text with its placeholders filled in, in one pass: what is put in is not looked at
// again. Arguments that the text does not refer to stand at its end. Commands in the text are not run.
func (s Skill) Render(args string, v Vars) string {
	words := fields(args)
	used := false
	text := placeholder().ReplaceAllStringFunc(s.Body, func(m string) string {
		g := placeholder().FindStringSubmatch(m)
		escaped := strings.HasPrefix(m, `\`)
		plain := strings.TrimPrefix(m, `\`)
		value, ok := s.value(g, plain, args, words, v)
		switch {
		case escaped && (ok || g[1]+g[2] != "") && g[3] == "":
			return plain
		case !ok:
			return m
		case g[3] == "":
			used = true
		}
		return value
	})
	if args != "" && !used {
		text += "\n\nARGUMENTS: " + args
	}
	return text
}

func (s Skill) value(g []string, plain, args string, words []string, v Vars) (string, bool) {
	if index := g[1] + g[2]; index != "" {
		n, err := strconv.Atoi(index)
		if err != nil || n >= len(words) {
			return "", false
		}
		return words[n], true
	}
	if plain == "$ARGUMENTS" {
		return args, true
	}
	switch g[3] {
	case "CLAUDE_SESSION_ID":
		return v.Session, true
	case "CLAUDE_EFFORT":
		return v.Effort, true
	case "CLAUDE_SKILL_DIR":
		return s.Dir, true
	case "CLAUDE_PROJECT_DIR":
		return v.Project, true
	}
	for i, name := range s.Arguments {
		if g[4] == name {
			if i < len(words) {
				return words[i], true
			}
			return "", true
		}
	}
	return "", false
}

// fields splits arguments at blanks; quotes keep a blank in one.
func fields(s string) []string {
	var out []string
	var b strings.Builder
	quote, open := rune(0), false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '"' || r == '\'':
			quote, open = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if open || b.Len() > 0 {
				out = append(out, b.String())
			}
			b.Reset()
			open = false
		default:
			b.WriteRune(r)
		}
	}
	if open || b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}
