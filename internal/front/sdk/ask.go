package sdk

import (
	"encoding/json"

	"lathe/internal/event"
	"lathe/internal/perm"
)

// ask sends a permission question to the host. When the host has gone, nobody can answer.
func (s *server) ask(env event.Envelope, a event.Ask) {
	s.mu.Lock()
	gone := s.closed
	if !gone {
		s.asks[a.ID] = a
	}
	s.mu.Unlock()
	if gone {
		s.answer(event.Answer{ID: a.ID, Message: "the host has closed the channel, so nobody can be asked"})
		return
	}
	s.state(env, "requires_action")
	s.line(request(a.ID, question(a)))
}

// question is the payload of can_use_tool.
func question(a event.Ask) map[string]any {
	q := map[string]any{
		"subtype": "can_use_tool", "tool_name": a.Tool, "display_name": a.Tool, "input": a.Input, "tool_use_id": a.CallID, "title": a.Summary,
		"permission_suggestions": []any{}, "decision_reason": a.Decision.Reason, "decision_reason_type": reasonType(a.Decision),
	}
	if len(a.Updates) > 0 {
		q["permission_suggestions"] = a.Updates
	}
	if len(a.Decision.Suggest) == 0 {
		q["suppress_always_allow_rule"] = true
	}
	if a.Blocked != "" {
		q["blocked_path"] = a.Blocked
	}
	if a.AgentID != "" {
		q["agent_id"] = a.AgentID
	}
	var in struct {
		Description string `json:"description"`
	}
	if json.Unmarshal(a.Input, &in) == nil && in.Description != "" {
		q["description"] = in.Description
	}
	if a.Server != nil {
		q["mcp_server"] = map[string]any{"name": a.Server.Name, "source": a.Server.Source}
	}
	if rule := askRule(a.Decision); rule != nil {
		q["matched_ask_rule"] = rule
	}
	switch a.Decision.Source.Kind {
	case "critical":
		q["default_to_no"] = true
	case "interaction":
		q["requires_user_interaction"] = true
	}
	return q
}

// askRule is the rule of the user that wants the call asked, of it or of a part; nil: there is none.
func askRule(d perm.Decision) map[string]any {
	if src := d.Source; src.Kind == "rule" {
		if name, content, bare, err := perm.ParseRule(src.Rule); err == nil {
			rule := map[string]any{"source": src.Scope, "tool_name": name}
			if !bare {
				rule["rule_content"] = content
			}
			return rule
		}
	}
	for _, p := range d.Parts {
		if p.Verdict == perm.Ask {
			if rule := askRule(perm.Decision{Source: p.Source}); rule != nil {
				return rule
			}
		}
	}
	return nil
}

// reasonType says in the protocol's words why somebody is asked.
func reasonType(d perm.Decision) string {
	switch d.Source.Kind {
	case "rule", "mode", "hook", "classifier":
		return d.Source.Kind
	case "path", "workspace":
		return "workingDir"
	case "sandbox":
		return "sandboxOverride"
	case "protected", "critical", "unparsed", "unsure":
		return "safetyCheck"
	}
	if len(d.Parts) > 1 {
		return "subcommandResults"
	}
	return "other"
}
