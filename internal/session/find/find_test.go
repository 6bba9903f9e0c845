package find_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/msg"
	"lathe/internal/session"
	"lathe/internal/session/find"
	"lathe/internal/session/jsonl"
)

// begin keeps a session with a title and some prompts, changed at a time.
func begin(t *testing.T, s jsonl.Store, dir, title string, at time.Time, prompts ...string) string {
	t.Helper()
	log, err := s.Create(jsonl.Start{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	parent := ""
	for i, p := range prompts {
		m := msg.Message{ID: title + string(rune('a'+i)), Parent: parent, Kind: msg.KindUser, Time: at, Blocks: []msg.Block{msg.Text(p)}}
		if err := log.Append(m); err != nil {
			t.Fatal(err)
		}
		parent = m.ID
	}
	if err := log.Keep("title", title); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(log.Path(), at, at); err != nil {
		t.Fatal(err)
	}
	return log.ID()
}

func TestFind(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	here, there := filepath.Join(base, "here"), filepath.Join(base, "there")
	store := jsonl.Store{StateDir: filepath.Join(base, "state")}
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	old := begin(t, store, here, "parser", now.Add(-50*time.Hour), "mend the parser", "and its tests")
	young := begin(t, store, here, "docs", now.Add(-3*time.Minute), "write the docs of the parser")
	other := begin(t, store, there, "other", now.Add(-time.Hour), "elsewhere")

	for name, c := range map[string]struct {
		q    find.Query
		want string
	}{
		"the newest first": {find.Query{}, young + " " + old},
		"a limit":          {find.Query{Limit: 1}, young},
		"of all folders":   {find.Query{All: true}, young + " " + other + " " + old},
		"by what was said": {find.Query{Text: "its TESTS"}, old},
		"by its title":     {find.Query{Text: "docs"}, young},
		"said nowhere":     {find.Query{Text: "nobody said it"}, ""},
	} {
		list, err := find.List(t.Context(), store, here, c.q)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, s := range list {
			ids = append(ids, s.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}

	list, err := find.List(t.Context(), store, here, find.Query{})
	if err != nil {
		t.Fatal(err)
	}
	list[0].Current = true
	rows := strings.Split(find.Rows(list, find.Query{}, now), "\n")
	if len(rows) != 2 || !strings.HasPrefix(rows[0], "* "+young) || !strings.Contains(rows[0], "3m ago") || !strings.Contains(rows[1], "2d ago") || !strings.HasSuffix(rows[1], "parser") {
		t.Errorf("%q", rows)
	}

	found, err := find.List(t.Context(), store, here, find.Query{Text: "its tests"})
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	if rows := find.Rows(found, find.Query{Text: "its tests", All: true}, now); !strings.Contains(rows, "\n    "+here+"\n") || !strings.HasSuffix(rows, "\n    … and its tests") {
		t.Errorf("where it stands, and what was said: %q", rows)
	}

	for ref, want := range map[string]string{"": young, "parser": old, old: old} {
		if m, err := find.Named(store, here, ref); err != nil || m.ID != want {
			t.Errorf("%q is %s, %v", ref, m.ID, err)
		}
	}
	if _, err := find.Named(store, filepath.Join(base, "empty"), ""); err == nil || !strings.Contains(err.Error(), "there is no session in") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := find.Named(store, here, "unknown"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("an unknown name: %v", err)
	}
	p, err := find.Peek(store, here, "parser")
	if err != nil || p.Messages != 2 || len(p.Last) != 2 || p.Last[1] != (find.Line{Role: "user", Text: "and its tests"}) {
		t.Errorf("%+v, %v", p, err)
	}
}
