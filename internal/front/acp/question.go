package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"lathe/internal/event"
)

// question is one of the questions that the model has for the person.
type question struct {
	Question string `json:"question"`
	Header   string `json:"header"`
	Options  []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	} `json:"options"`
	Multi bool `json:"multiSelect"`
}

// questions puts the model's questions: as a form where the editor has forms, else one after the other, each as a choice
// among its options.
func (s *session) questions(ctx context.Context, a event.Ask) {
	var in struct {
		Questions []question `json:"questions"`
	}
	_ = json.Unmarshal(a.Input, &in) // the tool checked its input
	var full map[string]json.RawMessage
	_ = json.Unmarshal(a.Input, &full)
	if s.client.Elicitation.Form != nil {
		s.form(ctx, a, in.Questions, full)
		return
	}
	answers := map[string]string{}
	for _, q := range in.Questions {
		choices := []choice{}
		var more strings.Builder
		for _, o := range q.Options {
			choices = append(choices, choice{option: option{o.Label, event.InertLine(o.Label), "allow_once"}})
			more.WriteString("- **" + event.Inert(o.Label) + "** " + event.Inert(o.Description) + "\n")
		}
		choices = append(choices, choice{option: option{"", "Skip", "reject_once"}})
		choices[len(choices)-1].ID = skipID
		picked, err := s.choose(ctx, obj{
			"toolCallId": a.CallID, "title": event.InertLine(q.Question), "kind": "think", "status": "pending",
			"content": []toolContent{shown(text(event.Inert(q.Question) + "\n\n" + more.String()))},
		}, choices)()
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			_ = s.conn.Send(s.ctx, event.Answer{ID: a.ID, Message: "the editor could not ask: " + err.Error()})
			return
		case picked == "":
			_ = s.conn.Send(s.ctx, event.Answer{ID: a.ID, Stop: true})
			s.interrupt()
			return
		case picked == skipID:
			_ = s.conn.Send(s.ctx, event.Answer{ID: a.ID, Message: "The user does not want to answer."})
			return
		}
		answers[q.Question] = picked
	}
	full["answers"] = event.Encode(answers)
	_ = s.conn.Send(s.ctx, event.Answer{ID: a.ID, Allow: true, Input: event.Encode(full)})
}

const skipID = "lathe:skip"

// form puts all questions at once.
func (s *session) form(ctx context.Context, a event.Ask, questions []question, full map[string]json.RawMessage) {
	properties := obj{}
	message := "Lathe has a question."
	for i, q := range questions {
		if len(questions) == 1 {
			message = event.Inert(q.Question)
		}
		choices := []obj{}
		about := event.Inert(q.Question)
		for _, o := range q.Options {
			choices = append(choices, obj{"const": o.Label, "title": event.InertLine(o.Label)})
			about += "\n" + event.InertLine(o.Label) + ": " + event.Inert(o.Description)
		}
		p := obj{"type": "string", "title": event.InertLine(q.Header), "description": about, "oneOf": choices}
		if q.Multi {
			p = obj{"type": "array", "title": event.InertLine(q.Header), "description": about, "items": obj{"anyOf": choices}}
		}
		properties[field(i)] = p
	}
	var got struct {
		Action  string                     `json:"action"`
		Content map[string]json.RawMessage `json:"content"`
	}
	err := s.srv.wire.call("elicitation/create", obj{
		"sessionId": s.id, "toolCallId": a.CallID, "mode": "form", "message": message,
		"requestedSchema": obj{"type": "object", "properties": properties},
	})(ctx, &got)
	out := event.Answer{ID: a.ID}
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		out.Message = "the editor could not ask: " + err.Error()
	case got.Action == "accept":
		answers := map[string]json.RawMessage{}
		for i, q := range questions {
			if v := got.Content[field(i)]; len(v) > 0 {
				answers[q.Question] = v
			}
		}
		full["answers"] = event.Encode(answers)
		out.Allow, out.Input = true, event.Encode(full)
	case got.Action == "cancel":
		out.Stop = true
		s.interrupt()
	default:
		out.Message = "The user does not want to answer."
	}
	_ = s.conn.Send(s.ctx, out)
}

func field(i int) string { return fmt.Sprintf("question_%d", i+1) }
