package agent

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

// SendName is the name of the tool that sends messages to sub-agents.
const SendName = "SendMessage"

//go:embed send.md
var aboutSend string

// Message is what a sub-agent is told.
type Message struct {
	CallID  string
	To      string // id or name
	Text    string
	Summary string // in a few words, for people
}

// Sent is the structured result of a message.
type Sent struct {
	Success bool   `json:"success"`
	Message string `json:"message"`
	AgentID string `json:"agentId,omitempty"`
	Resumed bool   `json:"resumed,omitempty"` // it had ended, and goes on in the background
}

// Send is the tool SendMessage.
type Send struct {
	send func(ctx context.Context, m Message) (Sent, error)
}

// NewSend returns the tool. send delivers a message; an error becomes a failed result.
func NewSend(send func(ctx context.Context, m Message) (Sent, error)) *Send { return &Send{send} }

// Def tells the model about the tool.
func (*Send) Def() msg.ToolDef {
	return msg.ToolDef{Name: SendName, Description: strings.TrimSpace(aboutSend), InputSchema: json.RawMessage(
		`{"type":"object","properties":{"to":{"type":"string","description":"id or name"},"message":{"type":"string"},` +
			`"summary":{"type":"string","description":"5-10 words"}},"required":["to","message"]}`)}
}

// Aliases are other names of the parameters.
func (*Send) Aliases() map[string]string {
	return map[string]string{
		"agent_id": "to", "agentId": "to", "recipient": "to", "name": "to", "text": "message", "content": "message", "prompt": "message",
	}
}

// Plan says ReadOnly: what the sub-agent does is judged when it does it.
func (s *Send) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in struct {
		To      string `json:"to"`
		Text    string `json:"message"`
		Summary string `json:"summary"`
	}
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("input of %s: %w", SendName, err)
	}
	m := Message{CallID: call.ID, To: strings.TrimPrefix(strings.TrimSpace(in.To), "@"), Text: in.Text, Summary: strings.Join(strings.Fields(in.Summary), " ")}
	switch {
	case m.To == "":
		return tool.Plan{}, fmt.Errorf("to is empty; give the id or the name of a sub-agent")
	case m.To == "*":
		return tool.Plan{}, fmt.Errorf("a message goes to one sub-agent; send one to each that it is for")
	case strings.TrimSpace(m.Text) == "":
		return tool.Plan{}, fmt.Errorf("message is empty; say what the sub-agent is to know or to do")
	}
	summary := m.Summary
	if summary == "" {
		summary = strings.Join(strings.Fields(m.Text), " ")
	}
	return tool.Plan{
		Summary: fmt.Sprintf("to %s: %s", m.To, cut(summary, 100)), ReadOnly: true,
		Run: func(ctx context.Context, _ tool.Progress) (tool.Result, error) {
			sent, err := s.send(ctx, m)
			if err != nil {
				return tool.Result{}, err
			}
			res := tool.TextResult(sent.Message)
			res.Output = sent
			return res, nil
		},
	}, nil
}
