package acp

import (
	"context"
	"encoding/json"
	"strings"

	"lathe/internal/event"
)

// choice is an option of a permission question and what it answers.
type choice struct {
	option
	answer event.Answer
}

// ask puts a question of the session to the editor. The request goes out here, in order with the updates; a goroutine
// waits for the answer.
func (s *session) ask(a event.Ask) {
	ctx, answered := s.asks(a.ID)
	if a.Tool == "AskUserQuestion" {
		s.answers.Go(func() {
			defer answered()
			s.questions(ctx, a)
		})
		return
	}
	choices := choicesOf(a)
	wait := s.choose(ctx, s.askedCall(a), choices)
	s.answers.Go(func() {
		defer answered()
		s.answer(ctx, a.ID, choices, wait)
	})
}

// askedCall is the call that a question is about, with the input that would run.
func (s *session) askedCall(a event.Ask) obj {
	c := s.calls[a.CallID]
	if c == nil {
		c = newCall(a.CallID, a.Tool, "", a.Input)
	}
	shown := newCall(a.CallID, a.Tool, c.parent, a.Input)
	u := s.describeCall(shown)
	u["status"] = "pending"
	if kindOf(a.Tool) == "other" && a.Summary != "" {
		u["title"] = event.InertLine(oneLine(a.Summary))
	}
	if reason := strings.TrimSpace(a.Decision.Reason); reason != "" {
		content, _ := u["content"].([]toolContent)
		u["content"] = append(content[:len(content):len(content)], toolContent{"type": "content", "content": text(event.Inert(reason))})
	}
	return u
}

// choose sends a permission question and returns what waits for its outcome.
func (s *session) choose(ctx context.Context, call obj, choices []choice) func() (string, error) {
	options := make([]option, len(choices))
	for i, c := range choices {
		options[i] = c.option
	}
	wait := s.srv.wire.call("session/request_permission", obj{"sessionId": s.id, "toolCall": call, "options": options})
	return func() (string, error) {
		var out outcome
		if err := wait(ctx, &out); err != nil {
			return "", err
		}
		return out.Outcome.OptionID, nil // "" when it was cancelled
	}
}

// answer takes the editor's answer. Whatever is not a plain yes is a no.
func (s *session) answer(ctx context.Context, id string, choices []choice, wait func() (string, error)) {
	picked, err := wait()
	out := event.Answer{ID: id}
	switch {
	case ctx.Err() != nil:
		return // nobody waits for it any more
	case err != nil:
		out.Message = "the editor could not ask: " + err.Error()
	case picked == "": // the person cancelled the turn
		out.Stop = true
		s.interrupt()
	default:
		for _, c := range choices {
			if c.ID == picked {
				out = c.answer
			}
		}
		out.ID = id
	}
	_ = s.conn.Send(s.ctx, out) // a closed session needs no answer
	if len(out.Updates) > 0 {
		s.changed()
	}
}

// choicesOf are the options of a question. What lasts names exactly the rules that it saves.
func choicesOf(a event.Ask) []choice {
	if a.Tool == "ExitPlanMode" {
		return []choice{
			{option{"accept_edits", "Yes, and do not ask for edits", "allow_always"}, event.Answer{Allow: true, Updates: modeUpdate("acceptEdits")}},
			{option{"default", "Yes, and ask for each edit", "allow_once"}, event.Answer{Allow: true, Updates: modeUpdate("default")}},
			{option{"keep", "No, keep planning", "reject_once"}, event.Answer{Message: "The user wants to keep planning."}},
		}
	}
	out := []choice{{option{"allow", "Allow", "allow_once"}, event.Answer{Allow: true}}}
	rules := rulesOf(a)
	if rules != "" {
		out = append(out,
			choice{option{"allow_session", "Allow " + rules + " in this session", "allow_always"}, event.Answer{Allow: true, Save: event.SaveSession}},
			choice{option{"allow_always", "Always allow " + rules + " in this project", "allow_always"}, event.Answer{Allow: true, Save: event.SaveLocal}},
		)
	}
	out = append(out, choice{option{"reject", "Reject", "reject_once"}, event.Answer{}})
	if rules != "" {
		out = append(out, choice{
			option{"reject_session", "Reject " + rules + " in this session", "reject_always"},
			event.Answer{Updates: denyUpdate(a)},
		})
	}
	return out
}

func rulesOf(a event.Ask) string {
	var texts []string
	for _, r := range a.Decision.Suggest {
		texts = append(texts, event.InertLine(r.Text))
	}
	return strings.Join(texts, ", ")
}

// Permission updates in the documented form, which the session applies with an answer.

func modeUpdate(mode string) json.RawMessage {
	return event.Encode([]obj{{"type": "setMode", "mode": mode, "destination": "session"}})
}

func denyUpdate(a event.Ask) json.RawMessage {
	rules := []obj{}
	for _, r := range a.Decision.Suggest {
		name, inner, paren := strings.Cut(r.Text, "(")
		rule := obj{"toolName": name}
		if paren {
			rule["ruleContent"] = strings.TrimSuffix(inner, ")")
		}
		rules = append(rules, rule)
	}
	return event.Encode([]obj{{"type": "addRules", "rules": rules, "behavior": "deny", "destination": "session"}})
}
