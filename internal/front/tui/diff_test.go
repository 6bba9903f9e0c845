package tui

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lathe/internal/event"
	"lathe/internal/front/tui/diffview"
	"lathe/internal/front/tui/theme"
)

// The question about an edit shows whole lines at their place in the file, and what is left after hunks were refused
// turns the file into just that.
func TestEditQuestionShowsTheFile(t *testing.T) {
	numbers := func(from, to int) string {
		var b strings.Builder
		for n := from; n <= to; n++ {
			b.WriteString(strings.Repeat("x", n) + "\n")
		}
		return b.String()
	}
	file := filepath.Join(t.TempDir(), "a.go")
	body := "func main() {\n\tprintln(\"hello\")\n" + numbers(1, 20) + "}\n"
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(before, after string, all bool) *editAsk {
		return newEditAsk(event.Ask{Tool: "Edit", Input: event.Encode(map[string]any{
			"file_path": file, "old_string": before, "new_string": after, "replace_all": all,
		})})
	}
	rows := func(d *editAsk) string { return strings.Join(d.rows(&ui{th: theme.Theme{}}, 80), "\n") }

	d := ask("hello", "hello, world", false)
	for _, want := range []string{"2   -     println(\"hello\")", "  2 +     println(\"hello, world\")", "func main()"} {
		if got := rows(d); !strings.Contains(got, want) || strings.Contains(got, "no line end") {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if d.sure || d.input() != nil {
		t.Error("one hunk can be refused by itself")
	}

	span := body[strings.Index(body, "hello"):strings.Index(body, "}\n")]
	d = ask(span, strings.Replace(strings.Replace(span, "hello", "bye", 1), numbers(20, 20), "last\n", 1), false)
	if !d.sure || len(d.accept) != 2 {
		t.Fatalf("%d hunks", len(d.accept))
	}
	for refused, want := range []string{strings.Replace(body, numbers(20, 20), "last\n", 1), strings.Replace(body, "hello", "bye", 1)} {
		d.accept = []bool{true, true}
		d.accept[refused] = false
		var in struct {
			Old string `json:"old_string"`
			New string `json:"new_string"`
		}
		if err := json.Unmarshal(d.input(), &in); err != nil || in.Old != span {
			t.Fatalf("%v %q", err, in.Old)
		}
		if got := strings.Replace(body, in.Old, in.New, 1); got != want {
			t.Errorf("without hunk %d the file becomes\n%s", refused, got)
		}
	}

	many := "x := old\n" + numbers(3, 20) + "y := old\n" + numbers(3, 20) + "x := old\nend\n"
	if err := os.WriteFile(file, []byte(many), 0o600); err != nil {
		t.Fatal(err)
	}
	for refused := range 3 {
		d = ask("old", "new", true)
		if !d.sure || len(d.accept) != 3 {
			t.Fatalf("%d hunks of an edit in all places", len(d.accept))
		}
		d.accept[refused] = false
		var in struct {
			Old string `json:"old_string"`
			New string `json:"new_string"`
			All bool   `json:"replace_all"`
		}
		if err := json.Unmarshal(d.input(), &in); err != nil || in.All || strings.Count(many, in.Old) != 1 {
			t.Fatalf("%v %+v", err, in)
		}
		got := strings.Split(strings.Replace(many, in.Old, in.New, 1), "old")
		if len(got) != 2 || strings.Count(got[0], "new") != refused || strings.Count(got[1], "new") != 2-refused {
			t.Errorf("without place %d the file becomes\n%s", refused, strings.Join(got, "old"))
		}
	}
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}

	if got := rows(ask("xxx", "y", true)); strings.Contains(got, "no line end") || !strings.Contains(got, "+") {
		t.Errorf("all places:\n%s", got)
	}
	if got := rows(ask("not there", "y", false)); !strings.Contains(got, "not there") {
		t.Errorf("no place:\n%s", got)
	}
}

// Whatever a file is made of, an edit that names lines names them in one place, and makes of the file what was agreed to.
func TestNamedEditProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string, least int) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c"}), least, 8).Draw(t, name), "")
		}
		was, now := text("was", 1), text("now", 0)
		d := &editAsk{ask: event.Ask{Input: json.RawMessage(`{"file_path":"x"}`)}, diff: diffview.Of(was, now)}
		var in struct {
			Old string `json:"old_string"`
			New string `json:"new_string"`
		}
		if err := json.Unmarshal(d.named(now), &in); err != nil {
			t.Fatal(err)
		}
		if was == now { // nothing to do
			return
		}
		if strings.Count(was, in.Old) != 1 || strings.Replace(was, in.Old, in.New, 1) != now {
			t.Fatalf("%q in place of %q in %q makes %q, want %q", in.New, in.Old, was, strings.Replace(was, in.Old, in.New, 1), now)
		}
	})
}
