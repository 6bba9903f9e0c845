package perm

import (
	"context"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestAllowedCommandsLeaveNothing puts shell syntax together at random around a harmless command that leaves a mark,
// and really runs in bash and zsh whatever is allowed: no mark may appear. Where it does, a shell reads the text
// otherwise than the parser. LATHE_FULL=1 tries a hundred times as many.
func TestAllowedCommandsLeaveNothing(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("SKIPPED: runs commands in real shells, on Linux only")
	}
	var shells []string
	for _, name := range []string{"bash", "zsh"} {
		if path, err := exec.LookPath(name); err == nil {
			shells = append(shells, path)
		} else {
			t.Logf("NOT TESTED with %s, which is not here", name)
		}
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set, _ := Compile(nil, Options{Start: dir, Home: dir, ProjectRoot: dir})
	env := Env{Rules: set, Workspace: Workspace{Cwd: dir, Home: dir, Roots: []string{dir}}}
	tries := 20_000
	if os.Getenv("LATHE_FULL") != "" {
		tries *= 100
	}
	r, ran := rand.New(rand.NewSource(time.Now().UnixNano())), 0
	for range tries {
		command := randomScript(r)
		if !strings.Contains(command, "marker") || Decide(bash(command), env).Verdict != Allow {
			continue
		}
		ran++
		for _, shell := range shells {
			runIn(t, shell, dir, command)
			if entries, _ := os.ReadDir(dir); len(entries) != 1 {
				t.Fatalf("%s: %q is allowed and left %v", shell, command, entries)
			}
		}
	}
	t.Logf("%d of %d scripts were allowed and ran", ran, tries)
}

func runIn(t *testing.T, shell, dir, command string) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	cmd := exec.CommandContext(ctx, shell, "-c", command)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, []string{"PATH=/usr/bin:/bin", "HOME=" + dir}, 50*time.Millisecond
	_ = cmd.Run() // most of these are nonsense and fail
}

// syntaxTokens are what scripts are made of at random.
var syntaxTokens = []string{
	"ls", "echo", "cat", "true", "test", "printf %s", "touch marker", "touch marker", "$(touch marker)", "`touch marker`", "> marker", "2>&1", ">&2", "&>",
	"<<E\n", "<<'E'\n", "<<-E\n", "<<\\E\n", "<<'E'E\n", "\nE\n", "\\\nE\n", "\tE\n", "\nEE\n", "<<<", "<", "<>", "<(", "$(", ")", "`", "((", "))", "$((", "$[",
	";", "&&", "||", "|", "|&", "&", "\n", "\\\n", "\\\n", "\r", "#", "#\n", "'", "\"", "\\", "$'", "$\"", "\\'", "\\\"", "''", "{", "}", "(", "[[", "]]", "[", "]",
	"if", "then", "fi", "for x in", "do", "done", "while", "case a in", "a)", ";;", "esac", "function f", "f()", "time", "!", "coproc", "select", "eval", "command",
	"exec", "cd", "x=", "x[", "${x:-", "${x#", "$x", "~", "*", "?", "@(", "{a,", "..", "=", "-", "--", "a.txt", "sort -o", "find . -exec", "\t", " ", " ",
}

func randomScript(r *rand.Rand) string {
	var b strings.Builder
	if r.Intn(2) == 0 {
		b.WriteString([]string{"ls ", "echo ", "cat ", "true ", "printf "}[r.Intn(5)])
	}
	for range 1 + r.Intn(10) {
		b.WriteString(syntaxTokens[r.Intn(len(syntaxTokens))])
		if r.Intn(2) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
