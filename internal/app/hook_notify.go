package app

import (
	"fmt"
	"sync"
	"time"

	"lathe/internal/hook"
	"lathe/internal/tool/bash"
)

// idleAfter is how long a session waits for the person before hooks are told of it.
const idleAfter = time.Minute

// notify tells hooks of what a person may want to be called for. It is not waited for.
func (h *hooks) notify(kind, title, message string) {
	if h != nil {
		h.observe(hook.Payload{Event: hook.Notification, Match: kind, Fields: map[string]any{
			"message": message, "title": title, "notification_type": kind,
		}})
	}
}

// signedIn tells hooks that the person has signed in to an MCP server.
func (h *hooks) signedIn(server string) {
	h.notify("auth_success", "Signed in", "You are signed in to the MCP server "+server)
}

// agentEnded tells hooks of a sub-agent in the background that has ended by itself.
func (h *hooks) agentEnded(t bash.Task) {
	if t.State != bash.Stopped {
		h.notify("agent_completed", "Sub-agent "+stateWord(t.State), fmt.Sprintf("The sub-agent %q %s", t.Description, stateWord(t.State)))
	}
}

// idleWatch waits between turns, where somebody is there to be called and a hook wants to know.
type idleWatch struct {
	mu    sync.Mutex
	timer *time.Timer
	turn  int // since when it waits; a timer of an earlier one does nothing
	over  bool
}

// rest begins to wait for the person, after a turn.
func (h *hooks) rest(after time.Duration) {
	if h == nil || h.top != nil || !h.r.canAsk() || !h.bus.Has(hook.Notification, "idle_prompt") {
		return
	}
	i := &h.idle
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.over {
		return
	}
	i.turn++
	turn := i.turn
	i.timer = time.AfterFunc(after, func() {
		if h.r.session.Waiting() || h.r.work.Busy() {
			return // it goes on without the person
		}
		i.mu.Lock()
		defer i.mu.Unlock()
		if !i.over && i.turn == turn {
			h.notify("idle_prompt", "Waiting for you", "Lathe is waiting for your input")
		}
	})
}

// wakeUp ends the waiting: a turn begins, or, with over, the session ends.
func (h *hooks) wakeUp(over bool) {
	if h == nil {
		return
	}
	i := &h.idle
	i.mu.Lock()
	defer i.mu.Unlock()
	i.turn++
	i.over = i.over || over
	if i.timer != nil {
		i.timer.Stop()
		i.timer = nil
	}
}
