package tui

import (
	"lathe/internal/event"
	"lathe/internal/front/tui/editor"
	"lathe/internal/front/tui/list"
	"lathe/internal/front/tui/screen"
	"lathe/internal/front/tui/term"
	"lathe/internal/front/tui/width"
)

// entry is a row of a list.
type entry struct {
	name, note string
	value      any
	open       bool // of a menu: the person goes on behind it
}

// picker is a dialog with a list that is narrowed by typing.
type picker struct {
	title   string
	hint    string
	list    *list.List
	ed      *editor.Editor
	height  int
	done    func(e entry)
	closed  func()
	other   func(name string, e *entry) bool           // further keys
	lookup  func(query string)                         // asks for other entries; nil: what is there is filtered
	preview func(u *ui, e entry, cols, n int) []string // below the list
	empty   string
	context string // of key bindings, besides that of all lists
	stays   bool   // taking an entry does not close it
}

func newPicker(title string, entries []entry, done func(entry)) *picker {
	p := &picker{title: title, list: list.New(nil), ed: editor.New(editor.Options{}), done: done, hint: "type to search · ↑↓ enter · esc"}
	p.set(entries)
	return p
}

// set replaces the entries.
func (p *picker) set(entries []entry) {
	items := make([]list.Item, len(entries))
	for i, e := range entries {
		items[i] = list.Item{Text: e.name, Detail: e.note, Value: e}
	}
	p.list.SetItems(items)
}

// replace gives the entries other texts; the chosen one stays the chosen one.
func (p *picker) replace(entries []entry) {
	at := p.list.At()
	p.set(entries)
	p.list.Go(at)
}

func (p *picker) chosen() *entry {
	it, ok := p.list.Chosen()
	if !ok {
		return nil
	}
	e, _ := it.Value.(entry)
	return &e
}

// nothing says why no row is shown: there is none, or none that what is typed stands in.
func (p *picker) nothing() string {
	if p.empty == "" || p.lookup == nil && p.ed.Text() != "" {
		return "nothing found"
	}
	return p.empty
}

func (p *picker) rows(u *ui, cols, most int) ([]string, screen.Cursor) {
	out := []string{u.th.Accent.With(u.th.Strong).Paint(width.Cut(width.Inert(p.title), cols-1, "…"))}
	p.ed.SetWidth(cols - 4)
	v := p.ed.View()
	out = append(out, u.th.Prompt.Paint("❯ ")+v.Rows[v.Row].Text)
	cur := screen.Cursor{Row: 1, Col: v.Col + 2}
	var below []string
	if at := p.chosen(); p.preview != nil && at != nil && most > 14 {
		below = p.preview(u, *at, cols-2, most/3)
	}
	if whole := p.list.Whole(&u.th, cols-1); whole != "" && len(below) == 0 && most > 14 {
		for _, l := range rowsOf(event.Inert(whole), cols-3) {
			below = append(below, u.th.Muted.Paint(l))
		}
		below = below[:min(len(below), most/3)]
	}
	hint := first(u.hint, p.hint)
	if p.height = max(1, min(most-3-len(below), 12)); p.list.Len() > p.height {
		hint = p.list.Position() + " · " + hint
	}
	foot := rowsOf(event.Inert(hint), cols-2)
	p.height = max(1, min(most-2-len(foot)-len(below), 12))
	p.list.SetHeight(p.height)
	if p.list.Len() == 0 {
		out = append(out, u.th.Muted.Paint("  "+width.Inert(p.nothing())))
	}
	out = append(out, p.list.Rows(&u.th, cols-1)...)
	for _, l := range below {
		out = append(out, "  "+l)
	}
	for _, l := range foot {
		out = append(out, u.th.Faint.Paint(l))
	}
	return out, cur
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
	at := p.chosen()
	if p.other != nil && p.other(name, at) {
		return
	}
	switch name {
	case "up", "ctrl+p", "shift+tab":
		p.list.Move(-1)
	case "down", "ctrl+n", "tab":
		p.list.Move(1)
	case "pgup":
		p.list.Page(-1)
	case "pgdown":
		p.list.Page(1)
	case "ctrl+home":
		p.list.First()
	case "ctrl+end":
		p.list.Last()
	case "esc":
		p.cancel(u)
	case "enter":
		if at != nil {
			if !p.stays {
				u.closeDialog(p)
			}
			p.done(*at)
		}
	default:
		if p.ed.Key(name, k.Text) == editor.Done {
			p.search()
		}
	}
}

func (p *picker) search() {
	if p.lookup != nil {
		p.lookup(p.ed.Text())
		return
	}
	p.list.SetQuery(p.ed.Text())
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
