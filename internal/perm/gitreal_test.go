package perm

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// gitRepo is a repository whose history, index, stash and work tree hold secrets in files that no rule lets be read, and
// one that is now a file which may be read.
func gitRepo(t *testing.T) (dir string, git func(args ...string) string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	git = func(args ...string) string {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_PAGER=cat")
		var out bytes.Buffer
		cmd.Stdout = &out
		_ = cmd.Run() // many words make no sense together
		return out.String()
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	plain := strings.Repeat("plain line\n", 12)
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	git("init", "-q", "-b", "main")
	write("a.go", "package a\n")
	write("src/b.go", "package b\n")
	write("src/old.pem", "SECRET gone\n")
	write("before.pem", plain+"SECRET before\n")
	write("key.pem", "SECRET one\nline\n")
	git("add", ".")
	git("commit", "-qm", "one")
	git("rm", "-q", "src/old.pem")
	git("mv", "before.pem", "after.go")
	write("after.go", plain+"clean\n")
	write("key.pem", "SECRET two\nline\n")
	git("add", ".")
	git("commit", "-qm", "two")
	git("checkout", "-q", "-b", "side", "HEAD~1")
	write("key.pem", "SECRET side\nline\n")
	git("commit", "-qam", "side")
	git("checkout", "-q", "main")
	git("merge", "-q", "side", "-m", "merge", "-s", "ours")
	write("key.pem", "SECRET stash\nline\n")
	git("stash", "-q")
	write("key.pem", "SECRET staged\nline\n")
	git("add", ".")
	write("key.pem", "SECRET now\nline\n")
	write("src/b.go", "package b // SECRETLESS\n")
	if !strings.Contains(git("log", "-p"), "SECRET two") || !strings.Contains(git("stash", "show", "-p"), "SECRET stash") {
		t.Fatal("the repository could not be made")
	}
	return dir, git
}

// Whatever a command of git that is allowed without a question prints, with any one flag of those that are known, the content of files that may not be read is not in it.
func TestGitShowsNoSecret(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: it runs git many hundred times")
	}
	dir, git := gitRepo(t)
	env := testEnv(t, ModeDefault, nil, nil, nil)
	set, _ := Compile([]Rule{{Text: "Read(*.pem)", Effect: Deny, Source: Source{Kind: "rule", Scope: "user"}}}, Options{Start: dir, Home: "/home/u", ProjectRoot: dir, Trusted: true})
	env.Rules, env.FS, env.Workspace = set, nil, Workspace{Cwd: dir, Home: "/home/u", Roots: []string{dir}}
	env.Tracked = func(string) ([]string, bool) { return strings.Fields(git("ls-files")), true }
	blob := strings.TrimSpace(git("rev-parse", "HEAD:key.pem"))
	values := map[string][]string{
		"--submodule": {"diff"}, "--diff-merges": {"m", "on"}, "--format": {"%B", "%(contents)", "%(raw)"}, "--word-diff": {"plain"}, "-U": {"3"}, "--unified": {"3"},
		"-L": {"1,9:after.go"}, "--pretty": {"full"}, "-G": {"SECRET"}, "-S": {"SECRET"}, "-e": {"SECRET"}, "--word-diff-regex": {"."},
	}
	operands := map[string][]string{
		"status": {""}, "diff": {"", "HEAD~1"}, "log": {"-- after.go"}, "show": {"", "-- src"}, "stash show": {""}, "range-diff": {"HEAD~1...side"},
		"grep": {"SECRET HEAD", "-- after.go"}, "cat-file": {blob}, "diff-tree": {"HEAD~1 HEAD"},
	}
	extra := []string{""}
	allowed, tried := 0, 0
	for name, ops := range operands {
		table := gitRead()[name]
		flags := []string{""}
		for f := range table.long {
			for _, v := range values["--"+f] {
				flags = append(flags, "--"+f+"="+v)
			}
			flags = append(flags, "--"+f)
		}
		for f, kind := range table.short {
			if kind != 0 {
				for _, v := range values["-"+string(rune(f))] {
					flags = append(flags, "-"+string(rune(f))+v)
				}
				flags = append(flags, "-"+string(rune(f)))
			}
		}
		slices.Sort(flags)
		for _, flag := range flags {
			for _, more := range extra {
				for _, op := range ops {
					words := slices.Concat([]string{"git"}, strings.Fields(name), strings.Fields(flag), strings.Fields(more), strings.Fields(op))
					line := strings.Join(words, " ")
					tried++
					if Decide(bash(line), env).Verdict != Allow {
						continue
					}
					allowed++
					if out := git(words[1:]...); strings.Contains(out, "SECRET ") {
						t.Errorf("%s is allowed and prints %.300q", line, out)
					}
				}
			}
		}
	}
	t.Logf("%d of %d commands were allowed and run", allowed, tried)
}
