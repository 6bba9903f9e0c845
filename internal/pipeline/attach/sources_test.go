package attach_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/memory"
	"lathe/internal/msg"
	"lathe/internal/pipeline/attach"
	"lathe/internal/turn"
)

// place is a directory with files, and the files that a turn has touched.
type place struct {
	t       *testing.T
	dir     string
	touched []string
}

func newPlace(t *testing.T, files map[string]string) *place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, dir: dir}
	for name, text := range files {
		p.write(name, text)
	}
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) touch(name string) { p.touched = append(p.touched, filepath.Join(p.dir, name)) }
func (p *place) paths() []string   { return p.touched }
func (p *place) loader() *memory.Loader {
	return memory.NewLoader(memory.Places{Work: p.dir, Project: true})
}

// pass runs the sources for a pass and returns what it attached.
func (w *world) pass(t *testing.T, step int, run func() error) string {
	t.Helper()
	w.t.Step = step
	before := len(w.t.Messages)
	if err := run(); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range w.t.Messages[before:] {
		out = append(out, m.Text())
	}
	return strings.Join(out, "\n")
}

func (w *world) compacted() {
	w.t.Messages = append(w.t.Messages, msg.Message{Kind: msg.KindSystem, Subtype: msg.SubCompactBoundary})
}

// expect checks that a text holds each of the words, and none of those that begin with "no ".
func expect(t *testing.T, what, got string, words ...string) {
	t.Helper()
	for _, word := range words {
		if not, ok := strings.CutPrefix(word, "no "); strings.Contains(got, not) == ok {
			t.Errorf("%s: %q, want %s", what, got, word)
		}
	}
}

func TestInstructionsThroughASession(t *testing.T) {
	p := newPlace(t, map[string]string{
		"CLAUDE.md": "TOP", "sub/CLAUDE.md": "SUB", ".claude/rules/go.md": "---\npaths: sub/*.go\n---\nRULE",
	})
	var mu sync.Mutex // the sources run side by side
	var loaded []string
	tell := func(f memory.File, reason string) {
		rel, _ := filepath.Rel(p.dir, f.Path)
		mu.Lock()
		defer mu.Unlock()
		loaded = append(loaded, filepath.ToSlash(rel)+" "+reason)
	}
	stage := attach.New(
		attach.Memory(p.loader(), p.paths, func(string) {}, tell), attach.Rules(p.loader(), p.paths, func(string) {}, tell))
	w := newWorld()
	run := func() error { return stage(t.Context(), w.t) }
	expect(t, "first pass", w.pass(t, 1, run), "TOP", "no SUB", "no RULE")
	p.touch("sub/a.go")
	expect(t, "touched", w.pass(t, 2, run), "no TOP", "SUB", "RULE")
	p.touch("sub/b.go")
	expect(t, "touched again", w.pass(t, 3, run), "no SUB", "no RULE")
	w.compacted()
	expect(t, "compacted", w.pass(t, 4, run), "TOP", "no SUB", "no RULE")
	p.touch("sub/a.go")
	expect(t, "touched after that", w.pass(t, 5, run), "no TOP", "SUB", "RULE")
	p.touched = nil
	p.write("sub/CLAUDE.md", "SUB-TWO")
	expect(t, "the next turn", w.pass(t, 1, run), "no SUB")
	p.touch("sub/a.go")
	expect(t, "changed", w.pass(t, 2, run), "This file has changed", "SUB-TWO", "no RULE")
	p.write("sub/CLAUDE.md", "SUB")
	p.touch("sub/a.go")
	expect(t, "changed back", w.pass(t, 3, run), "This file has changed", "SUB", "no TWO")
	w.t.Mentions = []turn.Mention{{Path: filepath.Join(p.dir, "sub/a.go")}}
	p.touched = nil
	w.compacted()
	expect(t, "a mention", w.pass(t, 1, run), "TOP", "SUB", "RULE")
	want := []string{".claude/rules/go.md path_glob_match", "CLAUDE.md session_start", "sub/CLAUDE.md nested_traversal"}
	slices.Sort(loaded[:3])
	if diff := cmp.Diff(want, loaded[:3]); diff != "" {
		t.Error(diff)
	}
}

