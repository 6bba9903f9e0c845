package cli

import (
	"os"
	"strings"
	"testing"

	"lathe/internal/app"
	"lathe/internal/perm"

	"github.com/google/go-cmp/cmp"
)

func TestJoinValues(t *testing.T) {
	if err := os.Mkdir(t.TempDir()+"/x", 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, d := range []string{"a", "b"} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for in, want := range map[string]string{
		"-p hi":                            "-p|hi",
		"--allowedTools Read,Edit hi":      "--allowedTools=Read,Edit|hi",
		"--allowedTools Read Edit hi":      "--allowedTools=Read|--allowedTools=Edit|hi",
		"--allowed-tools=Read Edit":        "--allowed-tools=Read|Edit",
		"--allowedTools Bash(ls) mcp__a":   "--allowedTools=Bash(ls)|--allowedTools=mcp__a",
		"--add-dir a b prompt":             "--add-dir=a|--add-dir=b|prompt",
		"--add-dir a ../gone prompt":       "--add-dir=a|--add-dir=../gone|prompt",
		"--tools Bash Read -p x":           "--tools=Bash|--tools=Read|-p|x",
		"--disallowedTools -- --add-dir a": "--disallowedTools=--|--add-dir=a",
		"-r":                               "--resume=",
		"--resume --model x":               "--resume=|--model|x",
		"-r abc -p hi":                     "-r|abc|-p|hi",
		"--resume=abc -rabc":               "--resume=abc|-rabc",
		"--append-system-prompt -r":        "--append-system-prompt|-r",
		"-p -- --tools Bash":               "-p|--|--tools|Bash",
	} {
		got := strings.Join(joinValues((&flags{}).set(), strings.Fields(in)), "|")
		if got != want {
			t.Errorf("joinValues(%s) = %s, want %s", in, got, want)
		}
	}
}

func TestFlagSpellings(t *testing.T) {
	o, _, err := parseFlags([]string{
		"--output-format", "json", "--tools=", "--setting-sources=", "--allowed-tools", "Bash(git log:*)", "Edit",
		"--model=opus", "--max-budget-usd", "1.5", "-r", "abc", "--debug", "do", "it",
	})
	if err != nil {
		t.Fatal(err)
	}
	if o.Prompt != "do it" || o.Resume != "abc" || o.Tools == nil || o.Sources == nil || o.debug != "*" || o.MaxBudget != 1.5 {
		t.Errorf("%+v", o)
	}
	if diff := cmp.Diff([]string{"Bash(git log:*)", "Edit"}, o.Allowed); diff != "" {
		t.Error(diff)
	}
	if o, _, err := parseFlags([]string{"--resume", "-p", "go on"}); err != nil || !o.pick || !o.Print || o.Prompt != "go on" {
		t.Errorf("--resume without a value: %v, %+v", err, o)
	}
	for _, args := range [][]string{{"--teleport"}, {"--worktree"}} {
		if _, _, err := parseFlags(args); err == nil || !strings.Contains(err.Error(), "not supported") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestSplitRules(t *testing.T) {
	for in, want := range map[string][]string{
		"Read,Edit":                     {"Read", "Edit"},
		"Bash(git log:*) Edit":          {"Bash(git log:*)", "Edit"},
		"Bash(a, b),Read(x y) , mcp__s": {"Bash(a, b)", "Read(x y)", "mcp__s"},
		"Bash(echo (a))":                {"Bash(echo (a))"},
		" ":                             nil,
		"Bash(unclosed, Read":           {"Bash(unclosed, Read"},
	} {
		if diff := cmp.Diff(want, perm.SplitRules(in)); diff != "" {
			t.Errorf("perm.SplitRules(%q): %s", in, diff)
		}
	}
}

func TestMistypedCommands(t *testing.T) {
	for word, want := range map[string]string{
		"demoo": "demo", "dmeo": "demo", "dem": "demo", "trsut": "trust", "demo": "demo",
		"hi": "", "explain": "", "demolish": "", "fix it": "", "demo.go": "",
	} {
		if got := mistyped(&flags{Options: app.Options{Prompt: word}}); got != want {
			t.Errorf("mistyped(%q) = %q, want %q", word, got, want)
		}
	}
	if got := mistyped(&flags{Options: app.Options{Prompt: "demoo", Print: true}}); got != "" {
		t.Errorf("a prompt of -p was taken for a command: %q", got)
	}
}

// Flags that are not written as an option of the session become one.
func TestFlagsBecomeOptions(t *testing.T) {
	text := func(s *string) string {
		if s == nil {
			return "(nil)"
		}
		return *s
	}
	for line, is := range map[string]func(o *flags) bool{
		"": func(o *flags) bool {
			return o.System == nil && o.Sources == nil && o.Tools == nil && o.ThinkingBudget == nil && o.Window == 0 && !o.Refreeze && o.Setup == ""
		},
		"--system-prompt=be brief":         func(o *flags) bool { return text(o.System) == "be brief" },
		"--system-prompt=":                 func(o *flags) bool { return o.System == nil },
		"--setting-sources=":               func(o *flags) bool { return o.Sources != nil && len(o.Sources) == 0 },
		"--setting-sources=user, local":    func(o *flags) bool { return cmp.Equal(o.Sources, []string{"user", "local"}) },
		"--tools=":                         func(o *flags) bool { return cmp.Equal(o.Tools, []string{""}) },
		"--max-thinking-tokens=0":          func(o *flags) bool { return o.ThinkingBudget != nil && *o.ThinkingBudget == 0 },
		"--thinking=disabled":              func(o *flags) bool { return o.NoThinking },
		"--autocompact=auto":               func(o *flags) bool { return o.Window < 0 },
		"--autocompact=500k":               func(o *flags) bool { return o.Window == 500_000 },
		"--permission-prompts=none":        func(o *flags) bool { return o.Unattended },
		"--system-prompt-snapshot=off":     func(o *flags) bool { return o.Refreeze },
		"--session-mirror":                 func(o *flags) bool { return o.Mirror != nil },
		"--init":                           func(o *flags) bool { return o.Setup == "init" },
		"--maintenance":                    func(o *flags) bool { return o.Setup == "maintenance" },
		"--plugin-dir=a":                   func(o *flags) bool { return cmp.Equal(o.Plugins, []app.PluginDir{{Path: "a", MCP: true}}) },
		"--plugin-dir-no-mcp=a":            func(o *flags) bool { return cmp.Equal(o.Plugins, []app.PluginDir{{Path: "a"}}) },
		"--project-config-root=elsewhere":  func(o *flags) bool { return o.ConfigRoot == "elsewhere" },
		"--dangerously-skip-permissions":   func(o *flags) bool { return o.SkipPermissions && o.Mode == "" },
		"--append-system-prompt-file=rule": func(o *flags) bool { return o.AppendFile == "rule" },
	} {
		var args []string
		if line != "" {
			args = []string{line}
		}
		o, _, err := parseFlags(args)
		if err != nil || !is(o) {
			t.Errorf("lathe %s: %v, %+v", line, err, o)
		}
	}
}

// What cannot be meant is refused with the name of the flag.
func TestFlagsRefused(t *testing.T) {
	for line, want := range map[string]string{
		"--output-format xml":                             "--output-format must be",
		"--max-turns 0":                                   "--max-turns must be",
		"--effort huge":                                   "--effort must be",
		"--autocompact 12":                                "--autocompact",
		"--allowedTools Bash(":                            "--allowedTools: the rule",
		"--permission-prompt-tool ask":                    "--permission-prompt-tool must be",
		"--permission-prompt-tool stdio":                  "asks the host",
		"--resume-drops-turn x":                           "--resume-session-at",
		"--system-prompt-snapshot maybe":                  "--system-prompt-snapshot must be",
		"-c --session-id 6f1c8a5e-3a53-4d8a-9d53-0c1f0f5": "--fork-session",
		"--modle x":                                       "Did you mean --model?",
	} {
		if _, _, err := parseFlags(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("lathe %s: %v, want %q", line, err, want)
		}
	}
}
