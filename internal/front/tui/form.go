package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/event"
	"lathe/internal/front/tui/editor"
	"lathe/internal/front/tui/screen"
	"lathe/internal/front/tui/term"
	"lathe/internal/front/tui/width"
)

// form is the dialog of a server's question: its fields below each other, then sending and declining.
type form struct {
	id, server, message string
	fields              []formField
	values              []formValue
	at                  int // field; len(fields): send; one more: decline
	top                 int
}

// formValue is what stands in a field so far.
type formValue struct {
	ed    *editor.Editor // of a text or number
	sel   int            // of a list: where the mark is
	picks []int          // of a list, or of no (0) and yes (1)
	wrong string
}

func newForm(_ *ui, id string, in elicitation) *form {
	f := &form{id: id, server: width.Inert(in.Server), message: event.Inert(in.Message), fields: formFields(in.Schema)}
	for i := range f.fields {
		f.values = append(f.values, f.fields[i].begin())
	}
	return f
}

// begin is a field with what the server presets.
func (f *formField) begin() formValue {
	v := formValue{ed: editor.New(editor.Options{})}
	var list []string
	switch {
	case f.kind == "boolean":
		var yes bool
		if json.Unmarshal(f.preset, &yes) == nil {
			v.picks = []int{0}
			if yes {
				v.picks = []int{1}
			}
		}
		return v
	case f.kind == "array":
		_ = json.Unmarshal(f.preset, &list) // without one nothing is marked
	default:
		var s string
		if json.Unmarshal(f.preset, &s) != nil && len(f.preset) > 0 && string(f.preset) != "null" {
			s = string(f.preset)
		}
		if !f.choices() {
			v.ed.SetText(s)
			return v
		}
		list = []string{s}
	}
	for i, x := range f.values {
		if slices.Contains(list, x) {
			v.picks, v.sel = append(v.picks, i), i
		}
	}
	return v
}

func (f *form) rows(u *ui, cols, most int) ([]string, screen.Cursor) {
	cur := screen.Cursor{Hidden: true}
	var head, body []string
	for _, l := range rowsOf("The MCP server "+f.server+" asks", cols-2) {
		head = append(head, u.th.Permission.With(u.th.Strong).Paint(l))
	}
	body = append(body, rowsOf(f.message, cols-2)...)
	body = append(body, "")
	from, to := 0, 0 // rows of the body that must be seen
	for i := range f.fields {
		rows, row, col := f.fieldRows(u, i, cols)
		if i == f.at {
			from, to = len(body), len(body)+len(rows)
			if row >= 0 {
				cur = screen.Cursor{Row: from + row, Col: col}
			}
		}
		body = append(body, rows...)
	}
	if len(f.fields) > 0 {
		body = append(body, "")
	}
	for i, label := range []string{"Send", "No, decline"} {
		lead, style := "  ", u.th.Text
		if f.at == len(f.fields)+i {
			lead, style = u.th.Accent.Paint("❯ "), u.th.Accent
			from, to = len(body), len(body)+1
		}
		body = append(body, lead+style.Paint(label))
	}
	hint := rowsOf("↑↓ tab: field · space: choose · enter: next, send · esc: cancel", cols-2)
	room := max(3, most-len(head)-len(hint))
	if len(body) > room {
		f.top = max(0, min(f.top, from, len(body)-room))
		if to > f.top+room {
			f.top = to - room
		}
		body = body[f.top : f.top+room]
		cur.Row -= f.top
	}
	cur.Row += len(head)
	out := append(head, body...)
	for _, l := range hint {
		out = append(out, u.th.Faint.Paint(l))
	}
	return out, cur
}

// fieldRows draws a field; row and col tell where the cursor stands, row -1 nowhere.
func (f *form) fieldRows(u *ui, i, cols int) (out []string, row, col int) {
	x, v := &f.fields[i], &f.values[i]
	row = -1
	lead, style := "  ", u.th.Strong
	if i == f.at {
		lead, style = u.th.Accent.Paint("❯ "), u.th.Accent.With(u.th.Strong)
	}
	for j, l := range rowsOf(x.label, cols-4) {
		if j > 0 {
			lead = "  "
		}
		out = append(out, lead+style.Paint(l))
	}
	note := x.note
	if w := x.wants(); w != "" {
		note = strings.TrimSpace(note + "\n(" + w + ")")
	}
	if note != "" {
		for _, l := range rowsOf(note, cols-6) {
			out = append(out, "    "+u.th.Muted.Paint(l))
		}
	}
	switch {
	case x.kind == "boolean":
		out = append(out, "    "+f.marks(u, i, []string{"no", "yes"})[0]+"   "+f.marks(u, i, []string{"no", "yes"})[1])
	case x.choices():
		for _, l := range f.marks(u, i, x.labels) {
			out = append(out, "    "+width.Cut(l, cols-5, "…"))
		}
	default:
		v.ed.SetWidth(cols - 8)
		view := v.ed.View()
		if i == f.at {
			row, col = len(out)+view.Row, 6+view.Col
		}
		for j, r := range view.Rows {
			mark := "  "
			if j == 0 {
				mark = u.th.Prompt.Paint("› ")
			}
			out = append(out, "    "+mark+r.Text)
		}
	}
	if v.wrong != "" {
		for _, l := range rowsOf("✗ "+v.wrong, cols-6) {
			out = append(out, "    "+u.th.Error.Paint(l))
		}
	}
	return out, row, col
}

