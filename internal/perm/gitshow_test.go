package perm

import (
	"io/fs"
	"testing"
	"testing/fstest"
)

// mapFS is a file system without links.
type mapFS struct{ fstest.MapFS }

func (m mapFS) Lstat(path string) (fs.FileInfo, error)     { return m.Stat(path[1:]) }
func (m mapFS) Readlink(string) (string, error)            { return "", fs.ErrInvalid }
func (m mapFS) ReadDir(path string) ([]fs.DirEntry, error) { return m.MapFS.ReadDir(path[1:]) }

// Commands of git that may show files which they do not name are asked about where a rule keeps files of the repository
// from being read, unless their paths say what they show.
func TestGitShowsWhatItDoesNotName(t *testing.T) {
	files := mapFS{fstest.MapFS{}}
	for _, name := range []string{".git/HEAD", ".git/index", "a.go", "src/b.go", "deep/secret.pem", "HEAD~1x"} {
		files.MapFS["home/u/p/"+name] = &fstest.MapFile{Data: []byte("x")}
	}
	tracked := []string{"a.go", "src/b.go"}
	for _, c := range []struct {
		command string
		allow   bool
	}{
		{"git log -p", false},
		{"git log -p -3 main", false},
		{"git log -u", false},
		{"git log --stat", true},
		{"git log --oneline -5", true},
		{"git log -p -- a.go", true},
		{"git log -p a.go", true},
		{"git log -p -- src", false},
		{"git log -p -- deep", false},
		{"git log -p -- '*.go'", false},
		{"git log -p -- a.go '*.pem'", false},
		{"git log -p -- deep/secret.pem", false},
		{"git log -L1,5:deep/secret.pem", false},
		{"git log -L1,5:a.go", false},
		{"git log -L :main:deep/secret.pem", false},
		{"git show", false},
		{"git show HEAD~3", false},
		{"git show --stat HEAD", true},
		{"git show --stat 0123abcd", false},
		{"git show --name-only --format=%s v1", true},
		{"git show HEAD:a.go", true},
		{"git show HEAD:deep/secret.pem", false},
		{"git show HEAD:a.go HEAD", false},
		{"git show HEAD -- a.go", true},
		{"git show 0123abcd a.go", false},
		{"git cat-file -p 0123abcd -- a.go", false},
		{"git show a.go --", false},
		{"git diff", true},
		{"git diff --stat", true},
		{"git diff --cached", false},
		{"git diff --cached --name-only", true},
		{"git diff HEAD~3", false},
		{"git diff HEAD~3 -- a.go", true},
		{"git diff -- . ':!go.sum'", true},
		{"git diff HEAD -- ':!go.sum'", false},
		{"git stash show", true},
		{"git stash show -p", false},
		{"git stash list -p", false},
		{"git reflog -p", false},
		{"git reflog", true},
		{"git cat-file -p HEAD:a.go", true},
		{"git cat-file -p 0123abcd", false},
		{"git cat-file -t 0123abcd", true},
		{"git diff-tree -p HEAD", false},
		{"git diff-tree --name-only HEAD", true},
		{"git grep word -- src", true},
		{"git grep word HEAD~9", false},
		{"git grep word HEAD~9 -- src", false},
		{"git grep -l word HEAD~9", true},
		{"git blame a.go", true},
		{"git grep -- word src", true},
		{"git grep -v -- a.go", false},
		{"git grep --cached word", false},
		{"git grep --cached word HEAD", false},
		{"git status", true},
		{"git status -s", true},
		{"git status -sv", true},
		{"git diff -q", true},
		{"git diff -q HEAD~3", false},
		{"git diff --cached -q", false},
		{"git diff --quiet HEAD~3", true},
		{"git diff --submodule=diff", false},
		{"git diff --submodule=log", true},
		{"git diff -U HEAD~3", false},
		{"git diff 0123abcd -- a.go", false},
		{"git range-diff -s a...b", true},
		{"git show --stat 0123abcd^{}", false},
		{"git show --stat v1-2-g0123abcd", false},
		{"git show -q", true},
		{"git show -m -- src", false},
		{"git log -qp", false},
		{"git log -p --follow -- a.go", false},
		{"git log --follow -- a.go", true},
		{"git log --follow --stat -- a.go", true},
		{"git log -p -- a.go gone", false},
		{"git stash show -w", false},
		{"git stash show --stat -w", true},
		{"git reflog --patch", false},
		{"git whatchanged -p", false},
	} {
		env := testEnv(t, ModeDefault, nil, nil, []string{"Read(*.pem)"})
		env.FS, env.Tracked = files, func(string) ([]string, bool) { return tracked, true }
		d := Decide(bash(c.command), env)
		if (d.Verdict == Allow) != c.allow {
			t.Errorf("%s: %v: %s", c.command, d.Verdict, d.Reason)
		}
		env = testEnv(t, ModeDefault, nil, nil, []string{"Read(~/.ssh/**)", "Read(//etc/**)"})
		env.FS = files
		if d := Decide(bash(c.command), env); d.Verdict != Allow && c.command != "git log -L :main:deep/secret.pem" && c.command != "git diff --submodule=diff" {
			t.Errorf("%s, where the rules are about other places: %v: %s", c.command, d.Verdict, d.Reason)
		}
	}
	// What git tracks decides on differences of the work tree; where that is not known, it is asked about.
	env := testEnv(t, ModeDefault, nil, nil, []string{"Read(*.pem)"})
	env.FS = files
	for name, f := range map[string]func(string) ([]string, bool){
		"not known":         nil,
		"cannot be read":    func(string) ([]string, bool) { return nil, false },
		"a denied file too": func(string) ([]string, bool) { return append(tracked, "deep/secret.pem"), true },
	} {
		env.Tracked = f
		if d := Decide(bash("git diff"), env); d.Verdict != Ask {
			t.Errorf("%s: %v", name, d.Verdict)
		}
	}
}

