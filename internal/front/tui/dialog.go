package tui

import (
	"fmt"
	"strings"

	"lathe/internal/event"
	"lathe/internal/front/tui/editor"
	"lathe/internal/front/tui/screen"
	"lathe/internal/front/tui/term"
	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

// dialog stands in the place of the input box until it is answered.
type dialog interface {
	rows(u *ui, cols, max int) ([]string, screen.Cursor)
	key(u *ui, k term.Key)
	paste(u *ui, text string)
	cancel(u *ui) bool // Ctrl+C; false: not the dialog's
}

func (u *ui) dialog() dialog {
	if len(u.dialogs) == 0 {
		return nil
	}
	return u.dialogs[0]
}

// open shows a dialog; it waits behind those that are open.
func (u *ui) open(d dialog) { u.dialogs = append(u.dialogs, d) }

func (u *ui) closeDialog(d dialog) {
	for i, other := range u.dialogs {
		if other == d {
			u.dialogs = append(u.dialogs[:i:i], u.dialogs[i+1:]...)
			return
		}
	}
}

// option is one answer of a choice.
type option struct {
	label   string
	hotkey  string // beside its number
	comment bool   // Tab opens a field for a comment
	do      func(comment string)
}

// minBody is the number of rows of what is asked about that are kept while the answers can be shortened.
const minBody = 6

// choice is a dialog with a text and answers below it, taken by arrows and Enter, by number, or by letter.
type choice struct {
	ask     string // id of the question that it answers
	agent   bool   // a sub-agent asks it
	title   string
	style   theme.Style
	body    func(cols int) []string
	options []option
	sel     int
	top     int // first row of the body that is shown
	height  int // rows of the body that were shown last
	field   *editor.Editor
	typing  bool
	esc     func()
	extra   func(u *ui, name string) bool // further keys
	hint    string
	stays   bool   // an answer does not close it
	cut     []bool // options that are not shown whole; a key chooses such a one and does not take it yet
}

func (c *choice) rows(u *ui, cols, max int) ([]string, screen.Cursor) {
	inner := cols - 2
	head := rowsOf(c.title, inner)
	for i := range head {
		head[i] = c.style.With(u.th.Strong).Paint(head[i])
	}
	body := c.body(inner)
	foot, cur, selRow := c.answers(u, cols, false)
	room := max - len(head) - len(foot) - 1
	if room < min(minBody, len(body)) { // what is asked about must be seen before it is answered
		foot, cur, selRow = c.answers(u, cols, true)
		room = max - len(head) - len(foot) - 1
	}
	if room < 3 { // a low terminal: the answers must be seen
		over := len(foot) - (max - len(head) - 4)
		if over > 0 && over <= selRow {
			foot = foot[over:]
			cur.Row -= over
		}
		room = max - len(head) - len(foot) - 1
	}
	out := append(head, c.window(u, body, room)...)
	out = append(out, "")
	cur.Row += len(out)
	out = append(out, foot...)
	return out, cur
}

// answers are the options and the hint below them; short keeps those that are not chosen to one row.
func (c *choice) answers(u *ui, cols int, short bool) (foot []string, cur screen.Cursor, selRow int) {
	cur = screen.Cursor{Hidden: true}
	c.cut = make([]bool, len(c.options))
	for i, o := range c.options {
		lead, style := "  ", theme.Style("")
		if i == c.sel {
			lead, style = u.th.Accent.Paint("❯ "), u.th.Accent
			selRow = len(foot)
		}
		rows := rowsOf(fmt.Sprintf("%d. %s", i+1, o.label), cols-6)
		if short && i != c.sel && len(rows) > 1 {
			c.cut[i], rows = true, []string{width.Cut(fmt.Sprintf("%d. %s", i+1, o.label), cols-6, "…")}
		}
		for j, l := range rows {
			if j > 0 {
				lead = "     "
			}
			foot = append(foot, lead+style.Paint(l))
		}
		if i == c.sel && (c.typing || o.comment && c.field != nil && !c.field.Empty()) {
			c.field.SetWidth(cols - 8)
			v := c.field.View()
			if c.typing {
				cur = screen.Cursor{Row: len(foot) + v.Row, Col: v.Col + 7}
			}
			for j, r := range v.Rows {
				lead := "       "
				if j == 0 {
					lead = "     " + u.th.Prompt.Paint("❯ ")
				}
				foot = append(foot, lead+r.Text)
			}
		}
	}
	hint := c.hint
	if c.typing {
		hint = "enter: answer with this comment · esc: without"
	}
	if u.hint != "" {
		hint = event.Inert(u.hint)
	}
	for _, l := range rowsOf(hint, cols-2) {
		foot = append(foot, u.th.Faint.Paint(l))
	}
	return foot, cur, selRow
}

// window is the part of the body that finds room, with a word about the rest.
func (c *choice) window(u *ui, body []string, room int) []string {
	c.height = room - 1
	if len(body) <= room {
		c.top = 0
		return body
	}
	if room < 2 {
		return body[:max(0, room)]
	}
	c.top = max(0, min(c.top, len(body)-c.height))
	out := append([]string(nil), body[c.top:c.top+c.height]...)
	left := len(body) - c.top - c.height
	note := fmt.Sprintf("… rows %d–%d of %d · pgup pgdn", c.top+1, c.top+c.height, len(body))
	if left > 0 {
		note = fmt.Sprintf("… %s below · pgdn", count(left, "row"))
	}
	return append(out, u.th.Warning.Paint(note))
}

func (c *choice) key(u *ui, k term.Key) {
	name := k.String()
	if c.typing {
		c.fieldKey(u, name, k.Text)
		return
	}
	if c.extra != nil && c.extra(u, name) {
		return
	}
	switch name {
	case "up", "k", "ctrl+p":
		c.sel = (c.sel + len(c.options) - 1) % max(1, len(c.options))
	case "down", "j", "ctrl+n":
		c.sel = (c.sel + 1) % max(1, len(c.options))
	case "pgup":
		c.top -= max(1, c.height)
	case "pgdown", "space":
		c.top += max(1, c.height)
	case "home":
		c.top = 0
	case "end":
		c.top = 1 << 20
	case "tab":
		if len(c.options) > 0 && c.options[c.sel].comment {
			c.openField()
		}
	case "enter":
		c.take(u, c.sel)
	case "esc":
		c.cancel(u)
	default:
		for i, o := range c.options {
			if name == fmt.Sprint(i+1) || o.hotkey != "" && name == o.hotkey {
				if i < len(c.cut) && c.cut[i] && i != c.sel {
					c.sel = i
					return
				}
				c.take(u, i)
				return
			}
		}
	}
}

func (c *choice) openField() {
	if c.field == nil {
		c.field = editor.New(editor.Options{})
	}
	c.typing = true
}

func (c *choice) fieldKey(u *ui, name, text string) {
	switch name {
	case "esc": // nothing is sent that cannot be seen
		c.typing, c.field = false, nil
		return
	case "tab", "shift+tab":
		c.typing = false
		return
	}
	if c.field.Key(name, text) == editor.Submit {
		c.take(u, c.sel)
	}
}

func (c *choice) take(u *ui, i int) {
	if i >= len(c.options) {
		return
	}
	comment := ""
	if c.field != nil && c.options[i].comment {
		comment = strings.TrimSpace(c.field.Draft().Prompt())
	}
	if !c.stays {
		u.closeDialog(c)
	}
	c.options[i].do(comment)
}

func (c *choice) paste(_ *ui, text string) {
	if c.typing {
		c.field.Paste(text)
	}
}

func (c *choice) cancel(u *ui) bool {
	u.closeDialog(c)
	if c.esc != nil {
		c.esc()
	}
	return true
}

func (c *choice) asked() (string, bool) { return c.ask, c.agent }

// textBody is a body of lines that are wrapped, each below its own beginning.
func textBody(lines ...string) func(int) []string {
	return func(cols int) []string {
		var out []string
		for _, l := range lines {
			plain := width.Strip(l)
			out = append(out, width.Line{Text: l, Hang: plain[:len(plain)-len(strings.TrimLeft(plain, " "))]}.Rows(cols)...)
		}
		return out
	}
}
