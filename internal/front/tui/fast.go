package tui

import (
	"encoding/json"

	"lathe/internal/event"
)

// fastCommand does /fast at the screen: on and off switch it, nothing opens the list of both with their prices.
func (u *ui) fastCommand(args string) bool {
	switch args {
	case "":
		u.pickFast()
	case "on", "off":
		u.setFast(args == "on")
	default:
		return false
	}
	return true
}

// pickFast chooses whether the model answers in fast mode. What the change costs is told before it is made.
func (u *ui) pickFast() {
	u.query("fast_mode", map[string]any{}, func(r event.Reply) {
		var v struct{ State, Fast, Standard, Model, Refused string }
		switch {
		case r.Err != "" || json.Unmarshal(r.Value, &v) != nil:
			u.hint = "the session does not answer: " + r.Err
			return
		case v.Refused != "":
			u.notice("warning", v.Refused)
			return
		}
		now := v.State != "off"
		note := func(fast bool, price string) string {
			if fast != now {
				return price
			}
			if v.State == "cooldown" {
				return "now · paused: its limit was reached · " + price
			}
			return "now · " + price
		}
		list := []entry{
			{name: "on", note: note(true, v.Fast), value: true},
			{name: "off", note: note(false, v.Standard), value: false},
		}
		p := newPicker("Fast mode · "+shortModel(v.Model)+" · in/out prices", list, func(e entry) {
			on, _ := e.value.(bool)
			if on != now {
				u.setFast(on)
			}
		})
		warnings := map[bool]func(*ui, entry, int, int) []string{}
		for _, on := range []bool{true, false} {
			warnings[on] = u.costOf(map[string]bool{"fast": on})
		}
		p.preview = func(u *ui, e entry, cols, n int) []string {
			on, _ := e.value.(bool)
			if on == now {
				return nil
			}
			return warnings[on](u, e, cols, n)
		}
		if !now { // the first row is what a person who comes here wants; where it is on, they want it off
			p.list.Go(0)
		} else {
			p.list.Go(1)
		}
		u.open(p)
	})
}

func (u *ui) setFast(on bool) {
	u.query("set_fast", map[string]bool{"fast": on}, func(r event.Reply) {
		var v struct{ Text string }
		if r.Err != "" {
			u.notice("error", r.Err)
			return
		}
		if json.Unmarshal(r.Value, &v) == nil {
			u.notice("info", v.Text)
		}
		u.refresh()
	})
}
