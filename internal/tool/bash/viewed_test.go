//go:build unix

package bash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/tool"

	"github.com/google/go-cmp/cmp"
)

func TestShowsFile(t *testing.T) {
	all := func(p string) *view { return &view{path: p} }
	some := func(p string) *view { return &view{path: p, partial: true} }
	tests := map[string]*view{
		"cat f":                   all("f"),
		"cat -n 'a b'":            all("a b"),
		"nl f":                    all("f"),
		`cat "/x/y z"`:            all("/x/y z"),
		"bat --plain f":           all("f"),
		"head f":                  some("f"),
		"head -5 f":               some("f"),
		"head -n 5 f":             some("f"),
		"tail -n +3 f":            some("f"),
		"sed -n '3,7p' f":         {path: "f", partial: true, offset: 3, limit: 5},
		"sed -n 3p f":             {path: "f", partial: true, offset: 3, limit: 1},
		"sed -n '3,$p' f":         some("f"),
		"grep -n x f":             some("f"),
		"rg 'a.b' f":              some("f"),
		"grep -A 3 x f":           some("f"),
		"grep -e x -n f":          some("f"),
		"grep x f g":              nil,
		"head f g":                nil,
		"grep -A 3 x":             nil,
		"bat --line-range 1:2 f":  nil,
		"cat f g":                 nil,
		"cat":                     nil,
		"cat -":                   nil,
		"cat f | head":            nil,
		"cat f > g":               nil,
		"cat < f":                 nil,
		"cat f &":                 nil,
		"! cat f":                 nil,
		"A=1 cat f":               nil,
		"cat f; rm f":             nil,
		"cat $f":                  nil,
		"cat *.go":                nil,
		"cat $(ls)":               nil,
		"cat ~/f":                 nil,
		"head -n 5":               nil,
		"sed -n '3,7p;s/a/b/w' f": nil,
		"sed -i 's/a/b/' f":       nil,
		"grep x":                  nil,
		"cat 'f":                  nil,
		"":                        nil,
	}
	for command, want := range tests {
		got, ok := showsFile(command)
		if want == nil {
			if ok {
				t.Errorf("%s: shows %+v", command, got)
			}
			continue
		}
		if diff := cmp.Diff(*want, got, cmp.AllowUnexported(view{})); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
	}
}

func TestViewingCountsAsRead(t *testing.T) {
	r := newRig(t)
	content := "one\ntwo\nthree\n"
	path := r.write("d/f.txt", content)
	if err := os.Symlink("f.txt", filepath.Join(r.dir, "d", "link")); err != nil {
		t.Fatal(err)
	}
	fi, _ := os.Stat(path)
	state := tool.ReadState{Hash: tool.Hash([]byte(content)), Size: 14, ModTime: fi.ModTime(), Content: []byte(content)}
	part := state
	part.Partial, part.Offset, part.Limit = true, 2, 1

	r.bash("cd d")
	steps := []struct {
		command string
		want    tool.ReadState
		seen    bool
	}{
		{"cat f.txt | cat", tool.ReadState{}, false},
		{"cat f.txt nothing", tool.ReadState{}, false},
		{"sed -n 2p f.txt", part, true},
		{"cat link", state, true},
		{"head -1 f.txt", state, true}, // what is known does not get less
	}
	for _, s := range steps {
		g := r.bash(s.command)
		got, ok := r.deps.Cache.Get(path)
		if diff := cmp.Diff(s.want, got); diff != "" || ok != s.seen {
			t.Errorf("%s: seen %t, %s", s.command, ok, diff)
		}
		if s.seen != (len(g.res.Touched) == 1) {
			t.Errorf("%s: touched %v", s.command, g.res.Touched)
		}
	}

	long := r.write("d/long", strings.Repeat("a line of some length\n", 5000))
	if r.bash("cat long"); len(r.deps.Cache.All()) != 1 {
		t.Errorf("a file that was cut counts as seen: %s", long)
	}
}

func TestExitOne(t *testing.T) {
	tests := map[string]string{
		"grep a b":                "no matches",
		"cd x && rg a":            "no matches",
		"cat f | grep a":          "no matches",
		"git diff --quiet":        "there are differences",
		"git grep x":              "no matches",
		"find / -name x":          "some directories could not be read",
		"diff a b":                "there are differences",
		"test -f x":               "the condition is false",
		"[ a = b ]":               "the condition is false",
		"git commit":              "",
		"grep a b; make":          "",
		"! grep a b":              "",
		"if grep a; then b; fi":   "",
		"$(echo grep) a":          "",
		"grep 'a":                 "",
		"":                        "",
		"echo grep":               "",
		"make test || [ -f x ] &": "",
	}
	for command, want := range tests {
		if got := exitOne(command); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func FuzzCommandSyntax(f *testing.F) {
	f.Add("cat f")
	f.Add("sed -n '1,2p' \"f")
	f.Fuzz(func(t *testing.T, command string) {
		exitOne(command)
		if v, ok := showsFile(command); ok && v.path == "" {
			t.Errorf("%q shows a file without a name", command)
		}
	})
}
