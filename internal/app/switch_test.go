package app

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"lathe/internal/event"
)

// Sessions are left one after the other while a host asks for this and that: nothing is mixed, and every question has an
// answer.
func TestClearWhileAsked(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("LATHE_HOME", home+"/state")
	t.Setenv("CLAUDE_CONFIG_DIR", "")
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Chdir(t.TempDir())
	o, _, err := parseFlags([]string{"-p", "/clear"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	r, err := newRun(o, Streams{Out: &out, Err: &out})
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
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
