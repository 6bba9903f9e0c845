//go:build unix

package bash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shells calls f with a rig for each shell that there is. It is not parallel: for sh, bash is hidden.
func shells(t *testing.T, f func(t *testing.T, shell string, r *rig)) {
	for _, shell := range []string{"bash", "zsh", "sh"} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("SKIPPED: there is no %s here", shell)
			}
			if shell == "sh" {
				only := t.TempDir()
				if err := os.Symlink(path, filepath.Join(only, "sh")); err != nil {
					t.Fatal(err)
				}
				full := os.Environ()
				t.Setenv("PATH", only)
				f(t, shell, newRig(t, func(r *rig) { r.env["SHELL"] = ""; r.deps.Sys.Environ = func() []string { return full } }))
				return
			}
			f(t, shell, newRig(t, func(r *rig) { r.env["SHELL"] = path }))
		})
	}
}

// Each command runs in sub, a folder of the workspace; cwd is where the next one would run.
var commands = []struct {
	name, command, text, cwd string
	failed                   bool
	only                     string // the shell, when others do it otherwise
}{
	{name: "output", command: "echo hi; echo err >&2", text: "hi\nerr"},
	{name: "silent", command: "true", text: "(no output)"},
	{name: "blank", command: "echo; echo ' '", text: "(no output)"},
	{name: "leading blanks stay", command: "printf ' M a\\n'", text: " M a"},
	{name: "exit code", command: "echo hi; exit 3", text: "Exit code 3\nhi", failed: true},
	{name: "last exit code", command: "(exit 4)", text: "Exit code 4\n(no output)", failed: true},
	{name: "cd", command: "cd ..; pwd", text: "DIR", cwd: ""},
	{name: "cd and exit", command: "cd ..; exit 3", text: "Exit code 3\n(no output)", failed: true, cwd: ""},
	{name: "cd and set -e", command: "set -e; cd ..; false; echo no", text: "Exit code 1\n(no output)", failed: true, cwd: ""},
	{name: "cd in a subshell", command: "(cd /; pwd)", text: "/", cwd: "sub"},
	{name: "cd to a folder with odd name", command: "mkdir -p 'a b\"c'; cd 'a b\"c'", text: "(no output)", cwd: "sub/a b\"c"},
	{name: "cd to a folder that is gone", command: "mkdir x; cd x; rmdir ../x", text: "(no output)", cwd: "sub", only: "bash"},
	{name: "cd outside", command: "cd /", text: "(no output)\nShell cwd was reset to DIR", cwd: ""},
	{name: "trap EXIT", command: "trap 'echo bye' EXIT; cd ..; echo hi", text: "hi\nbye", cwd: "", only: "bash"},
	{name: "trap EXIT sees the code", command: "trap 'echo code $?' EXIT; (exit 5)", text: "Exit code 5\ncode 5", failed: true, only: "bash"},
	{name: "trap EXIT on stderr", command: "trap 'echo bye >&2' EXIT; true", text: "bye", only: "bash"},
	{name: "trap EXIT and exit", command: "trap 'echo bye' EXIT; exit 3", text: "Exit code 3\nbye", failed: true},
	{name: "trap removed", command: "trap - EXIT; cd ..", text: "(no output)", cwd: ""},
	{name: "exec", command: "cd ..; exec echo hi", text: "hi", cwd: "sub"},
	{name: "unclosed quote", command: `echo "unclosed`, failed: true, cwd: "sub"},
	{name: "unclosed brace", command: "{ echo a", failed: true, cwd: "sub"},
	{name: "syntax error", command: "if; then", failed: true, cwd: "sub"},
	{name: "here-document", command: "cat <<'EOF'\nit's\nEOF", text: "it's"},
	{name: "here-document with expansion", command: "x=1; cat <<EOF\n\"$x\" `echo y` it's\nEOF\necho after", text: "\"1\" y it's\nafter"},
	{name: "here-document unfinished", command: "cat <<EOF\na", text: "", cwd: "sub"},
	{name: "comment at the end", command: "echo a # it's", text: "a"},
	{name: "backslash at the end", command: "echo a \\", text: "a"},
	{name: "several lines", command: "for i in 1 2\ndo\n  echo $i\ndone", text: "1\n2"},
	{name: "quotes", command: `echo "a'b" 'c"d' \$x`, text: `a'b c"d $x`},
	{name: "function", command: "f() { echo in f; return 2; }; f || echo $?", text: "in f\n2"},
	{name: "set -x", command: "set -x; : a", text: "++ : a", only: "bash"},
	{name: "set -u", command: "set -u; cd ..; echo a", text: "a", cwd: ""},
	{name: "redirected for good", command: "exec >/dev/null 2>&1; cd ..; echo a", text: "(no output)", cwd: ""},
	{name: "own descriptors", command: "exec 3>f3 4>f4; echo a >&3; echo b >&4; exec 3>&- 4>&-; cat f3 f4", text: "a\nb"},
	{name: "descriptors closed", command: "cat <&3", failed: true},
	{name: "stdin is empty", command: "read x; echo code $?", text: "code 1"},
	{name: "killed", command: "kill -9 $$", text: "Exit code 137 (killed)\n(no output)", failed: true},
	{name: "grep finds nothing", command: "grep x /dev/null", text: "(no output; exit code 1: no matches)"},
	{name: "grep fails", command: "grep x /no/such/file 2>/dev/null", text: "Exit code 2\n(no output)", failed: true},
	{name: "diff", command: "echo a > 1; echo b > 2; diff 1 2", text: "1c1\n< a\n---\n> b"},
	{name: "test", command: "cd . && [ a = b ]", text: "(no output; exit code 1: the condition is false)"},
	{name: "grep before the last", command: "grep x /dev/null && echo a || false", text: "Exit code 1\n(no output)", failed: true},
	{name: "binary", command: "printf 'a\\000b\\377\\376c\\033[31mred\\033[0m\\n'", text: "ab\uFFFDcred"},
	{name: "progress bar", command: "printf '1%%\\r50%%\\r100%%\\n'", text: "100%"},
	{name: "yes and head", command: "yes | head -2", text: "y\ny"},
	{name: "its own text is in no arguments", command: "pkill -f unlikely_word_xyz; echo alive", text: "alive"},
	{
		name: "editor", command: "git init -q . && git -c user.name=a -c user.email=b commit --allow-empty 2>&1 | tail -1; echo done",
		text: "Aborting commit due to empty commit message.\ndone",
	},
}

