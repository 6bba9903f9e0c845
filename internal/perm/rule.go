package perm

import (
	"errors"
	"fmt"
	"strings"
)

// A rule's text is Tool or Tool(content).
type parsed struct {
	tool    string
	content string
	bare    bool // no content: the whole tool
}

var (
	errNoTool    = errors.New("it has no tool name")
	errUnclosed  = errors.New("its parenthesis is not closed")
	errAfter     = errors.New("there is text after the closing parenthesis")
	errCharacter = errors.New("it contains a control character")
	errEmpty     = errors.New("its parentheses are empty; write the tool's name alone to mean every call")
)

// ParseRule checks the text of a rule and returns its tool and content. Bare is true for a whole tool.
func ParseRule(text string) (tool, content string, bare bool, err error) {
	p, err := parseRule(text)
	return p.tool, p.content, p.bare, err
}

func parseRule(text string) (parsed, error) {
	text = strings.TrimSpace(text)
	for i := 0; i < len(text); i++ {
		if text[i] < ' ' && text[i] != '\t' && text[i] != '\n' || text[i] == 0x7f {
			return parsed{}, errCharacter
		}
	}
	tool, rest, found := strings.Cut(text, "(")
	tool = strings.TrimSpace(tool)
	if tool == "" {
		return parsed{}, errNoTool
	}
	if !found {
		if strings.ContainsAny(tool, ") \t\n") {
			return parsed{}, fmt.Errorf("%q is no tool name", tool)
		}
		return parsed{tool: canonicalTool(tool), bare: true}, nil
	}
	if !strings.HasSuffix(rest, ")") {
		if strings.Contains(rest, ")") {
			return parsed{}, errAfter
		}
		return parsed{}, errUnclosed
	}
	content := strings.TrimSpace(strings.TrimSuffix(rest, ")"))
	p := parsed{tool: canonicalTool(tool), content: content, bare: content == "*"}
	if content == "" {
		return p, errEmpty
	}
	return p, nil
}

// Malformed says why a rule's text cannot be read, nil where it can. Empty parentheses can: they mean the whole tool
// where they restrict, and are warned of.
func Malformed(text string) error {
	if _, err := parseRule(text); err != nil && err != errEmpty {
		return err
	}
	return nil
}

// canonicalTool gives a tool's other names their common one.
func canonicalTool(name string) string {
	switch name {
	case "Task":
		return "Agent"
	case "KillBash", "KillShell":
		return "TaskStop"
	case "BashOutput", "AgentOutputTool":
		return "TaskOutput"
	}
	return name
}

// Warning is what is wrong with a rule; the rule is left out, or can never match.
type Warning struct {
	Rule Rule
	Text string
}

func (w Warning) String() string {
	where := w.Rule.Source.File
	if where != "" && w.Rule.Source.Line > 0 {
		where = fmt.Sprintf("%s:%d", where, w.Rule.Source.Line)
	}
	if where != "" {
		where += ": "
	}
	return fmt.Sprintf("%s%s rule %q: %s", where, w.Rule.Effect, w.Rule.Text, w.Text)
}
