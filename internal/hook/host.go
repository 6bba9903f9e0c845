package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lathe/internal/perm"
)

// SetHost takes the hooks that a host registers: for each event a list of {matcher, hookCallbackIds, timeout, onFailure}.
// They run beside those of the settings and replace those that were registered before. What cannot be used is named
// and left out; an error says that nothing could be read, and then the earlier ones stay.
func (b *Bus) SetHost(raw json.RawMessage) (problems []string, err error) {
	s := &Set{groups: map[Event][]group{}}
	if !absent(raw) {
		var events map[string][]hostMatcher
		if err := json.Unmarshal(raw, &events); err != nil {
			return nil, fmt.Errorf("the hooks of the host cannot be read: %w", err)
		}
		for _, name := range slices.Sorted(maps.Keys(events)) {
			info, ok := infoOf(Event(name))
			if !ok {
				s.Warnings = append(s.Warnings, fmt.Sprintf("the host registers hooks for %q, which is no hook event (left out)", name))
				continue
			}
			for _, m := range events[name] {
				s.groups[Event(name)] = append(s.groups[Event(name)], m.group(info))
			}
		}
	}
	b.host.Store(s)
	return s.Warnings, nil
}

// ErrGone is returned by Deps.Call when the host cannot be asked any more. A hook that does not ask to block on
// failure is passed over then.
var ErrGone = errors.New("the host has closed the channel")

// hostMatcher is one entry of an event's list.
type hostMatcher struct {
	Matcher   *string  `json:"matcher"`
	Callbacks []string `json:"hookCallbackIds"`
	Timeout   float64  `json:"timeout"` // seconds
	OnFailure string   `json:"onFailure"`
}

func (m hostMatcher) group(info eventInfo) group {
	g := group{where: "the host"}
	if m.Matcher != nil {
		g.text = *m.Matcher
	}
	if info.match {
		g.matcher = newMatcher(g.text, info.narrow)
	}
	for _, id := range m.Callbacks {
		h := &handler{kind: kindCallback, key: "callback " + id, where: g.where, source: perm.Source{Kind: "hook", Rule: id, Scope: "host"}}
		h.Type, h.callback, h.OnFailure = "callback", id, m.OnFailure
		if m.Timeout > 0 && m.Timeout <= 1e6 {
			h.timeout = time.Duration(m.Timeout * float64(time.Second))
		}
		g.handlers = append(g.handlers, h)
	}
	return g
}

// groups are the handlers of an event, those of the settings first, then those of an agent.
func (b *Bus) groups(e Event, also *Set) []group {
	var own []group
	if b.deps.Set != nil {
		own = b.deps.Set.groups[e]
	}
	if also != nil && len(also.groups[e]) > 0 {
		own = append(own[:len(own):len(own)], also.groups[e]...)
	}
	host := b.host.Load()
	if host == nil || len(host.groups[e]) == 0 {
		return own
	}
	return append(own[:len(own):len(own)], host.groups[e]...)
}

// callback asks the host. An answer of another shape than an object is a failure; an empty one is no opinion.
func (b *Bus) callback(ctx context.Context, p Payload, h *handler, in []byte) raw {
	if b.deps.Call == nil {
		return raw{problem: "this session has no host to call"}
	}
	callID, _ := p.Fields["tool_use_id"].(string)
	value, err := b.deps.Call(ctx, h.callback, callID, in)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return raw{problem: "the host took too long to answer; the question was withdrawn", timedOut: true}
	case errors.Is(err, ErrGone) && h.OnFailure != "block":
		return raw{gone: true}
	case err != nil:
		return raw{problem: err.Error()}
	case absent(value):
		return raw{}
	}
	var o struct {
		Async bool `json:"async"`
	}
	if !looksJSON(value) || json.Unmarshal(value, &o) != nil {
		return raw{problem: "the host's answer is not an object: " + firstLine(string(value))}
	}
	switch {
	case o.Async:
		return raw{detached: true}
	case string(value) == "{}":
		return raw{}
	}
	return raw{stdout: value}
}