func TestCommands(t *testing.T) {
	shells(t, func(t *testing.T, shell string, r *rig) {
		sub := filepath.Join(r.dir, "sub")
		for _, tt := range commands {
			if tt.only != "" && tt.only != shell {
				continue
			}
			if err := os.RemoveAll(sub); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(sub, 0o700); err != nil {
				t.Fatal(err)
			}
			r.deps.Workspace.SetCwd(sub)
			g := r.bash(tt.command)
			if g.failed != tt.failed {
				t.Errorf("%s: failed %t, text %q", tt.name, g.failed, g.text)
			}
			if want := strings.ReplaceAll(tt.text, "DIR", r.dir); want != "" && g.text != want {
				t.Errorf("%s: text %q, want %q", tt.name, g.text, want)
			}
			want := filepath.Join(r.dir, tt.cwd)
			if tt.cwd == "" && !strings.Contains(tt.command, "cd ..") && !strings.Contains(tt.text, "reset") {
				want = sub
			}
			if got := r.deps.Workspace.Cwd(); got != want {
				t.Errorf("%s: cwd %s, want %s", tt.name, got, want)
			}
		}
	})
}

// A broken command must not spoil the next one (each is a shell of its own).
func TestBrokenCommandsInARow(t *testing.T) {
	shells(t, func(t *testing.T, _ string, r *rig) {
		r.bash("mkdir d; cd d")
		r.bash("cat <<'EOF'\nit's\nEOF")
		if g := r.bash(`echo "unclosed`); !g.failed {
			t.Errorf("unclosed quote: %q", g.text)
		}
		if g := r.bash("echo ok; pwd"); g.text != "ok\n"+filepath.Join(r.dir, "d") {
			t.Errorf("afterwards: %q", g.text)
		}
	})
}