// Commands that no table knows, abbreviations of flags among them, are asked about wherever rules are; and what the index
// holds says nothing where another part of the command can change it.
func TestGitIsAskedAbout(t *testing.T) {
	files := mapFS{fstest.MapFS{}}
	for _, name := range []string{".git/HEAD", ".git/index", "a.go", "new.pem"} {
		files.MapFS["home/u/p/"+name] = &fstest.MapFile{Data: []byte("x")}
	}
	for command, want := range map[string]Verdict{
		"git diff --pat --stat":                         Ask,
		"git status --verb":                             Ask,
		"git range-diff -q a...b":                       Ask,
		"git log -p a.go :/":                            Ask,
		"git log -p -- a.go":                            Allow,
		"git log -p -- a.go ':(top)'":                   Ask,
		"git for-each-ref '--format=%(raw)'":            Ask,
		"git archive HEAD":                              Ask,
		"git format-patch --stdout HEAD~1":              Ask,
		"git bundle create - HEAD":                      Ask,
		"git add -N . && git diff":                      Ask,
		"git diff; git add -N .":                        Ask,
		"git add -N . && git status -v":                 Ask,
		"git add -N . && git diff --stat":               Allow,
		"git diff":                                      Allow,
		"git status && git diff | head -3":              Allow,
		"cd . && git diff && git status -v":             Allow,
		"timeout 5 git add -N . ; git diff":             Ask,
		"for i in 1 2; do git add -N .; git diff; done": Ask,
	} {
		env := testEnv(t, ModeDefault, []string{"Bash(git add:*)"}, nil, []string{"Read(*.pem)"})
		env.FS, env.Tracked = files, func(string) ([]string, bool) { return []string{"a.go"}, true }
		if d := Decide(bash(command), env); d.Verdict != want {
			t.Errorf("%s: %v: %s", command, d.Verdict, d.Reason)
		}
	}
}
