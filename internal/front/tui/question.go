package tui

import (
	"encoding/json"
	"fmt"
	"strings"

	"lathe/internal/event"
	"lathe/internal/front/tui/editor"
	"lathe/internal/front/tui/screen"
	"lathe/internal/front/tui/term"
	"lathe/internal/front/tui/width"
)

// questions are what the model asks the person, one after the other, with answers to choose from and one in own words.
type questions struct {
	ask    event.Ask
	list   []question
	at     int
	sel    []int
	picked []map[int]bool
	other  []*editor.Editor
	typing bool
	top    int
}

type question struct {
	Question string `json:"question"`
	Header   string `json:"header"`
	Multi    bool   `json:"multiSelect"`
	Options  []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
		Preview     string `json:"preview"`
	} `json:"options"`
}

func (u *ui) questionDialog(e event.Ask) dialog {
	var in struct {
		Questions []question `json:"questions"`
	}
	if json.Unmarshal(e.Input, &in) != nil || len(in.Questions) == 0 {
		return u.permissionDialog(e)
	}
	q := &questions{ask: e, list: in.Questions, sel: make([]int, len(in.Questions)), picked: make([]map[int]bool, len(in.Questions)), other: make([]*editor.Editor, len(in.Questions))}
	for i := range q.picked {
		q.picked[i], q.other[i] = map[int]bool{}, editor.New(editor.Options{})
	}
	return q
}

func (q *questions) asked() (string, bool) { return q.ask.ID, q.ask.AgentID != "" }

func (q *questions) rows(u *ui, cols, most int) ([]string, screen.Cursor) {
	var out []string
	if len(q.list) > 1 {
		out = append(out, q.tabs(u, cols))
	}
	x := q.list[q.at]
	for _, l := range rowsOf(event.Inert(x.Question), cols-2) {
		out = append(out, u.th.Strong.Paint(l))
	}
	out = append(out, "")
	body, cur, sel := q.body(u, cols)
	if room := max(3, most-len(out)-1); len(body) > room {
		q.top = max(0, min(q.top, len(body)-room))
		if sel < q.top {
			q.top = sel
		}
		if sel >= q.top+room {
			q.top = sel - room + 1
		}
		body = body[q.top:min(len(body), q.top+room)]
		cur.Row -= q.top
	}
	cur.Row += len(out)
	out = append(out, body...)
	hint := "↑↓ enter · esc: no answer"
	if x.Multi {
		hint = "↑↓ · space marks · enter goes on · esc: no answer"
	}
	if len(q.list) > 1 {
		hint = "tab: next question · " + hint
	}
	for _, l := range rowsOf(hint, cols-2) {
		out = append(out, u.th.Faint.Paint(l))
	}
	return out, cur
}

// tabs name the questions, and mark those that are answered.
func (q *questions) tabs(u *ui, cols int) string {
	var tabs []string
	for i, x := range q.list {
		style, mark := u.th.Muted, "☐ "
		if q.answered(i) {
			mark = "☒ "
		}
		if i == q.at {
			style = u.th.Accent.With(u.th.Strong)
		}
		tabs = append(tabs, style.Paint(mark+width.Cut(width.Inert(first(x.Header, fmt.Sprint(i+1))), 16, "…")))
	}
	return width.Cut(strings.Join(tabs, "  "), cols-1, "…")
}

// body is the answers to the question, the cursor among them, and the row that must be seen.
func (q *questions) body(u *ui, cols int) (body []string, cur screen.Cursor, sel int) {
	cur = screen.Cursor{Hidden: true}
	x, n := q.list[q.at], len(q.list[q.at].Options)
	for i, o := range x.Options {
		if i == q.sel[q.at] {
			sel = len(body)
		}
		body = append(body, q.optionRows(u, i, width.Inert(o.Label), event.Inert(o.Description), cols)...)
	}
	if q.sel[q.at] == n {
		sel = len(body)
	}
	body = append(body, q.optionRows(u, n, "Other: in your own words", "", cols)...)
	ed := q.other[q.at]
	if !q.typing && ed.Empty() {
		return body, cur, sel
	}
	ed.SetWidth(cols - 8)
	v := ed.View()
	if q.typing {
		cur = screen.Cursor{Row: len(body) + v.Row, Col: 5 + v.Col}
		sel = cur.Row
	}
	for _, r := range v.Rows {
		body = append(body, "     "+r.Text)
	}
	return body, cur, sel
}

