package tui

import (
	"encoding/json"
	"os"

	"lathe/internal/event"
)

// planDialog shows a plan and asks whether, and how, to carry it out.
func (u *ui) planDialog(e event.Ask) dialog {
	var in struct {
		Plan string `json:"plan"`
		Path string `json:"planFilePath"`
	}
	_ = json.Unmarshal(e.Input, &in)
	if in.Plan == "" && in.Path != "" {
		b, _ := os.ReadFile(in.Path)
		in.Plan = string(b)
	}
	changed := false
	yes := func(mode string) func(string) {
		return func(comment string) {
			a := event.Answer{ID: e.ID, Allow: true}
			if changed {
				a.Input = withField(e.Input, "plan", in.Plan)
			}
			a.Updates = event.Encode([]map[string]string{{"type": "setMode", "mode": mode, "destination": "session"}})
			u.answer(a)
			u.status.mode = mode
			if comment != "" {
				u.send(event.Prompt{Text: comment, Literal: true})
			}
		}
	}
	c := &choice{
		ask: e.ID, title: "Carry out this plan?", style: u.th.PlanMode,
		body: func(cols int) []string {
			var out []string
			s := u.newStream()
			s.Resize(cols)
			for _, l := range append(s.Write(in.Plan), s.Close()...) {
				out = append(out, l.Rows(cols)...)
			}
			return out
		},
		options: []option{
			{label: "Yes, and accept edits without asking · " + modeKeyName, hotkey: "a", comment: true, do: yes("acceptEdits")},
			{label: "Yes, and ask about each edit", hotkey: "y", comment: true, do: yes("default")},
			{label: "No, keep planning (tab: say what to change)", hotkey: "n", comment: true, do: func(comment string) {
				u.answer(event.Answer{ID: e.ID, Message: first(comment, "the user wants to keep planning"), Stop: comment == ""})
			}},
		},
		hint: "↑↓ enter · pgup pgdn scroll · tab: comment · ctrl+g: edit the plan",
	}
	c.extra = func(_ *ui, name string) bool {
		switch name {
		case modeKeyName:
			c.take(u, 0)
			return true
		case "ctrl+g":
		default:
			return false
		}
		text, err := u.edited(in.Plan, ".md")
		if err != nil {
			u.hint = err.Error()
			return true
		}
		changed = changed || text != in.Plan
		in.Plan = text
		return true
	}
	c.esc = func() { u.answer(event.Answer{ID: e.ID, Stop: true}) }
	return c
}
