package tui

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/event"
	"lathe/internal/front/tui/editor"
	"lathe/internal/front/tui/screen"
	"lathe/internal/front/tui/term"
	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
	"lathe/internal/perm"
)

// rule is a row of the answer to the query "screen_rules".
type rule struct {
	Rule     string `json:"rule"`
	Behavior string `json:"behavior"`
	Scope    string `json:"scope"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Fixed    bool   `json:"fixed"`
}

func (r rule) from() string {
	if r.File == "" {
		return r.Scope
	}
	return fmt.Sprintf("%s · %s:%d", r.Scope, filepath.Base(r.File), r.Line)
}

// pickRule lists the permission rules. Enter shows one whole, and takes it away where that may be; the first row adds one.
func (u *ui) pickRule() {
	u.query("screen_rules", map[string]any{}, func(r event.Reply) {
		var v struct {
			Rules []rule `json:"rules"`
		}
		if r.Err != "" || json.Unmarshal(r.Value, &v) != nil {
			u.notice("error", first(r.Err, "the rules cannot be read"))
			return
		}
		list := []entry{{name: "+ add a rule"}}
		for _, x := range v.Rules {
			list = append(list, entry{name: x.Behavior + " " + x.Rule, note: x.from(), value: x})
		}
		p := newPicker(fmt.Sprintf("Permission rules · mode %s", perm.Mode(u.status.mode).Word()), list, func(e entry) {
			if x, ok := e.value.(rule); ok {
				u.showRule(x)
				return
			}
			u.addRule()
		})
		p.hint = "type to search · enter: show, take away · esc"
		u.open(p)
	})
}

// showRule shows a rule whole, with its place.
func (u *ui) showRule(x rule) {
	lines := []string{u.th.Strong.Paint(x.Behavior) + " " + exact(x.Rule), "", "From: " + width.Inert(x.Scope)}
	if x.File != "" {
		lines = append(lines, u.th.Muted.Paint(fmt.Sprintf("%s:%d", width.Inert(x.File), x.Line)))
	}
	c := &choice{title: "A permission rule", style: u.th.Accent, esc: u.pickRule, hint: "↑↓ enter · esc: back"}
	if x.Fixed {
		lines = append(lines, "", "It cannot be changed here: it does not stand in settings of yours or of the project.")
	} else {
		c.options = append(c.options, option{label: "Take it away", hotkey: "d", do: func(string) {
			u.query("change_rule", map[string]any{"remove": true, "rule": x.Rule, "behavior": x.Behavior, "scope": x.Scope, "file": x.File}, func(r event.Reply) {
				u.hint = first(r.Err, "taken away: "+width.Inert(x.Behavior+" "+x.Rule))
				u.pickRule()
			})
		}})
	}
	c.options = append([]option{{label: "Back", hotkey: "b", do: func(string) { u.pickRule() }}}, c.options...)
	c.body = textBody(lines...)
	u.open(c)
}

// addRule asks what the rule does, for what, and where it is kept.
func (u *ui) addRule() {
	c := &choice{
		title: "A new rule: what shall it do?", style: u.th.Accent, esc: u.pickRule, hint: "↑↓ enter · esc: back",
		body: textBody("Deny wins over ask, and ask over allow, wherever they stand."),
	}
	for _, b := range []struct{ name, does string }{{"allow", "run without asking"}, {"ask", "ask each time"}, {"deny", "never run"}} {
		c.options = append(c.options, option{label: strings.ToUpper(b.name[:1]) + b.name[1:] + ": " + b.does, hotkey: b.name[:1], do: func(string) {
			u.open(&line{
				title: "The rule to " + b.name, note: "For example Bash(npm test *), Edit(docs/**), Read(~/notes/**), WebFetch(domain:go.dev), or the name of a tool.",
				done: func(text string) { u.placeRule(b.name, text) }, esc: u.addRule,
			})
		}})
	}
	u.open(c)
}

// placeRule asks where a new rule is kept, and saves it.
func (u *ui) placeRule(behavior, text string) {
	c := &choice{
		title: "Where shall it hold?", style: u.th.Accent, esc: u.addRule, hint: "↑↓ enter · esc: back",
		body: textBody(u.th.Strong.Paint(behavior) + " " + exact(text)),
	}
	for _, s := range []struct {
		scope event.Scope
		label string
	}{
		{event.SaveSession, "In this session only"},
		{event.SaveLocal, "In this project, for you alone"},
		{event.SaveProject, "In this project, for all who work on it"},
		{event.SaveUser, "In all of your projects"},
	} {
		c.options = append(c.options, option{label: s.label, do: func(string) {
			u.query("change_rule", map[string]any{"rule": text, "behavior": behavior, "scope": s.scope}, func(r event.Reply) {
				if r.Err != "" {
					u.notice("error", r.Err)
				} else {
					u.hint = "added: " + width.Inert(behavior+" "+text)
				}
				u.pickRule()
			})
		}})
	}
	u.open(c)
}

// line is a dialog for one line of text.
type line struct {
	title, note string
	ed          *editor.Editor
	done        func(text string)
	esc         func()
}

func (l *line) rows(u *ui, cols, _ int) ([]string, screen.Cursor) {
	if l.ed == nil {
		l.ed = editor.New(editor.Options{})
	}
	var out []string
	for _, r := range rowsOf(l.title, cols-2) {
		out = append(out, u.th.Accent.With(u.th.Strong).Paint(r))
	}
	for _, r := range rowsOf(l.note, cols-2) {
		out = append(out, u.th.Muted.Paint(r))
	}
	out = append(out, "")
	l.ed.SetWidth(cols - 4)
	v := l.ed.View()
	cur := screen.Cursor{Row: len(out) + v.Row, Col: v.Col + 2}
	for i, r := range v.Rows {
		lead := "  "
		if i == 0 {
			lead = u.th.Prompt.Paint("❯ ")
		}
		out = append(out, lead+r.Text)
	}
	return append(out, u.th.Faint.Paint(width.Cut("enter · esc: back", cols-1, "…"))), cur
}

func (l *line) key(u *ui, k term.Key) {
	if l.ed == nil {
		l.ed = editor.New(editor.Options{})
	}
	switch name := k.String(); {
	case name == "esc":
		l.cancel(u)
	case l.ed.Key(name, k.Text) == editor.Submit:
		if text := strings.TrimSpace(l.ed.Draft().Prompt()); text != "" {
			u.closeDialog(l)
			l.done(text)
		}
	}
}

func (l *line) paste(_ *ui, text string) {
	if l.ed != nil {
		l.ed.Insert(firstLine(text))
	}
}

func (l *line) cancel(u *ui) bool {
	u.closeDialog(l)
	l.esc()
	return true
}

// setting is a row of the answer to the query "screen_config".
type setting struct {
	Key    string   `json:"key"`
	Does   string   `json:"does"`
	Values []string `json:"values"`
	Now    string   `json:"now"`
	Scope  string   `json:"scope"`
}

func (s setting) entry() entry {
	note := s.Does
	if s.Scope != "" && s.Scope != "user" {
		note += " · from " + s.Scope
	}
	return entry{name: s.Key + ": " + shownValue(s.Now), note: note, value: s}
}

// shownValue is a JSON value as people write it.
func shownValue(v string) string {
	switch v {
	case "true":
		return "on"
	case "false":
		return "off"
	}
	return width.Inert(strings.Trim(v, `"`))
}

