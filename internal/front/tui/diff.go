package tui

import (
	"encoding/json"
	"os"
	"strings"

	"lathe/internal/event"
	"lathe/internal/front/tui/diffview"
	"lathe/internal/front/tui/width"
)

// diffLines is how much of a change is shown in the conversation.
const diffLines = 40

// renderDiff shows what an edit changed.
func (u *ui) renderDiff(it *item, whole bool) ([]width.Line, bool) {
	var out struct {
		Patch []diffview.PatchHunk `json:"structuredPatch"`
		Path  string               `json:"filePath"`
	}
	if it.isError || json.Unmarshal(it.output, &out) != nil || len(out.Patch) == 0 {
		return nil, false
	}
	page := diffview.FromPatch(out.Patch).Render(u.diffView(out.Path, u.cols-1))
	lines, more := page.Lines, 0
	if over := len(lines) - diffLines; over > 0 && !whole {
		lines, more = lines[:diffLines], over
	}
	return u.moreLines(append([]width.Line(nil), lines...), more), true
}

func (u *ui) diffView(path string, cols int) diffview.View {
	th := u.th
	return diffview.View{
		Theme: &th, Width: cols, Path: path, Selected: -1, Unified: u.full == nil,
		NoHighlight: u.session != nil && u.session.Settings.NoHighlight,
	}
}

// maxOldFile is the size up to which the present text of a file is looked at for a diff.
const maxOldFile = 4 << 20

