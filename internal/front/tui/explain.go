package tui

import (
	"encoding/json"

	"lathe/internal/event"
	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

// explained is the answer to the query "explain_call".
type explained struct {
	Risk    string `json:"risk"`
	Effects []struct {
		Part string `json:"part"`
		Does string `json:"does"`
		Risk string `json:"risk"`
	} `json:"effects"`
}

// explainer shows, and hides again, what the call would do that a dialog asks about.
func (u *ui) explainer(e event.Ask, c *choice) {
	var got *explained
	var failed string
	asked, shown := false, false
	body, extra := c.body, c.extra
	c.body = func(cols int) []string {
		if !shown {
			return body(cols)
		}
		return append(u.explanation(got, failed, cols), body(cols)...)
	}
	c.extra = func(u *ui, name string) bool {
		if name != "ctrl+e" {
			if extra == nil || !extra(u, name) {
				return false
			}
			shown = false // what that key acts on must be seen
			return true
		}
		shown, c.top = !shown, 0
		if !asked {
			asked = true
			u.query("explain_call", map[string]any{"tool": e.Tool, "input": e.Input}, func(r event.Reply) {
				var v explained
				if failed = r.Err; failed == "" && json.Unmarshal(r.Value, &v) == nil {
					got = &v
				}
			})
		}
		return true
	}
	c.hint += " · ctrl+e: what it would do"
}

func (u *ui) explanation(v *explained, failed string, cols int) []string {
	switch {
	case failed != "":
		return append(rowsOf("It cannot be explained: "+width.Inert(failed), cols), "")
	case v == nil:
		return []string{u.th.Faint.Paint("…"), ""}
	}
	style := func(risk string) theme.Style {
		return map[string]theme.Style{"medium": u.th.Warning, "high": u.th.Error}[risk]
	}
	out := []string{style(v.Risk).With(u.th.Strong).Paint("What it would do: " + width.Inert(v.Risk) + " risk")}
	last := ""
	for _, f := range v.Effects {
		if f.Part != "" && f.Part != last {
			out = append(out, width.Line{Text: "  " + exact(f.Part), Hang: "    "}.Rows(cols)...)
		}
		last = f.Part
		lead := style(f.Risk).Paint(width.Inert(f.Risk))
		out = append(out, width.Line{Text: "    " + lead + " — " + width.Inert(f.Does), Hang: "      "}.Rows(cols)...)
	}
	return append(out, "")
}
