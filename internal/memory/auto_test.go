package memory_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe/internal/memory"
	"lathe/internal/testkit"
)

func TestHead(t *testing.T) {
	long := strings.Repeat("- a line\n", 250)
	wide := strings.Repeat("ä", 20<<10)
	for name, c := range map[string]struct {
		text string
		want memory.Index
		ok   bool
		near bool
	}{
		"small":       {"---\nx: y\n---\n# Memory\n<!-- not this -->\n- [A](a.md): x\n", memory.Index{Text: "# Memory\n- [A](a.md): x", Lines: 2, Bytes: 23}, true, false},
		"empty":       {"\n\n<!-- nothing -->\n", memory.Index{}, false, false},
		"many lines":  {long, memory.Index{Text: strings.TrimRight(strings.Repeat("- a line\n", 200), "\n"), Lines: 250, Bytes: 250*9 - 1, Cut: true}, true, false},
		"wide":        {wide, memory.Index{Text: strings.Repeat("ä", 25<<9), Lines: 1, Bytes: 40 << 10, Cut: true}, true, false},
		"nearly full": {strings.Repeat("x\n", 190), memory.Index{Text: strings.TrimRight(strings.Repeat("x\n", 190), "\n"), Lines: 190, Bytes: 379}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := memory.Auto{Dir: testkit.Tree(t, map[string]string{"MEMORY.md": c.text})}
			got, ok := a.Head()
			if diff := cmp.Diff(c.want, got); diff != "" || ok != c.ok || got.Near() != c.near {
				t.Errorf("ok %v, near %v\n%s", ok, got.Near(), diff)
			}
		})
	}
	if _, ok := (memory.Auto{Dir: t.TempDir()}).Head(); ok {
		t.Error("a memory that is not there has a head")
	}
}

func TestNotes(t *testing.T) {
	a := memory.Auto{Dir: testkit.Tree(t, map[string]string{
		"MEMORY.md": "index", "old.md": "---\ndescription: the old one\nmodified: 2020-01-02T03:04:05Z\ntype: user\n---\nold body\n",
		"new.md": "no front matter\nbody", "other.txt": "x",
	})}
	var got []string
	for _, n := range a.Notes() {
		got = append(got, n.Name+": "+n.Description+" ("+n.Type+") "+n.Text)
	}
	want := []string{"new.md: no front matter () no front matter\nbody", "old.md: the old one (user) old body"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStamp(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for name, c := range map[string][2]string{
		"added":        {"---\ntype: user\n---\nbody\n", "---\ntype: user\nmodified: 2026-03-04T05:06:07Z\n---\nbody\n"},
		"replaced":     {"---\nmodified: 1999\ntype: user\nmodified: x\n---\nb", "---\nmodified: 2026-03-04T05:06:07Z\ntype: user\n---\nb"},
		"empty head":   {"---\n---\n", "---\nmodified: 2026-03-04T05:06:07Z\n---\n"},
		"no body":      {"---\na: b\n---", "---\na: b\nmodified: 2026-03-04T05:06:07Z\n---"},
		"Windows":      {"---\r\na: b\r\n---\r\nx", "---\r\na: b\r\nmodified: 2026-03-04T05:06:07Z\r\n---\r\nx"},
		"none":         {"body\n---\n", "body\n---\n"},
		"never closed": {"---\na: b\n", "---\na: b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c[1], string(memory.Stamp([]byte(c[0]), now))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A stamp changes nothing but the field, and a second one of the same time nothing at all.
func TestStampKeepsTheRest(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`(---\r?\n)?([a-z:# ]{0,9}\r?\n){0,4}(---\r?\n)?([a-z-]{0,5}\r?\n?){0,3}`).Draw(t, "text")
		once := memory.Stamp([]byte(text), now)
		if twice := memory.Stamp(once, now); string(twice) != string(once) {
			t.Fatalf("%q became %q", once, twice)
		}
		rest := strings.NewReplacer("modified: 2026-03-04T05:06:07Z\r\n", "", "modified: 2026-03-04T05:06:07Z\n", "").Replace(string(once))
		if rest != text {
			t.Fatalf("%q became %q", text, once)
		}
	})
}
