package tui

import (
	"fmt"
	"strings"

	"lathe/internal/front/tui/editor"
	"lathe/internal/front/tui/screen"
	"lathe/internal/front/tui/term"
	"lathe/internal/front/tui/width"
)

// entry is a row of a list.
type entry struct {
	name, note string
	value      any
}

// picker is a dialog with a list that is narrowed by typing.
type picker struct {
	title   string
	hint    string
	entries []entry
	shown   []entry
	sel     int
	ed      *editor.Editor
	height  int
	done    func(e entry)
	closed  func()
	other   func(name string, e *entry) bool           // further keys
	lookup  func(query string)                         // asks for other entries; nil: what is there is filtered
	preview func(u *ui, e entry, cols, n int) []string // below the list
	empty   string
}

func newPicker(title string, entries []entry, done func(entry)) *picker {
	p := &picker{title: title, entries: entries, shown: entries, ed: editor.New(editor.Options{}), done: done, hint: "type to search · ↑↓ enter · esc"}
	return p
}

// set replaces the entries.
func (p *picker) set(entries []entry) {
	p.entries = entries
	p.filter()
}

func (p *picker) filter() {
	q := strings.TrimSpace(p.ed.Text())
	if q == "" || p.lookup != nil {
		p.shown = p.entries
	} else {
		p.shown = nil
		for _, e := range p.entries {
			if matches(q, e.name+" "+e.note) {
				p.shown = append(p.shown, e)
			}
		}
	}
	p.sel = max(0, min(p.sel, len(p.shown)-1))
}

// matches reports whether every word of a query stands in the text.
func matches(query, text string) bool {
	text = strings.ToLower(text)
	for _, w := range strings.Fields(strings.ToLower(query)) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func (p *picker) rows(u *ui, cols, most int) ([]string, screen.Cursor) {
	out := []string{u.th.Accent.With(u.th.Strong).Paint(width.Cut(p.title, cols-1, "…"))}
	p.ed.SetWidth(cols - 4)
	v := p.ed.View()
	out = append(out, u.th.Prompt.Paint("❯ ")+v.Rows[v.Row].Text)
	cur := screen.Cursor{Row: 1, Col: v.Col + 2}
	var below []string
	if p.preview != nil && len(p.shown) > 0 && most > 14 {
		below = p.preview(u, p.shown[p.sel], cols-2, most/3)
	}
	p.height = max(1, min(most-3-len(below), 12))
	from := 0
	if len(p.shown) > p.height {
		from = max(0, min(p.sel-p.height/2, len(p.shown)-p.height))
	}
	if len(p.shown) == 0 {
		out = append(out, u.th.Muted.Paint("  "+p.nothing()))
	}
	for i := from; i < min(len(p.shown), from+p.height); i++ {
		out = append(out, listRow(u, p.shown[i], i == p.sel, cols))
	}
	for _, l := range below {
		out = append(out, "  "+l)
	}
	hint := p.hint
	if len(p.shown) > p.height {
		hint = fmt.Sprintf("%d of %d · %s", p.sel+1, len(p.shown), hint)
	}
	return append(out, u.th.Faint.Paint(width.Cut(hint, cols-1, "…"))), cur
}

func (p *picker) nothing() string {
	if p.empty != "" {
		return p.empty
	}
	return "nothing found"
}

// listRow draws one entry: its name, and its note where there is room.
func listRow(u *ui, e entry, chosen bool, cols int) string {
	lead, style := "  ", u.th.Text
	if chosen {
		lead, style = u.th.Accent.Paint("❯ "), u.th.Accent
	}
	name := width.Cut(width.Inert(e.name), cols-3, "…")
	row := lead + style.Paint(name)
	if room := cols - 3 - 2 - max(width.Of(name), 0); e.note != "" && room > 8 {
		pad := max(1, min(22-width.Of(name), room-10))
		row += width.Spaces(pad) + u.th.Muted.Paint(width.Cut(width.Inert(e.note), room-pad, "…"))
	}
	return row
}

func (p *picker) key(u *ui, k term.Key) {
	name := k.String()
	var at *entry
	if p.sel < len(p.shown) {
		at = &p.shown[p.sel]
	}
	if p.other != nil && p.other(name, at) {
		return
	}
	switch name {
	case "up", "ctrl+p", "shift+tab":
		p.sel = max(0, p.sel-1)
	case "down", "ctrl+n", "tab":
		p.sel = max(0, min(len(p.shown)-1, p.sel+1))
	case "pgup":
		p.sel = max(0, p.sel-p.height)
	case "pgdown":
		p.sel = max(0, min(len(p.shown)-1, p.sel+p.height))
	case "esc":
		p.cancel(u)
	case "enter":
		if at == nil {
			return
		}
		e := *at
		u.closeDialog(p)
		p.done(e)
	default:
		if p.ed.Key(name, k.Text) == editor.Done {
			p.search()
		}
	}
}

func (p *picker) search() {
	p.sel = 0
	if p.lookup != nil {
		p.lookup(p.ed.Text())
	}
	p.filter()
}

func (p *picker) paste(_ *ui, text string) {
	p.ed.Insert(text)
	p.search()
}

func (p *picker) cancel(u *ui) bool {
	u.closeDialog(p)
	if p.closed != nil {
		p.closed()
	}
	return true
}