func (q *questions) optionRows(u *ui, i int, label, note string, cols int) []string {
	lead, style := "  ", u.th.Text
	if i == q.sel[q.at] {
		lead, style = u.th.Accent.Paint("❯ "), u.th.Accent
	}
	mark := fmt.Sprintf("%d. ", i+1)
	if q.list[q.at].Multi {
		mark = "[ ] "
		if q.picked[q.at][i] {
			mark = "[x] "
		}
	}
	var out []string
	for j, l := range rowsOf(mark+label, cols-5) {
		if j > 0 {
			lead = "     "
		}
		out = append(out, lead+style.Paint(l))
	}
	if note != "" {
		for _, l := range rowsOf(note, cols-7) {
			out = append(out, "     "+u.th.Muted.Paint(l))
		}
	}
	return out
}

func (q *questions) answered(i int) bool { return len(q.picked[i]) > 0 && q.value(i) != "" }

// value is the answer to a question: the labels, or the person's own words.
func (q *questions) value(i int) string {
	var out []string
	for j, o := range q.list[i].Options {
		if q.picked[i][j] {
			out = append(out, o.Label)
		}
	}
	if q.picked[i][len(q.list[i].Options)] {
		if t := strings.TrimSpace(q.other[i].Draft().Prompt()); t != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, ", ")
}

func (q *questions) key(u *ui, k term.Key) {
	name := k.String()
	n := len(q.list[q.at].Options)
	if q.typing {
		switch name {
		case "esc", "up", "down":
			q.typing = false
		case "tab":
		default:
			if q.other[q.at].Key(name, k.Text) == editor.Submit {
				q.typing = false
				q.mark(n)
				q.next(u)
			}
			return
		}
		if name == "esc" {
			return
		}
	}
	switch name {
	case "up", "k", "ctrl+p":
		q.sel[q.at] = (q.sel[q.at] + n) % (n + 1)
	case "down", "j", "ctrl+n":
		q.sel[q.at] = (q.sel[q.at] + 1) % (n + 1)
	case "tab", "right":
		q.at = (q.at + 1) % len(q.list)
	case "shift+tab", "left":
		q.at = (q.at + len(q.list) - 1) % len(q.list)
	case "space":
		if q.list[q.at].Multi {
			q.toggle(q.sel[q.at])
		}
	case "enter":
		q.enter(u, q.sel[q.at])
	case "esc":
		q.cancel(u)
	default:
		if len(name) == 1 && name[0] >= '1' && int(name[0]-'1') <= n {
			q.sel[q.at] = int(name[0] - '1')
			if q.list[q.at].Multi {
				q.toggle(q.sel[q.at])
			} else {
				q.enter(u, q.sel[q.at])
			}
		}
	}
}

func (q *questions) toggle(i int) {
	if q.picked[q.at][i] {
		delete(q.picked[q.at], i)
		return
	}
	q.picked[q.at][i] = true
	if i == len(q.list[q.at].Options) {
		q.typing = true
	}
}

// mark chooses one answer; a question of one choice forgets the others.
func (q *questions) mark(i int) {
	if !q.list[q.at].Multi {
		clear(q.picked[q.at])
	}
	q.picked[q.at][i] = true
}

func (q *questions) enter(u *ui, i int) {
	x := q.list[q.at]
	if i == len(x.Options) && (!x.Multi || !q.picked[q.at][i]) {
		q.typing = true
		return
	}
	if !x.Multi || len(q.picked[q.at]) == 0 {
		q.mark(i)
	}
	q.next(u)
}

// next goes to the next question without an answer, and answers when there is none.
func (q *questions) next(u *ui) {
	for i := range q.list {
		j := (q.at + 1 + i) % len(q.list)
		if !q.answered(j) {
			q.at, q.top = j, 0
			return
		}
	}
	answers := map[string]string{}
	for i, x := range q.list {
		answers[x.Question] = q.value(i)
	}
	u.closeDialog(q)
	u.answer(event.Answer{ID: q.ask.ID, Allow: true, Input: withField(q.ask.Input, "answers", answers)})
}

func (q *questions) paste(_ *ui, text string) {
	if q.typing {
		q.other[q.at].Paste(text)
	}
}

func (q *questions) cancel(u *ui) bool {
	u.closeDialog(q)
	u.answer(event.Answer{ID: q.ask.ID, Stop: true, Message: "the user gave no answer"})
	return true
}
