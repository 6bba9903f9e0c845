package history

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"lathe/internal/front/tui/editor"
)

func text(s string) editor.Draft { return editor.Draft{Text: s} }

func texts(entries []Entry) string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Draft.Text)
	}
	return strings.Join(out, "|")
}

func add(t *testing.T, s *Store, prompts ...string) {
	t.Helper()
	for _, p := range prompts {
		if err := s.Add(text(p), "s"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAddAndLoad(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir, "/a/project", func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") })
	if got := s.Load(); got != nil {
		t.Errorf("a history that is not there: %v", got)
	}
	add(t, s, "one", "two", "two", "  ", "three hunter2", "one")
	if got := texts(s.Load()); got != "one|two|three [redacted]|one" {
		t.Error(got)
	}
	info, err := os.Stat(s.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	other := Open(dir, "/b/project", nil)
	add(t, other, "elsewhere")
	if got := texts(s.LoadAll()); got != "one|two|three [redacted]|one|elsewhere" {
		t.Error(got)
	}
}

// A line that was cut by a crash, or is damaged, costs itself and nothing else.
func TestTornLine(t *testing.T) {
	s := Open(t.TempDir(), "/p", nil)
	add(t, s, "one", "two")
	content, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(content) {
		if err := os.WriteFile(s.Path(), content[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		whole := strings.Count(string(content[:cut]), "\n")
		add(t, s, "three")
		got := s.Load()
		if len(got) < whole+1 || got[len(got)-1].Draft.Text != "three" {
			t.Fatalf("cut at %d: %s", cut, texts(got))
		}
	}
}

// Two stores append at once; every entry is there and whole.
func TestConcurrentWriters(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			s := Open(dir, "/p", nil)
			for i := range 25 {
				if err := s.Add(text(fmt.Sprintf("%d-%d %s", w, i, strings.Repeat("x", 5000))), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := Open(dir, "/p", nil).Load(); len(got) != 200 {
		t.Errorf("%d entries", len(got))
	}
}

func TestLongPastes(t *testing.T) {
	s := Open(t.TempDir(), "/p", nil)
	long := strings.Repeat("line\n", 10_000)
	d := editor.Draft{Text: "[Pasted text #1 +10000 lines]", Parts: []editor.Part{{ID: 1, Kind: editor.Pasted, Label: "[Pasted text #1 +10000 lines]", Content: long}}}
	if err := s.Add(d, ""); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(s.Path()); err != nil || info.Size() > 1000 {
		t.Errorf("the history has %d bytes: %v", info.Size(), err)
	}
	if got := s.Fill(s.Load()[0].Draft).Prompt(); got != long {
		t.Errorf("%d bytes came back", len(got))
	}
	if err := os.RemoveAll(filepath.Join(s.dir, "paste")); err != nil {
		t.Fatal(err)
	}
	if got := s.Fill(s.Load()[0].Draft).Prompt(); !strings.Contains(got, "no longer stored") {
		t.Error(got)
	}
}

func TestDraft(t *testing.T) {
	s := Open(t.TempDir(), "/p", nil)
	if err := s.SaveDraft(text("half a prompt")); err != nil {
		t.Fatal(err)
	}
	if d, ok := s.Recover(); ok {
		t.Errorf("took the draft of a running process: %v", d)
	}
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	pid := dead.Process.Pid
	if err := os.Rename(s.draftPath(os.Getpid()), s.draftPath(pid)); err != nil {
		t.Fatal(err)
	}
	if d, ok := s.Recover(); !ok || d.Text != "half a prompt" {
		t.Errorf("%v %v", d, ok)
	}
	if d, ok := s.Recover(); ok {
		t.Errorf("a draft came twice: %v", d)
	}
	if err := s.SaveDraft(text("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveDraft(text(" ")); err != nil {
		t.Fatal(err)
	}
	if err := s.DropDraft(); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(s.drafts, "*")); len(files) != 0 {
		t.Errorf("left behind: %v, %s", files, strconv.Itoa(pid))
	}
}
