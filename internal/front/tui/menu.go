package tui

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/front/tui/editor"
)

// menuRows is the most that a menu of completions shows.
const menuRows = 8

// menu offers completions for what stands before the cursor.
type menu struct {
	token   string // what is completed: "/mod", "@src/ma"
	entries []entry
	sel     int
	picked  bool // the person moved in it
}

func (m *menu) rows(u *ui) []string {
	from := max(0, min(m.sel-menuRows/2, len(m.entries)-menuRows))
	n := min(menuRows, max(3, u.rows/3))
	var out []string
	for i := from; i < min(len(m.entries), from+n); i++ {
		out = append(out, listRow(u, m.entries[i], i == m.sel, u.cols))
	}
	return out
}

// key takes the keys that move in the menu and take from it.
func (m *menu) key(u *ui, name string) bool {
	switch name {
	case "up", "ctrl+p":
		m.sel, m.picked = (m.sel+len(m.entries)-1)%len(m.entries), true
	case "down", "ctrl+n":
		m.sel, m.picked = (m.sel+1)%len(m.entries), true
	case "tab":
		m.take(u, false)
	case "enter":
		return m.enter(u)
	case "esc":
		u.menu = nil
		u.dismissed = m.token
	default:
		return false
	}
	return true
}

// enter runs a command that was completed; what is no prefix of a command is sent as it is, and told to be unknown.
func (m *menu) enter(u *ui) bool {
	e := m.entries[m.sel]
	if strings.HasPrefix(m.token, "/") {
		exact := strings.EqualFold(m.token, e.name)
		if !exact && !m.picked && !strings.HasPrefix(e.name, m.token) {
			return false
		}
		m.take(u, true)
		u.submit()
		return true
	}
	m.now(u)
	if text, _ := e.value.(string); text == m.token && !m.picked || e.open && strings.HasPrefix(m.token, text) { // all of it is typed: enter means the prompt
		return false
	}
	m.take(u, false)
	return true
}

// now takes the token as it is typed by now: the answer to the last key may still be under way.
func (m *menu) now(u *ui) {
	if t := u.mentioned(); t != "" && strings.HasPrefix(m.token, "@") {
		m.token = t
	}
}

// take puts the chosen entry in the place of what was typed.
func (m *menu) take(u *ui, whole bool) {
	m.now(u)
	e := m.entries[m.sel]
	text, _ := e.value.(string)
	if e.open && strings.HasPrefix(m.token, text) {
		u.menu = nil
		return
	}
	if !whole && !strings.HasSuffix(text, "/") && !e.open {
		text += " "
	}
	if strings.HasPrefix(m.token, "/") && !whole {
		text = e.name + " "
	}
	u.prompt.ed.Replace(len(m.token), text)
	u.menu = nil
	u.prompt.changed(u)
	if strings.HasSuffix(text, "/") && !e.open {
		u.suggest()
	}
}

// suggest opens, changes or closes the menu after an edit.
func (u *ui) suggest() {
	if u.prompt.shell || u.dialog() != nil || u.prompt.vim != nil && u.prompt.vim.Mode() != editor.Insert {
		u.menu = nil
		return
	}
	before := u.prompt.ed.Before()
	switch {
	case strings.HasPrefix(before, "/") && !strings.ContainsAny(before, " \t") && u.prompt.ed.FirstLine() && !strings.Contains(before[1:], "/"):
		u.suggestCommands(before)
	default:
		if token := u.mentioned(); token != "" && token != u.dismissed {
			u.suggestFiles(token, false)
			return
		}
		u.menu = nil
		u.dismissed = ""
	}
}

// dismiss leaves the menu closed until the text before the cursor changes: Up and Down go on through the history, also past a
// command or a mention.
func (u *ui) dismiss() {
	u.menu = nil
	u.asking++ // what a menu asked for comes too late
	if u.dismissed = u.mentioned(); u.dismissed == "" {
		u.dismissed = u.prompt.ed.Before()
	}
}

// mentioned is the "@" and what stands between it and the cursor; "" where the cursor stands elsewhere.
func (u *ui) mentioned() string {
	before := u.prompt.ed.Before()
	if token := before[strings.LastIndexAny(before, " \t")+1:]; strings.HasPrefix(token, "@") {
		return token
	}
	return ""
}

// command is a slash command as the menu shows it.
type command struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Hint        string   `json:"argumentHint"`
	Aliases     []string `json:"aliases"`
}

// ownCommands are the commands of the screen itself.
var ownCommands = []command{
	{Name: "exit", Description: "leave Lathe", Aliases: []string{"quit"}},
	{Name: "theme", Description: "choose the colours"},
	{Name: "tui", Description: "whole screen, or inline with the terminal's own scrollback", Hint: "[fullscreen|inline]"},
	{Name: "vim", Description: "vim keys in the input, on or off; kept for later sessions"},
	{Name: "copy", Description: "copy an answer to the clipboard", Hint: "[N]"},
	{Name: "mode", Description: "choose the permission mode", Hint: "[mode]"},
	{Name: "keys", Description: "the keys", Aliases: []string{"keybindings"}},
}

// loadCommands asks for the commands of the session.
func (u *ui) loadCommands() {
	u.query("commands", map[string]any{}, func(r event.Reply) {
		var v struct {
			Commands []command `json:"commands"`
		}
		if r.Err == "" && json.Unmarshal(r.Value, &v) == nil {
			u.takeCommands(v.Commands)
		}
	})
}

