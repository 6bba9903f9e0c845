package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/event"
	"lathe/internal/session"
)

// testRun is a run in a directory of its own, whose first prompt needs no model.
func testRun(t *testing.T, o Options) *run {
	t.Helper()
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("LATHE_HOME", home+"/state")
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Chdir(t.TempDir())
	o.Print, o.Prompt = true, "/clear"
	r, err := newRun(&o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	return r
}

// Sessions are left one after the other while a host asks for this and that: nothing is mixed, and every question has an
// answer.
func TestClearWhileAsked(t *testing.T) {
	r := testRun(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	conn := r.session.Connect(ctx)
	const rounds = 8
	kinds := []string{"get_context_usage", "sessions", "commands", "file_suggestions", "memory_files", "diff", "get_session_cost", "export"}
	for i := range rounds {
		_ = conn.Send(ctx, event.Prompt{Text: "/clear"})
		for _, k := range kinds {
			_ = conn.Send(ctx, event.Query{ID: fmt.Sprint(k, i), Kind: k, Payload: []byte(`{"query":"a"}`)})
		}
	}
	_ = conn.Send(ctx, event.Close{})
	ids, replies := map[string]bool{}, 0
	for env, err := range conn.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		switch e := env.Event.(type) {
		case event.ConversationReset:
			if env.Session != e.New {
				t.Errorf("the event of the new session %s carries %s", e.New, env.Session)
			}
			ids[e.New] = true
		case event.Reply:
			replies++
			if e.Err != "" {
				t.Errorf("%s: %s", e.ID, e.Err)
			}
		case event.TurnDone:
			if e.Result.IsError {
				t.Errorf("%+v", e.Result)
			}
		}
	}
	conn.Wait()
	if len(ids) != rounds || replies != rounds*len(kinds) {
		t.Errorf("%d sessions, %d replies", len(ids), replies)
	}
}

// A session that cannot be left for another, since a prompt file has gone, stays what it is.
func TestClearWithoutPromptFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prompt.md")
	if err := os.WriteFile(file, []byte("Be brief."), 0o600); err != nil {
		t.Fatal(err)
	}
	r := testRun(t, Options{AppendFile: file})
	id := r.conv.Log.ID()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	for env, err := range r.session.Submit(t.Context(), event.Prompt{Text: "/clear"}) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := env.Event.(event.ConversationReset); ok {
			t.Error("the session was left")
		}
		fmt.Fprintf(&told, "%+v\n", env.Event)
	}
	if now := r.conv.Log.ID(); now != id || !strings.Contains(told.String(), "no such file") {
		t.Errorf("%s became %s: %s", id, now, &told)
	}
}

// A title is one inert line, whoever gives it.
func TestTitleOfAHost(t *testing.T) {
	r := testRun(t, Options{})
	var store session.Memory
	log, err := store.Create("one", "")
	if err != nil {
		t.Fatal(err)
	}
	r.conv.Log.(*session.Switch).To(log)
	if _, err := r.query(t.Context(), "rename_session", []byte(`{"title":"a\u001b[31m\nb"}`)); err != nil {
		t.Fatal(err)
	}
	if st, _, err := store.Open("one"); err != nil || st.Meta.Title != "a [31m b" {
		t.Errorf("%q, %v", st.Meta.Title, err)
	}
}
