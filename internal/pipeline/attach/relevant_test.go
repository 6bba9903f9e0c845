package attach_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/event"
	"lathe/internal/memory"
	"lathe/internal/pipeline/attach"
)

func TestRelevant(t *testing.T) {
	notes := []memory.Note{
		{Path: "/m/a.md", Name: "a.md", Description: "how we test", Text: "use make test"},
		{Path: "/m/b.md", Name: "b.md", Description: "colours", Text: "blue"},
	}
	for name, c := range map[string]struct {
		prompt, answer string
		err            error
		late           time.Duration
		passes         int
		want           string
		asked          bool
		notices        int
	}{
		"chosen":            {prompt: "please run the tests", answer: "[\"a.md\", \"none.md\", \"a.md\"]", passes: 2, want: "use make test", asked: true},
		"words around it":   {prompt: "please run the tests", answer: "Here: [\"b.md\"].", passes: 1, want: "blue", asked: true},
		"none":              {prompt: "please run the tests", answer: "[]", passes: 2, asked: true},
		"no list":           {prompt: "please run the tests", answer: "I would take a.md", passes: 2, asked: true},
		"a short prompt":    {prompt: "go on", answer: "[\"a.md\"]", passes: 2},
		"it fails":          {prompt: "please run the tests", err: errors.New("no budget"), passes: 2, asked: true, notices: 1},
		"late":              {prompt: "please run the tests", answer: "[\"a.md\"]", late: 5 * time.Second, passes: 1, asked: true},
		"late, second pass": {prompt: "please run the tests", answer: "[\"a.md\"]", late: 5 * time.Second, passes: 2, want: "use make test", asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := false
				r := attach.NewRelevant(func() []memory.Note { return notes }, func(ctx context.Context, q string) (string, error) {
					asked = strings.Contains(q, c.prompt) && strings.Contains(q, "b.md (): colours")
					select {
					case <-time.After(c.late):
						return c.answer, c.err
					case <-ctx.Done():
						return "", ctx.Err()
					}
				})
				defer r.Close()
				w := newWorld()
				w.t.Input = event.Prompt{Text: c.prompt}
				run := attach.New(r.Source())
				for i := range c.passes {
					w.t.Step = i + 1
					start := time.Now()
					if err := run(t.Context(), w.t); err != nil {
						t.Fatal(err)
					}
					if took := time.Since(start); took > 2*time.Second {
						t.Errorf("waited %s", took)
					}
					time.Sleep(10 * time.Second) // virtual: the model call
				}
				synctest.Wait()
				if c.want == "" && len(w.attached()) > 0 || !strings.Contains(w.text(), c.want) {
					t.Errorf("attached %q", w.text())
				}
				notices := 0
				for _, e := range w.events {
					if _, ok := e.(event.Notice); ok {
						notices++
					}
				}
				if asked != c.asked || notices != c.notices {
					t.Errorf("asked %v, %d notices", asked, notices)
				}
			})
		})
	}
}

// A question that runs when the session ends is given up, and is not asked again in another turn.
func TestRelevantEndsWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, ended := 0, false
		r := attach.NewRelevant(func() []memory.Note { return []memory.Note{{Name: "a.md"}} }, func(ctx context.Context, _ string) (string, error) {
			asked++
			<-ctx.Done()
			ended = true
			return "", ctx.Err()
		})
		w := newWorld()
		w.t.Input.Text = "please run the tests"
		run := attach.New(r.Source())
		for range 2 {
			if err := run(t.Context(), w.t); err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
		if diff := cmp.Diff([]any{1, true}, []any{asked, ended}); diff != "" {
			t.Error(diff)
		}
	})
}