func TestNothingButTheDirectoryPersists(t *testing.T) {
	r := newRig(t)
	r.bash("export A=1; B=2; f() { :; }; shopt -s nullglob; set -e")
	if g := r.bash("echo [$A$B]; type f; false; echo on"); !strings.HasPrefix(g.text, "[]\n") || !strings.HasSuffix(g.text, "\non") {
		t.Errorf("text %q", g.text)
	}
}

func TestDirectoryRemoved(t *testing.T) {
	r := newRig(t)
	r.bash("mkdir d; cd d")
	if err := os.Remove(filepath.Join(r.dir, "d")); err != nil {
		t.Fatal(err)
	}
	if g := r.bash("pwd"); g.failed || g.text != r.dir+"\nShell cwd was reset to "+r.dir {
		t.Errorf("text %q", g.text)
	}
}

func TestDirectoryInAnotherRoot(t *testing.T) {
	r := newRig(t)
	other, _ := filepath.EvalSymlinks(t.TempDir())
	r.deps.Workspace.AddRoot(other)
	r.bash("cd " + other)
	if got := r.deps.Workspace.Cwd(); got != other {
		t.Errorf("cwd %s, want %s", got, other)
	}
	r.env["CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR"] = "1"
	r.bash("cd " + r.dir)
	if got := r.deps.Workspace.Cwd(); got != other {
		t.Errorf("cwd %s, want it kept", got)
	}
}

func TestEnvironment(t *testing.T) {
	r := newRig(t)
	file := r.write("env.sh", "export FROM_FILE=yes\n")
	r.deps.Sys.Environ = func() []string {
		return append(os.Environ(), "ANTHROPIC_API_KEY=canary-1", "CLAUDE_CODE_OAUTH_TOKEN=canary-2", "MINE=kept", "CLAUDE_ENV_FILE="+file)
	}
	r = newRig(t, func(n *rig) { n.deps.Sys.Environ = r.deps.Sys.Environ })
	g := r.bash("env")
	for _, want := range []string{"MINE=kept", "FROM_FILE=yes", "LATHE=1", "CLAUDECODE=1", "TERM=dumb", "PWD=" + r.dir} {
		if !strings.Contains("\n"+g.text+"\n", "\n"+want+"\n") {
			t.Errorf("%s is missing in %s", want, g.text)
		}
	}
	if strings.Contains(g.text, "canary") || strings.Contains(g.text, "__lathe") {
		t.Errorf("a secret or an internal reaches the command: %s", g.text)
	}
}

func TestLargeCommand(t *testing.T) {
	shells(t, func(t *testing.T, _ string, r *rig) {
		body := strings.Repeat("it's \"line\" $x\n", 20_000)
		g := r.bash("cat > big <<'EOF'\n" + body + "EOF\nwc -c < big")
		if strings.TrimSpace(g.text) != fmt.Sprint(len(body)) {
			t.Errorf("text %q, want %d", g.text, len(body))
		}
	})
}

func TestLongOutput(t *testing.T) {
	r := newRig(t)
	g := r.bash("seq 1 100000")
	o := g.bash()
	if g.failed || !strings.HasPrefix(g.text, "1\n2\n") || !strings.HasSuffix(g.text, "\n99999\n100000") {
		t.Errorf("head or tail is missing in %q", g.text)
	}
	if len(g.text) > inlineLimit+300 || !g.res.Budgeted {
		t.Errorf("%d bytes, budgeted %t", len(g.text), g.res.Budgeted)
	}
	if !strings.Contains(g.text, o.SavedPath) || o.SavedSize != 588895 {
		t.Errorf("saved %s, %d", o.SavedPath, o.SavedSize)
	}
	b, err := os.ReadFile(o.SavedPath)
	if err != nil || len(b) != 588895 || !strings.HasSuffix(string(b), "\n100000\n") {
		t.Errorf("file: %d bytes, %v", len(b), err)
	}
	if fi, err := os.Stat(o.SavedPath); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}

	if g = r.bash("seq 1 8000; exit 1"); !g.failed || len(g.text) > failureLimit+300 || !strings.HasPrefix(g.text, "Exit code 1\n1\n2\n") ||
		!strings.HasSuffix(g.text, "\n8000") || g.bash().SavedPath == "" {
		t.Errorf("failure: %d bytes, %+v", len(g.text), g.bash().SavedPath)
	}
	if g = r.bash("seq 1 5000"); g.bash().SavedPath != "" || len(g.text) != len("1\n")*9+3*90+4*900+5*4001-1 {
		t.Errorf("an output below the limit: %d bytes, %q", len(g.text), g.bash().SavedPath)
	}
}

