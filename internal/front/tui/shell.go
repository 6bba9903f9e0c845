package tui

import (
	"encoding/json"
	"strings"

	"lathe/internal/event"
)

// runShell runs a command of the person's own. Its output enters the conversation, and the model is not called.
func (u *ui) runShell(command string) {
	id := "shell-" + newID()
	u.shellID = id
	u.query("shell", map[string]any{"id": id, "command": command}, func(r event.Reply) {
		if u.shellID == id {
			u.shellID = ""
		}
		u.dropTool(id)
		var v struct {
			Message string `json:"message"`
		}
		if r.Err != "" || json.Unmarshal(r.Value, &v) != nil {
			u.notice("error", first(r.Err, "the command could not be run"))
			return
		}
		u.op(event.Prompt{ID: newID(), Text: v.Message, NoQuery: true, Literal: true})
	})
}

// stopShell ends the person's command that runs.
func (u *ui) stopShell() {
	u.query("shell", map[string]any{"id": u.shellID, "stop": true}, func(event.Reply) {})
}

func (u *ui) dropTool(id string) {
	for i, t := range u.work.tools {
		if t.id == id {
			u.work.tools = append(u.work.tools[:i:i], u.work.tools[i+1:]...)
			return
		}
	}
}

// shellItem reads what the conversation keeps of a command of the person's own.
func shellItem(text string) (item, bool) {
	rest, ok := strings.CutPrefix(text, "<bash-input>")
	if !ok {
		return item{}, false
	}
	command, rest, ok := strings.Cut(rest, "</bash-input>")
	if !ok {
		return item{}, false
	}
	between := func(tag string) string {
		_, after, _ := strings.Cut(rest, "<"+tag+">")
		s, _, _ := strings.Cut(after, "</"+tag+">")
		return s
	}
	out, failed := between("bash-stdout"), between("bash-stderr")
	it := item{kind: kindShell, summary: command, text: out, isError: failed != ""}
	if failed != "" {
		it.text = strings.TrimLeft(out+"\n"+failed, "\n")
	}
	return it, true
}