// oldText is the present text of a file; "" when there is none, or it is large.
func oldText(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxOldFile {
		return ""
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// editAsk is a question about a change of a file.
type editAsk struct {
	ask    event.Ask
	path   string
	all    bool   // every place of an Edit that names several
	whole  bool   // the text is a whole file
	fresh  bool   // the file is not there yet
	before string // of an Edit whose place in the file is known: the text in front of it
	after  string // … and behind it
	placed bool
	diff   *diffview.Diff
	accept []bool
	at     int
	tops   []int // row of each hunk
	sure   bool  // hunks can be taken out
}

func newEditAsk(e event.Ask) *editAsk {
	d := &editAsk{ask: e}
	var in struct {
		Path    string `json:"file_path"`
		Old     string `json:"old_string"`
		New     string `json:"new_string"`
		Content string `json:"content"`
		All     bool   `json:"replace_all"`
	}
	_ = json.Unmarshal(e.Input, &in)
	d.path = in.Path
	if e.Tool == "Write" {
		d.whole, in.New = true, in.Content
		in.Old = oldText(in.Path)
		d.fresh = in.Old == ""
	}
	text, places := "", 0
	if e.Tool == "Edit" && in.Old != "" {
		text = oldText(in.Path)
		places = strings.Count(text, in.Old)
	}
	switch {
	case places == 1:
		d.before, d.after, _ = strings.Cut(text, in.Old)
		d.placed = true
		d.diff = diffview.Of(text, d.before+in.New+d.after)
	case places > 1 && in.All:
		d.all = true
		d.diff = diffview.Of(text, strings.ReplaceAll(text, in.Old, in.New))
	default: // the tool knows better where it belongs, or refuses it
		d.diff = diffview.Of(in.Old, in.New)
	}
	d.accept = d.diff.All(true)
	d.sure = len(d.diff.Hunks) > 1 && (places <= 1 || d.all)
	return d
}

// editDialog asks about a change of a file, with the change itself, hunk by hunk. Hunks can be refused one by one: the call
// runs then with those that are left.
func (u *ui) editDialog(e event.Ask) dialog {
	d := newEditAsk(e)
	c := &choice{ask: e.ID, title: d.title(), style: u.th.Permission}
	c.body = func(cols int) []string { return append(d.rows(u, cols), u.askReason(e, cols)...) }
	c.options = u.askOptions(e, d.input)
	c.hint = "↑↓ enter · tab: comment · esc: no"
	c.esc = func() { u.answer(event.Answer{ID: e.ID, Stop: true}) }
	if o, ok := u.acceptEdits(e, d.input); ok {
		c.options = append([]option{c.options[0], o}, c.options[1:]...)
	}
	if !d.sure {
		c.extra = u.modeKey(c)
		u.explainer(e, c)
		return c
	}
	c.hint = "←→ hunk · space refuses it · " + c.hint
	mode := u.modeKey(c)
	c.extra = func(u *ui, name string) bool {
		switch name {
		case "left":
			d.at = (d.at + len(d.accept) - 1) % len(d.accept)
		case "right":
			d.at = (d.at + 1) % len(d.accept)
		case "space", "x":
			d.accept[d.at] = !d.accept[d.at]
		default:
			return mode(u, name)
		}
		c.title = d.title()
		if d.at < len(d.tops) {
			c.top = d.tops[d.at]
		}
		return true
	}
	u.explainer(e, c)
	return c
}

func (d *editAsk) refused() int {
	n := 0
	for _, a := range d.accept {
		if !a {
			n++
		}
	}
	return n
}

func (d *editAsk) title() string {
	t := "Change " + width.Inert(d.path) + "?"
	if d.fresh {
		t = "Write " + width.Inert(d.path) + "?"
	}
	if n := d.refused(); n > 0 {
		t += " (" + count(n, "hunk") + " refused)"
	}
	return t
}

func (d *editAsk) rows(u *ui, cols int) []string {
	v := u.diffView(d.path, cols)
	v.Unified = cols < diffview.SideBySide
	if d.sure {
		v.Accept, v.Selected = d.accept, d.at
	}
	page := d.diff.Render(v)
	var out []string
	d.tops = d.tops[:0]
	next := 0
	for i, l := range page.Lines {
		for next < len(page.HunkAt) && page.HunkAt[next] == i {
			d.tops = append(d.tops, len(out))
			next++
		}
		out = append(out, l.Rows(cols)...)
	}
	return append(out, "")
}

// input is the call's input without the refused hunks; nil when all are taken.
func (d *editAsk) input() json.RawMessage {
	if d.refused() == 0 {
		return nil
	}
	text := d.diff.Apply(d.accept)
	if d.whole {
		return withField(d.ask.Input, "content", text)
	}
	if d.all {
		return withField(d.named(text), "replace_all", false)
	}
	if d.placed {
		rest, ok := strings.CutPrefix(text, d.before)
		inner, ok2 := strings.CutSuffix(rest, d.after)
		if !ok || !ok2 { // a hunk reaches into equal lines beside the edit
			return d.named(text)
		}
		text = inner
	}
	return withField(d.ask.Input, "new_string", text)
}

// named is an edit that makes text of the file: it names the lines from the first that changes to the last, and as many beside them as
// it takes to be in one place only.
func (d *editAsk) named(text string) json.RawMessage {
	was, now := strings.SplitAfter(d.diff.Apply(nil), "\n"), strings.SplitAfter(text, "\n")
	head := 0
	for head < len(was) && head < len(now) && was[head] == now[head] {
		head++
	}
	tail := 0
	for tail < len(was)-head && tail < len(now)-head && was[len(was)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	whole := strings.Join(was, "")
	part := func(lines []string) string { return strings.Join(lines[head:len(lines)-tail], "") }
	for (part(was) == "" || strings.Index(whole, part(was)) != strings.LastIndex(whole, part(was))) && head+tail > 0 { // also where two of them overlap
		head, tail = max(0, head-1), max(0, tail-1)
	}
	return withField(withField(d.ask.Input, "old_string", part(was)), "new_string", part(now))
}

// withField is a JSON object with one field set anew.
func withField(input json.RawMessage, key string, value any) json.RawMessage {
	in := map[string]json.RawMessage{}
	if json.Unmarshal(input, &in) != nil || in == nil {
		in = map[string]json.RawMessage{}
	}
	in[key] = event.Encode(value)
	return event.Encode(in)
}

// askReason says why a change is asked about.
func (u *ui) askReason(e event.Ask, cols int) []string {
	if e.Decision.Reason == "" {
		return nil
	}
	return width.Line{Text: u.th.Warning.Paint("Why: ") + width.Inert(strings.TrimSpace(e.Decision.Reason)) + u.from(e.Decision.Source)}.Rows(cols)
}
