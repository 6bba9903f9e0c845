package proc

import (
	"slices"
	"strings"
)

// Env makes the environment of a child from base: the program's own secrets and internals are left out, nothing
// asks or pages, and extra entries ("KEY=value") win over all. Order is kept, each key appears once.
func Env(base []string, extra ...string) []string {
	sets := append([]string{
		"LATHE=1", "CLAUDECODE=1", "TERM=dumb",
		"PAGER=cat", "GIT_PAGER=cat", "GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0",
		"PYTHONUNBUFFERED=1", // or a program that is stopped takes its output with it
	}, extra...)
	index := map[string]int{}
	out := make([]string, 0, len(base)+len(sets))
	put := func(entry string) {
		key, _, _ := strings.Cut(entry, "=")
		if i, ok := index[key]; ok {
			out[i] = entry
			return
		}
		index[key] = len(out)
		out = append(out, entry)
	}
	for _, entry := range base {
		if key, _, ok := strings.Cut(entry, "="); ok && !withheld(key) {
			put(entry)
		}
	}
	for _, entry := range sets {
		put(entry)
	}
	return out
}

// withheld are keys to models, which no command needs, variables that steer the program itself, and such that give
// a plain command another meaning than the one it was judged by: CDPATH sends cd elsewhere, BASH_ENV and ENV run a
// file first.
func withheld(key string) bool {
	if strings.HasPrefix(key, "LATHE_") {
		return !slices.Contains([]string{"LATHE_HOME", "LATHE_SHARED", runVar}, key)
	}
	return slices.Contains([]string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_FOUNDRY_API_KEY",
		"AWS_BEARER_TOKEN_BEDROCK", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_REFRESH_TOKEN",
		"CDPATH", "BASH_ENV", "ENV",
	}, key)
}

// marked adds the mark of a run to the environment. Marks add up, so that an outer program finds also what an
// inner one started.
func marked(env []string, mark string) []string {
	out := make([]string, 0, len(env)+1)
	for _, entry := range env {
		if old, ok := strings.CutPrefix(entry, runVar+"="); ok {
			mark = old + mark
			continue
		}
		out = append(out, entry)
	}
	return append(out, runVar+"="+mark)
}
