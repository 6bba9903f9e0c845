package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"lathe/internal/event"
)

// callHook is the kind of call by which the engine asks for a hook.
const callHook = "hook_callback"

// Hook is a function that is called when something happens. docs/hooks.md lists the events, what they bring and what
// an answer does.
type Hook struct {
	Event   string // PreToolUse, PostToolUse, UserPromptSubmit, Stop, …
	Matcher string // of tools: a name, several with |, or a regular expression; empty: all
	Run     func(ctx context.Context, in HookInput) (HookOutput, error)
}

// HookInput is what a hook is told. Raw is all of it, in the documented form.
type HookInput struct {
	Event     string          `json:"hook_event_name"`
	Tool      string          `json:"tool_name"`
	CallID    string          `json:"tool_use_id"`
	ToolInput json.RawMessage `json:"tool_input"`
	Response  json.RawMessage `json:"tool_response"`
	Prompt    string          `json:"prompt"`
	Raw       json.RawMessage `json:"-"`
}

// HookOutput is a hook's answer. The zero value has no opinion.
type HookOutput struct {
	// Decision is allow, deny or ask for PreToolUse, and block for the other events that can be stopped; empty: none.
	Decision string
	Reason   string          // of the decision; the model is told it where something was denied or blocked
	Context  string          // added to the conversation
	Input    json.RawMessage // of PreToolUse: runs in place of the call's own
	Stop     bool            // the turn ends
	// Raw, when set, is the whole answer in the documented form; the other fields do not count then.
	Raw json.RawMessage
}

// registration names the hooks as the control protocol does, by their place in the list.
func registration(hooks []Hook) (json.RawMessage, error) {
	if len(hooks) == 0 {
		return nil, nil
	}
	events := map[string][]map[string]any{}
	for i, h := range hooks {
		if h.Event == "" || h.Run == nil {
			return nil, fmt.Errorf("hook %d needs an event and a function", i)
		}
		m := map[string]any{"hookCallbackIds": []string{strconv.Itoa(i)}}
		if h.Matcher != "" {
			m["matcher"] = h.Matcher
		}
		events[h.Event] = append(events[h.Event], m)
	}
	return json.Marshal(events)
}

// call answers a call of the engine.
func (s *Session) call(ctx context.Context, c event.Call) {
	out := event.Return{ID: c.ID}
	v, err := s.hook(ctx, c)
	if err != nil {
		out.Err = err.Error()
	} else {
		out.Value = v
	}
	_ = s.conn.Send(ctx, out) // a closed session waits for nothing
}

func (s *Session) hook(ctx context.Context, c event.Call) (out json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the hook panicked: %v", p)
		}
	}()
	var in struct {
		ID    string          `json:"callback_id"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(c.Payload, &in); err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(in.ID)
	if c.Kind != callHook || err != nil || n < 0 || n >= len(s.o.Hooks) {
		return nil, fmt.Errorf("there is no answer to %s %s", c.Kind, in.ID)
	}
	told := HookInput{Raw: in.Input}
	if err := json.Unmarshal(in.Input, &told); err != nil {
		return nil, err
	}
	got, err := s.o.Hooks[n].Run(ctx, told)
	if err != nil {
		return nil, err
	}
	return got.encode(told.Event), nil
}

// encode is the documented form of an answer.
func (o HookOutput) encode(name string) json.RawMessage {
	if o.Raw != nil {
		return o.Raw
	}
	specific := map[string]any{"hookEventName": name}
	out := map[string]any{}
	if name == "PreToolUse" {
		if o.Decision != "" {
			specific["permissionDecision"], specific["permissionDecisionReason"] = o.Decision, o.Reason
		}
		if o.Input != nil {
			specific["updatedInput"] = o.Input
		}
	} else if o.Decision != "" {
		out["decision"], out["reason"] = o.Decision, o.Reason
	}
	if o.Context != "" {
		specific["additionalContext"] = o.Context
	}
	if o.Stop {
		out["continue"], out["stopReason"] = false, o.Reason
	}
	if len(specific) > 1 {
		out["hookSpecificOutput"] = specific
	}
	return event.Encode(out)
}