// pickSetting lists the settings that can be switched. A change is saved at once.
func (u *ui) pickSetting() {
	p := newPicker("Settings", nil, nil)
	load := func() {
		u.query("screen_config", map[string]any{}, func(r event.Reply) {
			var v struct {
				Settings []setting `json:"settings"`
			}
			if r.Err != "" || json.Unmarshal(r.Value, &v) != nil {
				p.empty = first(r.Err, "the settings cannot be read")
				return
			}
			var list []entry
			for _, s := range v.Settings {
				list = append(list, s.entry())
			}
			p.replace(list)
		})
	}
	load()
	p.stays, p.context = true, "Settings"
	p.done = func(e entry) { u.step(e, 1, load) }
	p.hint = "←→ enter: change, saved at once · type to search · esc"
	p.other = func(name string, e *entry) bool {
		step := map[string]int{"left": -1, "right": 1, "space": 1}[name]
		if step == 0 || e == nil || !p.ed.Empty() {
			return false
		}
		u.step(*e, step, load)
		return true
	}
	u.open(p)
}

// step gives a setting its next value, or the one before.
func (u *ui) step(e entry, by int, then func()) {
	s, _ := e.value.(setting)
	n := len(s.Values)
	if n == 0 {
		return
	}
	at := slices.Index(s.Values, s.Now) // -1: another value, from a file
	next := s.Values[((max(at, 0)+by)%n+n)%n]
	u.query("save_setting", map[string]any{"key": s.Key, "value": json.RawMessage(next)}, func(r event.Reply) {
		if r.Err != "" {
			u.hint = r.Err
			return
		}
		u.switched(s.Key, next)
		then()
	})
}

// switched takes up a setting that concerns the screen; the others count from the next turn or session on.
func (u *ui) switched(key, value string) {
	set := &u.session.Settings
	switch text := strings.Trim(value, `"`); key {
	case "theme":
		u.th, u.themeName = theme.Named(text, u.depth, u.dark), text
	case "editorMode":
		u.setVim(text == "vim")
	case "prefersReducedMotion":
		set.ReducedMotion = value == "true"
	case "syntaxHighlightingDisabled":
		set.NoHighlight = value == "true"
	case "showTurnDuration":
		set.ShowDuration = value == "true"
	case "preferredNotifChannel":
		set.Notify = text
	}
}
