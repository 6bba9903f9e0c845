package tui

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"lathe/internal/event"
	"lathe/internal/front/tui/theme"
	"lathe/internal/perm"
)

// command does a slash command that is the screen's own, or that needs a list to choose from. It reports whether it was
// one; all others go to the session.
func (u *ui) command(text string) bool {
	name, args, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	args = strings.TrimSpace(args)
	switch name {
	case "exit", "quit":
		u.quit = true
	case "theme":
		u.pickTheme(args)
	case "tui":
		u.switchScreen(args)
	case "vim":
		u.setVim(u.prompt.vim == nil)
		mode := map[bool]string{true: "vim", false: "normal"}[u.prompt.vim != nil]
		u.query("save_setting", map[string]any{"key": "editorMode", "value": mode}, func(event.Reply) {})
	case "copy":
		u.copyAnswer(args)
	case "btw":
		u.aside(args)
	case "mode":
		u.pickMode(args)
	case "keys", "keybindings":
		u.add(item{kind: kindLocal, text: shortcuts})
	case "model":
		if args != "" {
			return false
		}
		u.pickModel()
	case "effort":
		if args != "" {
			return false
		}
		u.pickEffort()
	case "fast":
		return u.fastCommand(args)
	case "permissions", "allowed-tools":
		if args != "" {
			return false
		}
		u.pickRule()
	case "config", "settings":
		if args != "" {
			return false
		}
		u.pickSetting()
	case "memory":
		u.pickMemory()
	case "tasks", "bashes":
		if args != "" {
			return false
		}
		u.pickTask()
	case "resume", "continue":
		if args != "" {
			return false
		}
		u.pickSession(func(id string) { u.send(event.Prompt{Text: "/resume " + id}) }, nil)
	case "rewind", "checkpoint", "undo":
		if args != "" {
			return false
		}
		u.openRewind()
	case "context":
		if args != "" {
			return false
		}
		u.showContext()
	default:
		return false
	}
	return true
}

// showContext draws what fills the window.
func (u *ui) showContext() {
	u.query("get_context_usage", map[string]any{}, func(r event.Reply) {
		if r.Err != "" {
			u.notice("error", r.Err)
			return
		}
		u.add(item{kind: kindContext, output: r.Value})
	})
}

func (u *ui) pickTheme(name string) {
	was := u.th
	use := func(name string) {
		u.th, u.themeName = theme.Named(name, u.depth, u.dark), name
		u.query("save_setting", map[string]any{"key": "theme", "value": name}, func(r event.Reply) {
			if r.Err != "" {
				u.hint = "the theme holds for this session"
			}
		})
	}
	if name != "" {
		for _, n := range theme.Names() {
			if n == name {
				use(name)
				return
			}
		}
		u.hint = "there is no theme " + name
		return
	}
	var list []entry
	at := -1
	for i, n := range theme.Names() {
		note := ""
		if n == "auto" {
			note = "after the terminal's background"
		}
		if n == u.themeName {
			at, note = i, strings.TrimSuffix("now · "+note, " · ")
		}
		list = append(list, entry{name: n, note: note})
	}
	title := "Colours"
	if at < 0 { // a file of the user's own
		title += " · now " + u.themeName
	}
	p := newPicker(title, list, func(e entry) { use(e.name) })
	p.list.Go(max(0, at))
	p.context = "ThemePicker"
	p.closed = func() { u.th = was }
	p.preview = func(u *ui, e entry, cols, _ int) []string {
		th := theme.Named(e.name, u.depth, u.dark)
		return []string{"", th.Heading.Paint("Heading") + "  " + th.Code.Paint("code") + "  " + th.Link.Paint("link") + "  " + th.Muted.Paint("muted") + "  " +
			th.Error.Paint("error") + "  " + th.Warning.Paint("warning") + "  " + th.Success.Paint("success"), th.Removed.Paint("- a line that goes"), th.Added.Paint("+ a line that comes")}
	}
	u.open(p)
}

func (u *ui) switchScreen(args string) {
	switch {
	case args == "fullscreen" || args == "" && u.full == nil:
		if u.full == nil {
			u.toFull()
		}
	case args == "inline" || args == "classic" || args == "":
		if u.full != nil {
			u.toInline()
		}
	default:
		u.hint = "/tui fullscreen, or /tui inline"
	}
}

// copyAnswer puts the n-th last answer into the clipboard, by way of the terminal.
func (u *ui) copyAnswer(args string) {
	n := 1
	if args != "" {
		v, err := strconv.Atoi(args)
		if err != nil || v < 1 {
			u.hint = "/copy takes the number of the answer, counted from the last"
			return
		}
		n = v
	}
	for i := len(u.items) - 1; i >= 0; i-- {
		if u.items[i].kind != kindText {
			continue
		}
		if n--; n == 0 {
			u.clipboard(u.items[i].text)
			u.hint = "copied"
			return
		}
	}
	u.hint = "there is no such answer"
}

// aside asks a question on the side, also while a turn runs.
func (u *ui) aside(question string) {
	if question == "" {
		u.hint = "/btw takes a question: it is answered from the conversation, without tools, and stays out of it"
		return
	}
	u.hint = "asked on the side …"
	u.query("side_question", map[string]string{"question": question}, func(r event.Reply) {
		var v struct{ Text string }
		if r.Err != "" || json.Unmarshal(r.Value, &v) != nil {
			u.notice("error", "The question on the side was not answered: "+r.Err)
			return
		}
		if u.hint == "asked on the side …" {
			u.hint = ""
		}
		it := item{kind: kindLocal, text: "btw " + question + "\n\n" + v.Text}
		if u.work.stream != nil {
			u.late = append(u.late, it)
			return
		}
		u.add(it)
	})
}

