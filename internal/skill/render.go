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
// again. Arguments that the text does not refer to stand at its end. Shell lines in the text are not run.
func (s Skill) Render(args string, v Vars) string {
	text, _ := s.Expand(args, v, nil) // without a runner nothing can fail
	return text
}

// Expand is Render with the shell lines of the text run: their output stands in their place, and is not looked at
// again. Arguments cannot bring shell lines of their own. The first error of run ends it. A nil run leaves the lines
// as they are.
func (s Skill) Expand(args string, v Vars, run func(command string) (string, error)) (string, error) {
	words := fields(args)
	used := false
	var b strings.Builder
	for _, p := range pieces(s.Body) {
		if !p.shell || run == nil {
			b.WriteString(s.fill(p.text, args, words, v, &used))
			continue
		}
		out, err := run(s.fill(p.command, args, words, v, &used))
		if err != nil {
			return "", err
		}
		b.WriteString(strings.TrimRight(out, "\n"))
		if strings.HasSuffix(p.text, "\n") {
			b.WriteByte('\n')
		}
	}
	if args != "" && !used {
		b.WriteString("\n\nARGUMENTS: " + args)
	}
	return b.String(), nil
}

// Fill fills in what is known of the skill itself, as in its permission rules.
func (s Skill) Fill(text string, v Vars) string {
	text = strings.ReplaceAll(text, "${CLAUDE_SKILL_DIR}", s.Dir)
	return strings.ReplaceAll(text, "${CLAUDE_PROJECT_DIR}", v.Project)
}

// HasShell reports whether the text has shell lines.
func (s Skill) HasShell() bool {
	for _, p := range pieces(s.Body) {
		if p.shell {
			return true
		}
	}
	return false
}

// piece is a part of a text: plain, or a shell line with the command in it.
type piece struct {
	text    string // as it stands there
	shell   bool
	command string
}

// pieces finds the shell lines of a text: !`command` at the start of a line or behind a blank, and blocks that begin
// with a line of three backticks and an exclamation mark. What is not closed is plain text.
func pieces(body string) []piece {
	var out []piece
	from := 0
	cut := func(start, end int, command string) {
		if start > from {
			out = append(out, piece{text: body[from:start]})
		}
		out = append(out, piece{body[start:end], true, command})
		from = end
	}
	for at := 0; at < len(body); {
		i := strings.IndexByte(body[at:], '!')
		if i < 0 {
			break
		}
		i += at
		at = i + 1
		switch {
		case strings.HasPrefix(body[i:], "!`") && !strings.HasPrefix(body[i:], "!``") && (i == 0 || isBlank(body[i-1])):
			end := strings.IndexAny(body[i+2:], "`\n")
			if end > 0 && body[i+2+end] == '`' {
				at = i + 2 + end + 1
				cut(i, at, body[i+2:i+2+end])
			}
		case i >= 3 && body[i-3:i] == "```" && (i == 3 || body[i-4] == '\n') && i-3 >= from:
			if command, end := fenced(body, i+1); end > 0 {
				at = end
				cut(i-3, end, command)
			}
		}
	}
	if from < len(body) {
		out = append(out, piece{text: body[from:]})
	}
	return out
}

// fenced reads a block up to its closing line. start is behind the mark that opens it; end is 0 where it is not closed.
func fenced(body string, start int) (command string, end int) {
	line, rest, ok := strings.Cut(body[start:], "\n")
	if !ok || strings.TrimSpace(line) != "" {
		return "", 0
	}
	at := start + len(line) + 1
	first := at
	for rest != "" {
		line, next, more := strings.Cut(rest, "\n")
		if strings.TrimRight(line, " \t\r") == "```" {
			end = at + len(line)
			if more {
				end++
			}
			return strings.TrimRight(body[first:at], "\n"), end
		}
		at += len(line) + 1
		rest = next
	}
	return "", 0
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// fill fills in the placeholders of a text.
func (s Skill) fill(text, args string, words []string, v Vars, used *bool) string {
	return placeholder().ReplaceAllStringFunc(text, func(m string) string {
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
			*used = true
		}
		return value
	})
}

func (s Skill) value(g []string, plain, args string, words []string, v Vars) (string, bool) {
	if index := g[1] + g[2]; index != "" {
		n, err := strconv.Atoi(index)
		n -= s.first
		if err != nil || n < 0 || n >= len(words) {
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
