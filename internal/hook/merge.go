package hook

import (
	"encoding/json"
	"strings"

	"lathe/internal/perm"
)

// rank orders what several handlers say of one call: deny, defer, ask, allow.
func rank(d string) int {
	switch d {
	case "deny":
		return 4
	case "defer":
		return 3
	case "ask":
		return 2
	case "allow":
		return 1
	}
	return 0
}

// merge joins the answers, in the order of the configuration.
func (b *Bus) merge(e Event, info eventInfo, replies []reply) Outcome {
	var o Outcome
	best := 0
	for i := range replies {
		r := &replies[i]
		r.run.Stdout, r.run.Stderr = b.capped(r.run.Stdout), b.capped(r.run.Stderr)
		o.Ran = append(o.Ran, r.run)
		b.texts(&o, e, info, r)
		decision, reason := r.decision(e, info)
		if n := rank(decision); n > best {
			best = n
			d := perm.Decision{Reason: b.capped(reason), Source: r.h.source}
			d.Verdict = map[string]perm.Verdict{"deny": perm.Deny, "defer": perm.Ask, "ask": perm.Ask, "allow": perm.Allow}[decision]
			if d.Reason == "" {
				d.Reason = "a " + string(e) + " hook decided so"
			}
			o.Decision, o.Deferred, o.Held = &d, decision == "defer", r.asks
		}
	}
	if o.Decision != nil && o.Decision.Verdict == perm.Deny {
		o.Input = nil
	}
	return o
}

// lastLine is the last line of a text that is not empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// texts takes what is said to the model and the person, and what ends the turn.
func (b *Bus) texts(o *Outcome, e Event, info eventInfo, r *reply) {
	add := func(list *[]string, text string) {
		if text = b.capped(text); text != "" {
			*list = append(*list, text)
		}
	}
	if r.run.Problem != "" && r.run.Outcome == Failed {
		add(&o.Problems, r.run.Name+" hook failed ("+r.h.title()+"): "+r.run.Problem)
	}
	add(&o.Problems, r.toUser)
	if info.plain {
		add(&o.Context, r.plain)
	}
	if r.model != nil && r.model.OK != nil && !*r.model.OK && e == PreToolUse && !r.h.ContinueOnBlock {
		o.Stop, o.Reason = true, b.capped(r.model.Reason)
	}
	out := r.out
	if e == WorktreeCreate && r.run.Outcome == Success {
		o.Path = lastLine(r.run.Stdout)
		if out != nil {
			o.Path = out.Specific.WorktreePath
		}
	}
	if out == nil {
		return
	}
	if e == SessionStart || e == CwdChanged || e == FileChanged {
		o.Watch = append(o.Watch, out.Specific.WatchPaths...)
	}
	add(&o.System, out.SystemMessage)
	add(&o.Context, out.Specific.Context)
	if out.Continue != nil && !*out.Continue {
		o.Stop, o.Reason = true, b.capped(out.StopReason)
	}
	s := out.Specific
	if !absent(s.Input) && (e == PreToolUse || e == PreSkillShellCommand) {
		o.Input = s.Input
	}
	if a := s.RequestAnswer; a != nil && e == PermissionRequest && !r.block {
		if !absent(a.Input) && a.Behavior == "allow" {
			o.Input = a.Input
		}
		o.Abort = o.Abort || a.Behavior == "deny" && a.Interrupt
		if !absent(a.Permissions) && a.Behavior == "allow" {
			o.Updates = a.Permissions
		}
	}
	if e == PostToolUse {
		if !absent(s.ToolOutput) {
			o.Output = s.ToolOutput
		} else if !absent(s.MCPOutput) {
			o.Output = s.MCPOutput
		}
	}
	if s.Display != nil && e == MessageDisplay {
		o.Display = s.Display
	}
	if s.FirstMessage != "" {
		o.First = b.capped(s.FirstMessage)
	}
	if s.Action != "" && (e == Elicitation || e == ElicitationResult) {
		o.Elicited, _ = json.Marshal(map[string]any{"action": s.Action, "content": s.Content})
	}
	if s.SessionTitle != "" {
		o.Title = firstLine(s.SessionTitle)
	}
	o.Hide = o.Hide || out.HidePrompt
}

// decision is one handler's word: deny, defer, ask, allow, or nothing. A block counts as deny.
func (r *reply) decision(e Event, info eventInfo) (decision, reason string) {
	if r.block {
		return "deny", r.reason
	}
	if r.asks {
		return "ask", r.reason
	}
	if v := r.model; v != nil {
		if v.OK != nil && !*v.OK && !(v.Impossible && (e == Stop || e == SubagentStop)) {
			return "deny", v.Reason
		}
		return "", ""
	}
	out := r.out
	if out == nil {
		return "", ""
	}
	s := out.Specific
	if a := s.RequestAnswer; a != nil && e == PermissionRequest {
		return a.Behavior, a.Message
	}
	if s.Permission != "" && (e == PreToolUse || e == PreSkillShellCommand || e == "PreModelSwitch") {
		return s.Permission, s.PermReason
	}
	switch {
	case out.Decision == "block" && (info.exit2 == blocks || info.exit2 == toModel):
		return "deny", out.Reason
	case out.Decision == "approve" && e == PreToolUse:
		return "allow", out.Reason
	}
	return "", ""
}
