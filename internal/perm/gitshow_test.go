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
		{"git log -p -- src", true},
		{"git log -p -- deep", false},
		{"git log -p -- '*.go'", false},
		{"git log -p -- a.go '*.pem'", false},
		{"git log -p -- deep/secret.pem", false},
		{"git log -L1,5:deep/secret.pem", false},
		{"git log -L1,5:a.go", true},
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
		{"git grep word HEAD~9 -- src", true},
		{"git grep -l word HEAD~9", true},
		{"git blame a.go", true},
		{"git status", true},
	} {
		env := testEnv(t, ModeDefault, nil, nil, []string{"Read(*.pem)"})
		env.FS, env.Tracked = files, func(string) ([]string, bool) { return tracked, true }
		d := Decide(bash(c.command), env)
		if (d.Verdict == Allow) != c.allow {
			t.Errorf("%s: %v: %s", c.command, d.Verdict, d.Reason)
		}
		env = testEnv(t, ModeDefault, nil, nil, []string{"Read(~/.ssh/**)", "Read(//etc/**)"})
		env.FS = files
		if d := Decide(bash(c.command), env); d.Verdict != Allow && c.command != "git log -L :main:deep/secret.pem" {
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
