package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lathe/internal/demo"
	"lathe/internal/event"
	"lathe/internal/front/headless"
	"lathe/internal/pipeline"
	"lathe/internal/place"
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
	r, err := newRun(demoOptions(base))
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	ran := map[string]bool{}
	r.session.Check(func(s turn.Stage, before, after *turn.Turn) {
		ran[s.Name] = true
		checkWrites(t, s, before, after)
	})
	if result := headlessly(t, r, &out); result.IsError {
		t.Fatalf("%+v\n%s", result, out.String())
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

// headlessly runs the demo's prompt as the command line does.
func headlessly(t *testing.T, r *run, out io.Writer) event.Result {
	t.Helper()
	s := &Session{run: r}
	conn := s.Start(t.Context())
	opts := headless.Options{Format: "text", Verbose: true, Stages: true, NewID: r.place.Sys.NewID}
	result, err := headless.Run(t.Context(), conn, event.Prompt{Text: demo.Prompt}, out, out, opts)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Send(t.Context(), event.Close{})
	s.Disconnect()
	for _, l := range s.Summary() {
		fmt.Fprintln(out, l)
	}
	return result
}

// demoOptions are those of the demo, below a folder of the test's.
func demoOptions(base string) *Options {
	return &Options{
		Print: true, Stages: true, Mode: "acceptEdits", Allowed: []string{"Bash(go test *)"},
		Options: place.Options{Sources: []string{"project"}, StateDir: filepath.Join(base, "state")}, Recording: demo.Recording,
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
