package app

import (
	"strings"
	"testing"

	"lathe/internal/app/conversation"
)

// What a program sets is refused like what a person types, before anything is opened.
func TestOptionsCheck(t *testing.T) {
	id := "6f1c8a5e-3a53-4d8a-9d53-0c1f0f5b7d11"
	for name, c := range map[string]struct {
		o    Options
		want string // "": it may be
	}{
		"nothing":                         {Options{}, ""},
		"an id and another session":       {Options{Which: conversation.Which{SessionID: id, Resume: "x"}}, "--fork-session"},
		"an id and the newest session":    {Options{Which: conversation.Which{SessionID: id, Continue: true}}, "--fork-session"},
		"an id for the copy of a session": {Options{Which: conversation.Which{SessionID: id, Resume: "x", Fork: true}}, ""},
		"a broken rule":                   {Options{Denied: []string{"Bash("}}, "--disallowedTools: the rule"},
		"an effort":                       {Options{Effort: "low"}, ""},
		"an unknown effort":               {Options{Effort: "huge"}, "--effort"},
		"an unknown display":              {Options{Display: "loud"}, "--thinking-display"},
		"a host that answers":             {Options{PromptTool: "stdio"}, ""},
		"a tool of a server":              {Options{PromptTool: "mcp__a__b"}, ""},
		"no tool of a server":             {Options{PromptTool: "ask"}, "--permission-prompt-tool"},
	} {
		err := c.o.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if c.want == "" {
			continue
		}
		if _, opened := Open(c.o); opened == nil || opened.Error() != err.Error() {
			t.Errorf("%s: Open says %v", name, opened)
		}
	}
}
