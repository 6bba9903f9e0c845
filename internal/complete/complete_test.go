package complete

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func best(paths []string, q string) []string {
	t := newTable(paths)
	var out []string
	for _, h := range t.best(q, 5) {
		out = append(out, t.paths[h.index])
	}
	return out
}

func TestBest(t *testing.T) {
	paths := []string{
		"README.md", "cmd/", "cmd/lathe/main.go", "internal/app/main.go", "internal/app/main_test.go", "internal/domain/x.go",
		"internal/engine/engine.go", "internal/pipeline/attach/mention.go", "docs/Ärger.md", "internal/app/runPrompt.go",
	}
	for q, want := range map[string][]string{
		"main.go":   {"cmd/lathe/main.go", "internal/app/main.go"},
		"main":      {"cmd/lathe/main.go", "internal/app/main.go", "internal/app/main_test.go", "internal/domain/x.go"},
		"app/main":  {"internal/app/main.go", "internal/app/main_test.go"},
		"READ":      {"README.md"},
		"eng":       {"internal/engine/engine.go"},
		"iattment":  {"internal/pipeline/attach/mention.go"},
		"rp":        {"internal/app/runPrompt.go"},
		"ärger":     {"docs/Ärger.md"},
		"zzz":       nil,
		"cmd/":      {"cmd/", "cmd/lathe/main.go"},
		"main.gox!": nil,
	} {
		got := best(paths, q) // what follows the wanted ones fits only with letters between
		if diff := cmp.Diff(want, got[:min(len(got), len(want))]); diff != "" && len(want)+len(got) > 0 {
			t.Errorf("%q: %s", q, diff)
		}
	}
}

// What is suggested has the letters in order, and one that has them together is never missed for room.
func TestBestFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfN(rapid.StringMatching(`[a-cA-C/_.é]{1,12}`), 1, 200).Draw(t, "paths")
		q := rapid.StringMatching(`[a-c/.]{1,4}`).Draw(t, "q")
		for _, p := range best(paths, q) {
			rest := strings.ToLower(p)
			for _, c := range q {
				_, after, ok := strings.Cut(rest, string(c))
				if !ok {
					t.Fatalf("%q suggested for %q", p, q)
				}
				rest = after
			}
		}
	})
}

func FuzzScore(f *testing.F) {
	f.Add("internal/app/main.go", "iam")
	f.Fuzz(func(t *testing.T, path, q string) {
		if path == "" || q == "" {
			return
		}
		newTable([]string{path}).best(q, 3)
	})
}

func TestIndex(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		".git/HEAD": "x", ".gitignore": "built/\n*.log", "built/a.go": "", "src/a.go": "", "src/b.log": "", "secret/a.go": "", ".ignore": "old/", "old/a.go": "",
	} {
		write(name, text)
	}
	var hours atomic.Int64 // the clock
	clock := func() time.Time { return time.Unix(0, 0).Add(time.Duration(hours.Load()) * time.Hour) }
	ask := func(x *Index, q string) []string {
		var out []string
		for _, s := range x.Suggest(t.Context(), q, 10, nil).Suggestions {
			out = append(out, s.Path)
		}
		return out
	}
	x := New(Options{Root: root, Git: true, Now: clock, Hide: func(p string) bool { return strings.HasPrefix(p, "secret/") }})
	defer x.Close()
	if diff := cmp.Diff([]string{"src/a.go"}, ask(x, "a.go")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"src/", ".gitignore", ".ignore"}, ask(x, "")); diff != "" {
		t.Error(diff)
	}
	all := New(Options{Root: root, Now: clock})
	defer all.Close()
	if diff := cmp.Diff([]string{"src/a.go", "built/a.go", "secret/a.go"}, ask(all, "a.go")); diff != "" {
		t.Error(diff)
	}

	// What came later is found once the list is old; the question itself does not wait for that.
	write("src/new.go", "")
	hours.Add(1)
	for len(ask(x, "new.go")) == 0 {
		if t.Context().Err() != nil {
			t.Fatal("never found")
		}
		hours.Add(1)
		x.mu.Lock()
		building := x.building
		x.mu.Unlock()
		if building != nil {
			<-building
		}
	}
}

// A closed index starts nothing any more.
func TestClosedIndex(t *testing.T) {
	x := New(Options{Root: t.TempDir(), Now: time.Now})
	x.Close()
	if a := x.Suggest(context.Background(), "a", 3, nil); !a.Building || len(a.Suggestions) != 0 {
		t.Errorf("%+v", a)
	}
}

func hundredThousand() *table {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"internal", "service", "user", "http", "client", "test", "model", "view", "admin", "payment", "gateway", "config", "util", "Index", "api"}
	paths := make([]string, 100_000)
	for i := range paths {
		var parts []string
		for range 3 + r.IntN(4) {
			parts = append(parts, words[r.IntN(len(words))])
		}
		paths[i] = fmt.Sprintf("%s/%s_%d.go", strings.Join(parts, "/"), words[r.IntN(len(words))], i)
	}
	return newTable(paths)
}

// BenchmarkBest is one key of a person who completes among 100,000 files; the budget is 20 ms.
func BenchmarkBest(b *testing.B) {
	t := hundredThousand()
	for _, q := range []string{"a", "us", "user_9", "srvcusr", "payment/gateway", "zzzz", "intservmod"} {
		b.Run(q, func(b *testing.B) {
			for b.Loop() {
				t.best(q, 20)
			}
		})
	}
}

// What is no file is offered where it fits as well, by its name or by what is said of it, and has room beside many files.
func TestOthers(t *testing.T) {
	root := t.TempDir()
	for i := range 30 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("note-%02d.md", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	x := New(Options{Root: root, Now: time.Now})
	defer x.Close()
	others := []Suggestion{{Path: "wiki:note://plan", Kind: "resource", Note: "Roadmap"}, {Path: "db:table://users", Kind: "resource"}}
	for q, want := range map[string][]string{
		"":         {"wiki:note://plan", "db:table://users", "note-00.md"},
		"wiki:":    {"wiki:note://plan"},
		"roadmap":  {"wiki:note://plan"},
		"note-07":  {"note-07.md"},
		"users":    {"db:table://users"},
		"nosuchxx": {},
	} {
		a := x.Suggest(t.Context(), q, 10, others)
		for a.Building {
			a = x.Suggest(t.Context(), q, 10, others)
		}
		got := map[string]bool{}
		for _, s := range a.Suggestions {
			got[s.Path] = true
		}
		for _, p := range want {
			if !got[p] {
				t.Errorf("%q: %s is missing among %v", q, p, a.Suggestions)
			}
		}
		if len(a.Suggestions) > 10 || q != "" && len(a.Suggestions) != len(want) {
			t.Errorf("%q: %v", q, a.Suggestions)
		}
	}
}

// A folder that cannot be listed has nothing, and is not listed forever.
func TestUnreadableFolder(t *testing.T) {
	x := New(Options{Root: filepath.Join(t.TempDir(), "none"), Now: time.Now})
	defer x.Close()
	for x.Suggest(t.Context(), "a", 3, nil).Building {
		t.Log("still being listed")
	}
}
