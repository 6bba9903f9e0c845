package hook_test

import (
	"encoding/json"
	"testing"

	"lathe/internal/hook"
	"lathe/internal/perm"
)

// "if" is one permission rule. Each part of a command is looked at, and what cannot be read may be meant.
func TestConditions(t *testing.T) {
	for _, tt := range []struct {
		rule, tool, field, value string
		runs                     bool
	}{
		{"Bash(git push *)", "Bash", "command", "git push origin", true},
		{"Bash(git push *)", "Bash", "command", "git status", false},
		{"Bash(git push:*)", "Bash", "command", "cd x && FOO=1 git push", true},
		{"Bash(rm *)", "Bash", "command", "echo $(rm -rf x)", true},
		{"Bash(rm *)", "Bash", "command", "echo 'rm x'", false},
		{"Bash(rm *)", "Bash", "command", "$cmd x", true},
		{"Bash(rm *)", "Bash", "command", "if", true},
		{"Bash", "Bash", "command", "ls", true},
		{"Edit(*.ts)", "Edit", "file_path", "a.ts", true},
		{"Edit(*.ts)", "Edit", "file_path", "a.go", false},
		{"Edit(/src/**)", "Edit", "file_path", "src/x/y", true},
		{"Edit(/src/**)", "Edit", "file_path", "lib/../src/y", true},
		{"Read(.env)", "Read", "file_path", ".env", true},
		{"WebFetch(domain:example.org)", "WebFetch", "url", "https://example.org/x", true},
		{"WebFetch(domain:example.org)", "WebFetch", "url", "https://example.com/x", false},
		{"Bash(rm *)", "Write", "file_path", "rm x", false},
	} {
		rule, _ := json.Marshal(tt.rule)
		r := newRig(t, command(hook.PreToolUse, "exit 2", "if", string(rule)))
		in, _ := json.Marshal(map[string]string{tt.field: tt.value})
		o := r.Fire(t.Context(), hook.Payload{Event: hook.PreToolUse, Match: tt.tool, Call: &perm.Request{Tool: tt.tool, Input: in}})
		if (len(o.Ran) == 1) != tt.runs {
			t.Errorf("if %s, %s %s: ran %v", tt.rule, tt.tool, tt.value, !tt.runs)
		}
	}
}