func TestHugeOutput(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: writes 200 MB")
	}
	r := newRig(t)
	g := r.bash("yes 'a line of thirty-two characters' | head -c 200000000; echo end")
	o := g.bash()
	if g.failed || !strings.HasSuffix(g.text, "end") || o.SavedSize != 64<<20 {
		t.Errorf("failed %t, saved %d", g.failed, o.SavedSize)
	}
	if !strings.Contains(g.text, "the first 67108864 of 200000004 bytes are in") {
		t.Errorf("text %s", g.text[inlineLimit/2-100:inlineLimit/2+300])
	}
}

func TestOutputWithoutFolder(t *testing.T) {
	r := newRig(t, func(r *rig) { r.deps.ResultsDir = func() string { return "/proc/no/such" } })
	if g := r.bash("seq 1 100000"); g.failed || !strings.Contains(g.text, "could not be saved") {
		t.Errorf("failed %t, text %q", g.failed, g.text[:100])
	}
}

func TestWrongInput(t *testing.T) {
	r := newRig(t)
	for command, want := range map[string]string{
		"":       "command is empty; give the shell command to run",
		" \n":    "command is empty; give the shell command to run",
		"a\x00b": "command holds a NUL character, which no shell takes; write it as an escape such as \\0 in printf",
	} {
		if g := r.bash(command); !g.failed || g.text != want {
			t.Errorf("%q: %q", command, g.text)
		}
	}
}

func TestDefinitions(t *testing.T) {
	limits := map[string]int{"Bash": 250, "TaskOutput": 90, "TaskStop": 90}
	r := newRig(t)
	if diff := cmp.Diff([]string{"Bash", "TaskOutput", "TaskStop"}, r.tools.Names()); diff != "" {
		t.Error(diff)
	}
	for _, d := range r.tools.Defs() {
		size := (len(d.Name) + len(d.Description) + len(d.InputSchema)) / 4
		t.Logf("%s: %d tokens: %s %s", d.Name, size, d.Description, d.InputSchema)
		if size > limits[d.Name] {
			t.Errorf("%s: %d tokens", d.Name, size)
		}
	}
	r = newRig(t, func(r *rig) { r.deps.Background = false })
	if diff := cmp.Diff([]string{"Bash"}, r.tools.Names()); diff != "" {
		t.Error(diff)
	}
	if def := r.tools.Defs()[0]; strings.Contains(def.Description+string(def.InputSchema), "background") {
		t.Errorf("background runs are offered: %+v", def)
	}
}

// The setting counts more than the environment, and neither more than there is room for.
func TestOutputLimits(t *testing.T) {
	for _, c := range []struct {
		env     string
		setting int
		want    int
	}{{"", 0, 30_000}, {"100000", 0, 100_000}, {"900000", 0, 150_000}, {"100000", 50_000, 50_000}, {"", 900_000, 128_000}} {
		r := newRig(t, func(r *rig) { r.env["BASH_MAX_OUTPUT_LENGTH"], r.deps.OutputChars = c.env, c.setting })
		if got := newBash(r.deps).limits.inline; got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	r := newRig(t, func(r *rig) { r.deps.OutputChars = 128_000 })
	if g := r.call(t.Context(), "Bash", map[string]any{"command": "head -c 120000 /dev/zero | tr '\\0' x"}); len(g.bash().Stdout) != 120_000 {
		t.Errorf("%d bytes came", len(g.bash().Stdout))
	}
}
