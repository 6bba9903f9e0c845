package account

import (
	"context"
	"fmt"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/turn"
)

// stopCap is how often in a row the user's hooks may make a turn go on, unless the configuration says otherwise.
const stopCap = 8

// hooks asks whether the turn may end, and tells of one that failed. It reports whether the turn goes on.
func (l *Ledger) hooks(ctx context.Context, t *turn.Turn) (goOn bool, err error) {
	if t.Stop != nil {
		if l.deps.Failed != nil && t.Stop.Terminal == "api_error" {
			err = t.Append(l.deps.Failed(ctx, t).Messages...)
		}
		return false, err
	}
	if l.deps.Stop == nil || t.Reply == nil {
		return false, nil
	}
	l.mu.Lock()
	held := l.held[t.ID]
	l.mu.Unlock()
	h := l.deps.Stop(ctx, t, held > 0)
	if err := t.Append(h.Messages...); err != nil {
		return false, err
	}
	if h.Stop != nil {
		h.Stop.Terminal = "stop_hook_prevented"
		t.Stop = h.Stop
		return false, nil
	}
	if !h.Blocked() {
		return false, nil
	}
	most := l.cfg.StopCap
	if most <= 0 {
		most = stopCap
	}
	if held >= most {
		return false, t.Emit(event.Notice{Level: "warning", Text: fmt.Sprintf("a Stop hook has made the turn go on %d times; it ends now", held)})
	}
	l.mu.Lock()
	l.held[t.ID] = held + 1
	l.mu.Unlock()
	t.Note("a stop hook makes the turn go on: %s", h.Decision.Reason)
	t.Done = false
	return true, t.Append(msg.Message{
		Kind: msg.KindUser, Meta: true,
		Blocks: []msg.Block{msg.Text("Stop hook feedback:\n" + h.Decision.Reason)},
	})
}
