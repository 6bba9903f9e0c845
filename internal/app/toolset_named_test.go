package app

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"lathe/internal/tool"
	"lathe/internal/tool/webfetch"
)

// What people set in the environment and in settings for tools counts.
func TestToolsAsTheEnvironmentWants(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "k")
	t.Setenv("CLAUDE_CODE_DISABLE_WEB_FETCH", "1")
	t.Setenv("CLAUDE_CODE_GLOB_HIDDEN", "false")
	t.Setenv("CLAUDE_CODE_GLOB_NO_IGNORE", "0")
	t.Setenv("CLAUDE_CODE_GLOB_TIMEOUT_SECONDS", "7")
	t.Setenv("BASH_DEFAULT_TIMEOUT_MS", "2400000")
	t.Setenv("CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS", "1e2")
	base := t.TempDir()
	settings := filepath.Join(base, "settings.json")
	if err := os.WriteFile(settings, []byte(`{"bashOutputMaxChars": 50000}`), 0o600); err != nil {
		t.Fatal(err)
	}
	o := demoOptions(base)
	o.Recording, o.Settings = nil, settings
	r, err := newRun(o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	if _, has := r.tools.registry.Get("WebFetch"); has {
		t.Error("WebFetch is offered")
	}
	g := r.globDeps(r.tools.workspace)
	if !g.SkipHidden || !g.RespectIgnore || g.Timeout != 7*time.Second {
		t.Errorf("%+v", g)
	}
	long := filepath.Join(base, "long.txt")
	if err := os.WriteFile(long, []byte(strings.Repeat("some words\n", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	plan, err := r.tools.read.Plan(t.Context(), tool.Call{Input: []byte(`{"file_path":` + strconv.Quote(long) + `}`)})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := plan.Run(t.Context(), nil); err != nil || !strings.Contains(res.Blocks[0].Text, "cut at the limit of tokens") {
		t.Errorf("Read: %+v, %v", res, err)
	}
	if n := r.outputChars(); n != 50000 {
		t.Errorf("output: %d", n)
	}
	if d := r.commandLimit(); d != 40*time.Minute {
		t.Errorf("background commands: %s", d)
	}
	r.o.Entry = EntryTerminal
	if d := r.commandLimit(); d != 0 {
		t.Errorf("background commands in the terminal: %s", d)
	}
}

func TestPagesKept(t *testing.T) {
	for ms, want := range map[string]time.Duration{"": webfetch.CacheFor, "x": webfetch.CacheFor, "-1": webfetch.CacheFor, "0": -1, "2e3": 2 * time.Second} {
		if got := pagesKept(ms); got != want {
			t.Errorf("%q: %s", ms, got)
		}
	}
}
