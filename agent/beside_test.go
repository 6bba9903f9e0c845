package agent_test

import (
	"sync"
	"testing"

	"lathe/agent"
	"lathe/internal/fakeapi"
)

// What is asked of a session may come while it becomes another one; the race detector sees what is shared.
func TestQueriesBesideClear(t *testing.T) {
	b := newBench(t, fakeapi.Text("one"), fakeapi.Text("two"), fakeapi.Text("three"))
	s := b.open(agent.Options{Env: map[string]string{"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "1"}})
	var asking sync.WaitGroup
	over := make(chan struct{})
	for _, kind := range []string{
		"get_context_usage", "change_cost", "checkpoints", "reload_plugins", "list_models", "get_session_cost", "get_settings", "list_permission_rules",
	} {
		asking.Go(func() {
			for {
				if _, err := s.Query(t.Context(), kind, nil); err != nil {
					t.Errorf("%s: %v", kind, err)
					return
				}
				select {
				case <-over:
					return
				default:
				}
			}
		})
	}
	for range 3 {
		before := s.ID()
		if r, err := s.Run(t.Context(), "hello"); err != nil || r.IsError {
			t.Errorf("%+v, %v", r, err)
		}
		if _, err := s.Run(t.Context(), "/clear"); err != nil || s.ID() == before || len(s.Messages()) != 0 {
			t.Errorf("the session is the same: %v", err)
		}
	}
	close(over)
	asking.Wait()
}