func (u *ui) takeCommands(list []command) {
	u.commands = append([]command(nil), ownCommands...)
	for _, c := range list {
		if !known(u.commands, c.Name) {
			u.commands = append(u.commands, c)
		}
	}
	sort.Slice(u.commands, func(i, j int) bool { return u.commands[i].Name < u.commands[j].Name })
	if strings.HasPrefix(u.prompt.ed.Before(), "/") { // it was typed before they were known
		u.suggest()
	}
}

func known(list []command, name string) bool {
	for _, c := range list {
		if c.Name == name {
			return true
		}
	}
	return false
}

// suggestCommands offers the commands whose name, or a word of it, begins with what is typed.
func (u *ui) suggestCommands(token string) {
	if token == u.dismissed {
		return
	}
	if now := u.o.Now(); now.Sub(u.commandsAt) > time.Second { // servers may have brought prompts since
		u.commandsAt = now
		u.loadCommands()
	}
	want := plainName(token[1:])
	var whole, first, second []entry
	for _, c := range u.commands {
		e := entry{name: "/" + c.Name, note: c.Description, value: "/" + c.Name}
		if strings.HasPrefix(c.Name, "mcp__") { // a prompt says little without what it takes
			e.note = strings.TrimSpace(c.Hint + "  " + c.Description)
		}
		switch {
		case strings.HasPrefix(e.name, token):
			whole = append(whole, e)
		case strings.HasPrefix(plainName(c.Name), want), prefixOfAny(c.Aliases, want):
			first = append(first, e)
		case wordPrefix(c.Name, want):
			second = append(second, e)
		}
	}
	u.openMenu(token, append(append(whole, first...), second...))
}

func prefixOfAny(names []string, want string) bool {
	for _, n := range names {
		if want != "" && strings.HasPrefix(plainName(n), want) {
			return true
		}
	}
	return false
}

// plainName leaves out what separates the words of a name.
func plainName(s string) string {
	return strings.ToLower(strings.NewReplacer(":", "", " ", "", "_", "", "-", "").Replace(s))
}

func wordPrefix(name, want string) bool {
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return r == ':' || r == '-' || r == '_' }) {
		if strings.HasPrefix(strings.ToLower(w), want) {
			return true
		}
	}
	return false
}

func (u *ui) openMenu(token string, entries []entry) {
	if len(entries) == 0 {
		u.menu = nil
		return
	}
	sel := 0
	if u.menu != nil && u.menu.picked && u.menu.sel < len(entries) {
		sel = u.menu.sel
	}
	u.menu = &menu{token: token, entries: entries, sel: sel, picked: u.menu != nil && u.menu.picked}
}

// argumentHint is what the command takes that is typed; "" where there is none, or all is there already.
func (u *ui) argumentHint() string {
	text := u.prompt.ed.Text()
	name, args, ok := strings.Cut(text, " ")
	if !ok || !strings.HasPrefix(name, "/") || u.prompt.shell || strings.Contains(text, "\n") {
		return ""
	}
	for _, c := range u.commands {
		if c.Hint == "" || c.Name != name[1:] && !slices.Contains(c.Aliases, name[1:]) {
			continue
		}
		if words := strings.Fields(c.Hint); strings.HasPrefix(c.Name, "mcp__") && len(words) > 0 { // one word for each
			typed := len(strings.Fields(args))
			if args != "" && !strings.HasSuffix(args, " ") {
				typed--
			}
			if typed >= len(words) {
				return ""
			}
			return c.Name + " takes " + c.Hint + ", now " + words[max(0, typed)]
		}
		if strings.TrimSpace(args) != "" {
			return ""
		}
		return "/" + c.Name + " " + c.Hint
	}
	return ""
}

// suggestFiles asks for files and resources that fit what is typed behind "@". Only the newest answer counts. With wait the
// answer may take a moment, for what is still being listed.
func (u *ui) suggestFiles(token string, wait bool) {
	u.asking++
	mine := u.asking
	u.query("file_suggestions", map[string]any{"query": strings.TrimPrefix(token[1:], `"`), "limit": 20, "wait": wait}, func(r event.Reply) {
		if mine != u.asking || r.Err != "" || u.mentioned() != token || u.dismissed == token {
			return
		}
		var v struct {
			Files []struct {
				Path string `json:"path"`
				Dir  bool   `json:"isDirectory"`
				Note string `json:"note"`
				Kind string `json:"kind"`
			} `json:"suggestions"`
			Building bool `json:"building"`
		}
		if json.Unmarshal(r.Value, &v) != nil {
			return
		}
		var list []entry
		for _, f := range v.Files {
			path := f.Path
			if f.Dir && !strings.HasSuffix(path, "/") {
				path += "/"
			}
			e := entry{name: path, note: f.Note, value: mention(path)}
			if f.Kind == "template" {
				e.value, e.open = "@"+path, true
			}
			list = append(list, e)
		}
		u.openMenu(token, list)
		if v.Building {
			u.suggestFiles(token, true)
		}
	})
}

// mention names a file or a resource in a prompt. It is put in quotes where it would end early without them.
func mention(path string) string {
	if strings.ContainsAny(path, " \t'`") || strings.TrimRight(path, ".,;:!?)]}>") != path {
		return `@"` + path + `"`
	}
	return "@" + path
}
