package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

func TestSend(t *testing.T) {
	var got Message
	x := NewSend(func(_ context.Context, m Message) (Sent, error) {
		if got = m; m.To == "gone" {
			return Sent{}, errors.New("there is none")
		}
		return Sent{Success: true, Message: "told " + m.To, AgentID: m.To}, nil
	})
	for _, c := range []struct {
		input string
		want  Message
		err   string // of the plan or the run
	}{
		{input: `{"to":"a1","message":"go on"}`, want: Message{CallID: "c1", To: "a1", Text: "go on"}},
		{input: `{"to":" @helper ","text":"go on","summary":" a\n b "}`, want: Message{CallID: "c1", To: "helper", Text: "go on", Summary: "a b"}},
		{input: `{"agent_id":"a1","prompt":"x"}`, want: Message{CallID: "c1", To: "a1", Text: "x"}},
		{input: `{"to":"gone","message":"x"}`, want: Message{CallID: "c1", To: "gone", Text: "x"}, err: "there is none"},
		{input: `{"to":" ","message":"x"}`, err: "to is empty"},
		{input: `{"to":"*","message":"x"}`, err: "one sub-agent"},
		{input: `{"to":"a1","message":" \n"}`, err: "message is empty"},
		{input: `{"to":"a1"}`, err: "message is missing"},
	} {
		got = Message{}
		in, err := tool.Canonical(x, json.RawMessage(c.input))
		if err == nil {
			var p tool.Plan
			if p, err = x.Plan(t.Context(), tool.Call{ID: "c1", Input: in}); err == nil {
				if p.Parallel || !p.ReadOnly {
					t.Errorf("%s: %+v", c.input, p)
				}
				var res tool.Result
				if res, err = p.Run(t.Context(), nil); err == nil && msg.JoinText(res.Blocks) != "told "+c.want.To {
					t.Errorf("%s: %+v", c.input, res)
				}
			}
		}
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %+v, %v", c.input, got, err)
		}
	}
}