// A rule counts in each turn from the first file on that it is about, however many files the turn before has touched; one
// that a prompt has named counts once.
func TestRulesOfALaterTurn(t *testing.T) {
	p := newPlace(t, map[string]string{".claude/rules/go.md": "---\npaths: \"*.go\"\n---\nRULE", ".claude/rules/py.md": "---\npaths: \"*.py\"\n---\nSNAKE"})
	stage := attach.New(attach.Rules(p.loader(), p.paths, func(string) {}, nil))
	w := newWorld()
	run := func() error { return stage(t.Context(), w.t) }
	expect(t, "nothing is touched", w.pass(t, 1, run), "no RULE", "no SNAKE")
	for _, name := range []string{"a.go", "b.go", "c.go"} {
		p.touch(name)
	}
	expect(t, "touched", w.pass(t, 2, run), "RULE", "no SNAKE")
	p.touched = nil
	expect(t, "the next turn", w.pass(t, 1, run), "no RULE", "no SNAKE")
	p.touch("a.py")
	expect(t, "touched there", w.pass(t, 2, run), "no RULE", "SNAKE")
}

func TestAutoMemory(t *testing.T) {
	p := newPlace(t, nil)
	known := map[string]bool{}
	a := memory.Auto{Dir: p.dir}
	stage := attach.New(attach.AutoMemory(a, p.paths, func(path string) bool { return known[path] }))
	w := newWorld()
	run := func() error { return stage(t.Context(), w.t) }
	expect(t, "nothing there", w.pass(t, 1, run), "has a memory", p.dir, "no The index of your memory")
	p.write("MEMORY.md", "- one")
	expect(t, "written by others", w.pass(t, 1, run), "The index of your memory", "- one", "no has a memory")
	expect(t, "as it was", w.pass(t, 1, run), "no index")
	p.write("MEMORY.md", "- two")
	expect(t, "in the middle of a turn", w.pass(t, 2, run), "no index")
	expect(t, "at the next", w.pass(t, 1, run), "has changed", "- two")
	known[a.Path()] = true
	p.write("MEMORY.md", "- three")
	expect(t, "known by reading", w.pass(t, 1, run), "no index")
	p.write("MEMORY.md", strings.Repeat("- line\n", 190))
	p.touch("MEMORY.md")
	expect(t, "nearly too long", w.pass(t, 2, run), "Shorten it before you add more", "no - line")
	p.write("MEMORY.md", strings.Repeat("- line\n", 201))
	p.touch("MEMORY.md")
	expect(t, "too long", w.pass(t, 3, run), "Error: ", "201 lines", "no - line")
	w.compacted()
	expect(t, "compacted", w.pass(t, 4, run), "has a memory", "- line", "[cut here")
}

func TestSkillListing(t *testing.T) {
	list := ""
	stage := attach.New(attach.Skills(func() string { return list }, "Load them.", nil))
	w := newWorld()
	run := func() error { return stage(t.Context(), w.t) }
	expect(t, "none", w.pass(t, 1, run), "no skill")
	list = "- a"
	expect(t, "some", w.pass(t, 1, run), "There are:\n- a", "Load them.")
	expect(t, "the same", w.pass(t, 1, run), "no skill")
	list = "- b"
	expect(t, "others", w.pass(t, 1, run), "have changed", "- b")
	list = "- a"
	expect(t, "as before", w.pass(t, 1, run), "have changed", "- a")
	list = ""
	expect(t, "gone", w.pass(t, 1, run), "no skills any more"[3:])
	w.compacted()
	list = "- a"
	expect(t, "compacted", w.pass(t, 3, run), "There are:\n- a")
}

func TestPlan(t *testing.T) {
	text, on := "", false
	stage := attach.New(attach.Plan(func() (string, string, bool) { return "/p/plan.md", text, on }))
	w := newWorld()
	run := func() error { return stage(t.Context(), w.t) }
	var got []string
	for _, s := range []string{"", "one", "one", "two", "one"} {
		text, on = s, s != ""
		got = append(got, fmt.Sprint(strings.Contains(w.pass(t, 1, run), "/p/plan.md")))
	}
	if diff := cmp.Diff([]string{"false", "true", "false", "true", "true"}, got); diff != "" {
		t.Error(diff)
	}
}