// clipboard sends text to the terminal's clipboard (OSC 52), through tmux where that is between.
func (u *ui) clipboard(text string) {
	seq := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(text)) + "\a"
	if u.o.Getenv("TMUX") != "" {
		seq = "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	u.raw(seq)
}

// described is the answer to the query "describe".
type described struct {
	Model, Mode, Effort    string
	Models, Modes, Efforts []struct{ ID, Name, Description string }
}

func (u *ui) describe(then func(described)) {
	u.query("describe", map[string]any{}, func(r event.Reply) {
		var v described
		if r.Err != "" || json.Unmarshal(r.Value, &v) != nil {
			u.hint = "the session does not answer: " + r.Err
			return
		}
		then(v)
	})
}

// pickModel chooses model and effort.
func (u *ui) pickModel() {
	u.describe(func(v described) {
		var list []entry
		at := 0
		for i, m := range v.Models {
			note := m.Description
			if m.ID == v.Model {
				at, note = i, "now · "+note
			}
			list = append(list, entry{name: m.Name, note: note, value: m.ID})
		}
		effort := v.Effort
		p := newPicker("Model", list, func(e entry) {
			u.query("set_model", map[string]any{"model": e.value}, func(r event.Reply) {
				if r.Err != "" {
					u.notice("error", r.Err)
					return
				}
				u.status.model, _ = e.value.(string)
				if effort != v.Effort {
					u.query("set_effort", map[string]any{"effort": effort}, func(r event.Reply) {
						if r.Err != "" {
							u.notice("error", r.Err)
						}
					})
				}
				u.notice("info", "Model: "+u.status.model)
				u.refresh()
			})
		})
		p.list.Choose(at)
		p.context = "ModelPicker"
		title := func() {
			p.title = "Model"
			if effort != "" {
				p.title += " · effort " + effort
			}
		}
		title()
		p.hint = "type to search · ↑↓ enter · ←→ effort · esc"
		p.preview = u.changeWarning(v.Model)
		p.other = func(name string, _ *entry) bool {
			step := map[string]int{"left": -1, "right": 1}[name]
			if step == 0 || len(v.Efforts) == 0 || !p.ed.Empty() {
				return false
			}
			for i, e := range v.Efforts {
				if e.ID == effort {
					effort = v.Efforts[max(0, min(len(v.Efforts)-1, i+step))].ID
					break
				}
			}
			title()
			return true
		}
		u.open(p)
	})
}

func (u *ui) pickMode(name string) {
	if name != "" {
		u.setMode(name)
		return
	}
	u.describe(func(v described) {
		var list []entry
		at := 0
		for i, m := range v.Modes {
			note := m.Description
			if perm.Mode(m.ID).Word() == perm.Mode(v.Mode).Word() {
				at, note = i, "now · "+note
			}
			list = append(list, entry{name: perm.Mode(m.ID).Word(), note: note, value: m.ID})
		}
		p := newPicker("Permission mode", list, func(e entry) {
			id, _ := e.value.(string)
			u.setMode(id)
		})
		p.list.Go(at)
		u.open(p)
	})
}

// pickSession chooses a session of this directory to go on with.
func (u *ui) pickSession(chosen func(id string), closed func()) {
	p := newPicker("Go on with a session", nil, func(e entry) {
		id, _ := e.value.(string)
		chosen(id)
	})
	p.closed = closed
	p.empty = "there are no other sessions here"
	ask := func(q string) {
		u.asking++
		mine := u.asking
		u.query("sessions", map[string]any{"query": q}, func(r event.Reply) {
			if mine != u.asking {
				return
			}
			if r.Err != "" {
				p.empty = r.Err
				return
			}
			p.set(sessionEntries(r.Value))
		})
	}
	p.lookup = ask
	ask("")
	previews := map[string][]string{}
	p.preview = func(u *ui, e entry, cols, n int) []string {
		id, _ := e.value.(string)
		lines, asked := previews[id]
		if !asked {
			previews[id] = nil
			u.query("session_preview", map[string]any{"session_id": id}, func(r event.Reply) { previews[id] = previewLines(r.Value) })
		}
		var out []string
		for _, l := range lines {
			out = append(out, rowsOf(l, cols-2)...)
		}
		if len(out) > n {
			out = out[:n]
		}
		for i := range out {
			out[i] = u.th.Muted.Paint(out[i])
		}
		return out
	}
	u.open(p)
}

func (u *ui) openRewind() {
	u.query("checkpoints", map[string]any{}, func(r event.Reply) {
		var v struct {
			List []struct {
				ID         string   `json:"user_message_id"`
				Text       string   `json:"text"`
				Files      []string `json:"files"`
				Insertions int      `json:"insertions"`
				Deletions  int      `json:"deletions"`
				HasFiles   bool     `json:"has_checkpoint"`
			} `json:"checkpoints"`
		}
		if r.Err != "" || json.Unmarshal(r.Value, &v) != nil {
			u.hint = "nothing can be taken back: " + r.Err
			return
		}
		var list []entry
		for i := len(v.List) - 1; i >= 0; i-- {
			c := v.List[i]
			note := "no files changed"
			if len(c.Files) > 0 {
				note = fmt.Sprintf("%s, +%d −%d", count(len(c.Files), "file"), c.Insertions, c.Deletions)
			}
			name := c.Text
			if it, ok := shellItem(c.Text); ok {
				name = "! " + it.summary
			}
			list = append(list, entry{name: firstLine(name), note: note, value: c.ID})
		}
		p := newPicker("Go back to before which prompt?", list, func(e entry) {
			id, _ := e.value.(string)
			u.rewindTo(id, e.name)
		})
		p.empty, p.context = "there is no prompt yet", "MessageSelector"
		u.open(p)
	})
}
