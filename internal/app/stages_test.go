package app

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lathe/internal/demo"
	"lathe/internal/event"
	"lathe/internal/pipeline"
	"lathe/internal/turn"
)

// The demo's session runs through the real stages; each changes only the fields of the turn that its row in the
// table names, and the conversation only grows.
func TestStagesKeepToTheirFields(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("SKIPPED: the demo needs go")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "words")
	if err := demo.Copy(context.Background(), dir); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	var out bytes.Buffer
	r, err := newRun(demoOptions(base), Streams{Out: &out, Err: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	ran := map[string]bool{}
	r.session.Check(func(s turn.Stage, before, after *turn.Turn) {
		ran[s.Name] = true
		checkWrites(t, s, before, after)
	})
	if code := r.headless(event.Prompt{Text: demo.Prompt}); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, out.String())
	}
	for _, c := range pipeline.Order {
		if !ran[c.First] || !ran[c.Then] {
			t.Errorf("stage %s or %s did not run", c.First, c.Then)
		}
	}
	for _, want := range []string{"[5] model", "1 line added, 1 line removed", "Fixed. `Top`"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the demo does not show %q", want)
		}
	}
}

func checkWrites(t *testing.T, s turn.Stage, before, after *turn.Turn) {
	b, a := reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem()
	for i := range b.NumField() {
		f := b.Type().Field(i)
		if !f.IsExported() || slices.Contains(s.Writes, f.Name) {
			continue
		}
		if !reflect.DeepEqual(b.Field(i).Interface(), a.Field(i).Interface()) {
			t.Errorf("stage %s changed %s, which its row does not name", s.Name, f.Name)
		}
	}
	if len(after.Messages) < len(before.Messages) {
		t.Errorf("stage %s took messages away", s.Name)
	}
	for i, m := range before.Messages {
		if after.Messages[i].ID != m.ID {
			t.Errorf("stage %s changed message %d", s.Name, i)
		}
	}
}
