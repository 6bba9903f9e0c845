package turn

import (
	"encoding/json"

	"lathe/internal/msg"
	"lathe/internal/perm"
)

// Hooked is what the user's hooks made of a moment of the turn. Its zero value is no opinion. Stages know of hooks
// only this: what was decided, what to append, and whether the turn ends.
type Hooked struct {
	Decision *perm.Decision  // nil: none; Deny also stands for a block
	Deferred bool            // a hook wants the call to be decided later: the turn ends before it
	Input    json.RawMessage // replaces a call's input; nil: as it was
	Output   json.RawMessage // replaces a call's output; nil: as it was
	Updates  json.RawMessage // permission updates that come with an allowed question
	Messages []msg.Message   // to append: what ran, and context for the model
	Stop     *Stop           // the turn ends here
}

// Blocked reports whether what was about to happen must not.
func (h Hooked) Blocked() bool { return h.Decision != nil && h.Decision.Verdict == perm.Deny }

// StoppedByHook is the end of a turn that a hook asked for: not a fault, whatever the turn has done by then counts.
func StoppedByHook(reason string) *Stop {
	return &Stop{Subtype: "success", Terminal: "hook_stopped", Text: reason, Fine: true}
}
