package checkpoint

import (
	"context"
	"path/filepath"
	"testing"
)

// Two commands run beside each other, and the later one ends first. What stood there before both is what it goes back to;
// where the first belongs to an earlier prompt, going back to the later one brings what stood there when that came.
func TestCommandsBesideEachOther(t *testing.T) {
	for _, c := range []struct {
		name  string
		later string // the prompt of the second command
		want  map[string]string
	}{
		{"of one prompt", "p1", map[string]string{"p1": "old"}},
		{"of two prompts", "p2", map[string]string{"p2": "middle"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, work := newStore(t)
			path := filepath.Join(work, "a")
			write(t, path, "old")
			watch := func(prompt string) *Watch {
				t.Helper()
				if err := s.Begin(prompt); err != nil {
					t.Fatal(err)
				}
				return s.Watch(context.Background(), "Bash", []string{work})
			}
			end := func(w *Watch) {
				t.Helper()
				if err := w.End(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
			first := watch("p1")
			write(t, path, "middle")
			second := watch(c.later)
			write(t, path, "the newest")
			end(second)
			end(first)
			for prompt, want := range c.want {
				p, err := s.Apply(context.Background(), prompt, false, nil)
				if err != nil || len(p.Lost)+len(p.Conflicts)+len(p.Failed) > 0 {
					t.Fatalf("%+v, %v", p, err)
				}
				if got := read(t, path); got != want {
					t.Errorf("back to %s: %q, not %q", prompt, got, want)
				}
			}
		})
	}
}