// marks are the choices of a field with what is chosen marked.
func (f *form) marks(u *ui, i int, labels []string) []string {
	x, v := &f.fields[i], &f.values[i]
	var out []string
	for j, l := range labels {
		mark := "( ) "
		if x.kind == "array" {
			mark = "[ ] "
		}
		if slices.Contains(v.picks, j) {
			mark = mark[:1] + "x" + mark[2:]
		}
		text := mark + width.Inert(l)
		if i == f.at && j == v.sel {
			text = u.th.Accent.Paint(text)
		}
		out = append(out, text)
	}
	return out
}

func (f *form) key(u *ui, k term.Key) {
	name := k.String()
	last := len(f.fields) + 1
	switch name {
	case "esc":
		f.cancel(u)
		return
	case "tab":
		f.at = (f.at + 1) % (last + 1)
		return
	case "shift+tab":
		f.at = (f.at + last) % (last + 1)
		return
	}
	if f.at >= len(f.fields) {
		switch name {
		case "enter", "space":
			if f.at == last {
				u.elicitAnswer(f.id, "decline", nil)
				return
			}
			f.send(u)
		case "up", "left":
			f.at = max(0, f.at-1)
		case "down", "right":
			f.at = min(last, f.at+1)
		}
		return
	}
	x, v := &f.fields[f.at], &f.values[f.at]
	v.wrong = ""
	if x.kind == "boolean" || x.choices() {
		f.listKey(name, x, v)
		return
	}
	switch name {
	case "up", "down":
		at := v.ed.View().Row
		if name == "up" && at == 0 || name == "down" && at == len(v.ed.View().Rows)-1 {
			f.step(name)
			return
		}
	}
	if v.ed.Key(name, k.Text) == editor.Submit {
		f.next()
	}
}

func (f *form) step(name string) {
	if name == "up" {
		f.at = max(0, f.at-1)
		return
	}
	f.at++
}

// next leaves a field, if what stands in it will do.
func (f *form) next() {
	if f.check(f.at) {
		f.at++
	}
}

// listKey is a key in a field of choices.
func (f *form) listKey(name string, x *formField, v *formValue) {
	n := len(x.values)
	if x.kind == "boolean" {
		n = 2
		switch name {
		case "left", "right", "y", "n":
			v.sel = map[string]int{"left": 0, "n": 0, "right": 1, "y": 1}[name]
			v.picks = []int{v.sel}
			return
		case "space":
			v.sel = 0
			if len(v.picks) == 0 || v.picks[0] == 0 {
				v.sel = 1
			}
			v.picks = []int{v.sel}
			return
		case "up", "down":
			f.step(name)
			return
		}
	}
	switch name {
	case "up", "k", "down", "j":
		to, way := v.sel+1, "down"
		if name == "up" || name == "k" {
			to, way = v.sel-1, "up"
		}
		if to < 0 || to >= n {
			f.step(way)
			return
		}
		v.sel = to
	case "space":
		v.toggle(x.kind == "array")
	case "enter":
		if x.kind != "array" && x.kind != "boolean" && len(v.picks) == 0 {
			v.toggle(false)
		}
		f.next()
	}
}

// toggle marks the choice at the mark, or takes it away; of a list of one the others go.
func (v *formValue) toggle(several bool) {
	if i := slices.Index(v.picks, v.sel); i >= 0 {
		v.picks = slices.Delete(v.picks, i, i+1)
		return
	}
	if !several {
		v.picks = nil
	}
	v.picks = append(v.picks, v.sel)
	slices.Sort(v.picks)
}

// value is what a field holds.
func (f *form) value(i int) (out any, given bool, wrong string) {
	x, v := &f.fields[i], &f.values[i]
	switch {
	case x.kind != "boolean" && !x.choices():
		return x.text(v.ed.Draft().Prompt())
	case len(v.picks) == 0 && x.required && (x.kind != "array" || x.minLen > 0):
		return nil, false, "one must be chosen"
	case len(v.picks) == 0 && !x.required:
		return nil, false, ""
	case x.kind == "boolean":
		return v.picks[0] == 1, true, ""
	case x.kind != "array":
		return x.values[v.picks[0]], true, ""
	case len(v.picks) < x.minLen:
		return nil, true, fmt.Sprintf("at least %d must be chosen", x.minLen)
	case x.maxLen >= 0 && len(v.picks) > x.maxLen:
		return nil, true, fmt.Sprintf("at most %d may be chosen", x.maxLen)
	}
	list := []string{}
	for _, p := range v.picks {
		list = append(list, x.values[p])
	}
	return list, true, ""
}

func (f *form) check(i int) bool {
	_, _, f.values[i].wrong = f.value(i)
	return f.values[i].wrong == ""
}

// send answers when every field is right, and else goes to the first that is not.
func (f *form) send(u *ui) {
	content := map[string]any{}
	for i := len(f.fields) - 1; i >= 0; i-- {
		v, given, _ := f.value(i)
		if !f.check(i) {
			f.at = i
		} else if given {
			content[f.fields[i].name] = v
		}
	}
	if f.at < len(f.fields) {
		return
	}
	u.elicitAnswer(f.id, "accept", content)
}

func (f *form) paste(_ *ui, text string) {
	if f.at < len(f.fields) && f.fields[f.at].kind != "boolean" && !f.fields[f.at].choices() {
		f.values[f.at].ed.Paste(text)
	}
}

func (f *form) cancel(u *ui) bool {
	u.elicitAnswer(f.id, "cancel", nil)
	return true
}
