package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"lathe/internal/event"
)

// askTool is the tool by which the model asks the user.
const askTool = "AskUserQuestion"

// questions has the program answer what the model asks. The answers come back as the changed input of the call.
func (s *Session) questions(ctx context.Context, q Question) (a Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			a, err = Answer{}, fmt.Errorf("the function Ask panicked: %v", p)
		}
	}()
	var in struct {
		Questions []UserQuestion `json:"questions"`
	}
	if err := json.Unmarshal(q.Input, &in); err != nil {
		return a, err
	}
	answers, err := s.o.Ask(ctx, in.Questions)
	if err != nil {
		return a, err
	}
	if len(answers) == 0 {
		return Answer{Message: "The user gave no answer."}, nil
	}
	return Answer{Allow: true, Input: event.Encode(map[string]any{"answers": answers})}, nil
}
