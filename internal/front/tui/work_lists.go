package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/front/tui/width"
)

// killAgents is the key that stops what works in the background.
const killAgents = "ctrl+x ctrl+k"

func (u *ui) killAgents() {
	if !u.again(killAgents, "ctrl+x ctrl+k again stops the agents in the background") {
		return
	}
	u.query("stop_agents", map[string]any{}, func(r event.Reply) {
		var v struct {
			Stopped int `json:"stopped"`
		}
		_ = json.Unmarshal(r.Value, &v)
		u.hint = "no agent works in the background"
		if v.Stopped > 0 {
			u.hint = count(v.Stopped, "agent") + " stopped"
		}
		if r.Err != "" {
			u.hint = r.Err
		}
	})
}

func (u *ui) toggleThinking() {
	on := u.thinkOff
	u.query("set_thinking", map[string]bool{"thinking": on}, func(r event.Reply) {
		if r.Err != "" {
			u.hint = r.Err
			return
		}
		u.thinkOff = !on
		u.hint = "thinking is " + map[bool]string{true: "on", false: "off"}[on]
	})
}

// task is a row of the answer to the query "tasks".
type task struct {
	ID, Kind, State, Text string
	Started               time.Time
	Size                  int64
}

// pickTask lists what is in the background. Enter shows the output; Ctrl+X stops.
func (u *ui) pickTask() {
	u.query("tasks", map[string]any{}, func(r event.Reply) {
		var v struct {
			Tasks []task `json:"tasks"`
		}
		if r.Err != "" || json.Unmarshal(r.Value, &v) != nil {
			u.notice("error", first(r.Err, "the list of tasks cannot be read"))
			return
		}
		if len(v.Tasks) == 0 {
			u.add(item{kind: kindLocal, text: "Nothing runs in the background."})
			return
		}
		var list []entry
		for _, t := range v.Tasks {
			list = append(list, entry{name: t.Text, note: fmt.Sprintf("%s · %s · %s", t.State, t.ID, ago(u.o.Now().Sub(t.Started))), value: t})
		}
		p := newPicker("In the background", list, func(e entry) {
			t, _ := e.value.(task)
			u.showTask(t.ID)
		})
		p.hint = "↑↓ · enter: its output · ctrl+x: stop it · esc"
		p.other = func(name string, e *entry) bool {
			if name != "ctrl+x" || e == nil {
				return false
			}
			t, _ := e.value.(task)
			u.closeDialog(p)
			u.query("stop_task", map[string]string{"task_id": t.ID}, func(r event.Reply) {
				u.hint = first(r.Err, "stopped: "+width.Inert(t.Text))
			})
			return true
		}
		u.open(p)
	})
}

func (u *ui) showTask(id string) {
	u.query("task_text", map[string]string{"task_id": id}, func(r event.Reply) {
		var text string
		if r.Err != "" || json.Unmarshal(r.Value, &text) != nil {
			u.notice("error", first(r.Err, "the output cannot be read"))
			return
		}
		u.open(&choice{
			title: "Output of " + width.Inert(id), style: u.th.Accent, body: textBody(splitLines(event.Inert(text))...), top: 1 << 20,
			options: []option{{label: "Back", do: func(string) { u.pickTask() }}, {label: "Close", do: func(string) {}}},
			hint:    "pgup pgdn scroll · enter · esc",
		})
	})
}

// pickMemory lists the instruction files; the one that is chosen is opened in the person's editor.
func (u *ui) pickMemory() {
	u.query("memory_files", map[string]any{}, func(r event.Reply) {
		var v struct {
			Files []struct {
				Path, Scope  string
				Size, Tokens int
				Exists       bool
			} `json:"files"`
		}
		if r.Err != "" || json.Unmarshal(r.Value, &v) != nil {
			u.notice("error", first(r.Err, "the list of files cannot be read"))
			return
		}
		var list []entry
		for _, f := range v.Files {
			note := "new"
			if f.Exists {
				note = tokens(f.Tokens) + " tokens"
			}
			list = append(list, entry{name: f.Scope + ": " + f.Path, note: note, value: f.Path})
		}
		p := newPicker("Edit which instructions?", list, func(e entry) {
			path, _ := e.value.(string)
			u.editFile(path)
		})
		p.empty = "no instruction files are looked for"
		p.hint = "type to search · ↑↓ · enter: your editor · esc"
		u.open(p)
	})
}

// editFile has the person edit a file, which need not be there yet.
func (u *ui) editFile(path string) {
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		u.notice("error", err.Error())
		return
	}
	text, err := u.edited(strings.TrimSuffix(string(b), "\n"), filepath.Ext(path))
	switch {
	case err != nil:
		u.notice("error", err.Error())
		return
	case text == strings.TrimSuffix(string(b), "\n"):
		u.hint = "nothing was changed"
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
		err = writeOver(path, text+"\n")
		if err == nil {
			u.notice("info", "Saved "+path+". What is new in it reaches the model with the next prompt.")
			return
		}
		u.notice("error", err.Error())
		return
	}
	u.notice("error", "cannot make the folder of "+path)
}

// writeOver replaces a file's content whole. Where the path is a link, what it leads to is written.
func writeOver(path, text string) error {
	mode := os.FileMode(0o644)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if i, err := os.Stat(path); err == nil {
		mode = i.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".lathe-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already where all went well
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// pickEffort chooses how hard the model works.
func (u *ui) pickEffort() {
	u.describe(func(v described) {
		var list []entry
		at := 0
		for i, e := range v.Efforts {
			note := e.Description
			if e.ID == v.Effort {
				at, note = i, strings.TrimSuffix("now · "+note, " · ")
			}
			list = append(list, entry{name: e.ID, note: note, value: e.ID})
		}
		p := newPicker("Effort", list, func(e entry) {
			u.query("set_effort", map[string]any{"effort": e.value}, func(r event.Reply) {
				if r.Err != "" {
					u.notice("error", r.Err)
					return
				}
				u.notice("info", "Effort: "+e.name)
			})
		})
		p.empty = "this model has no levels of effort"
		p.preview = u.changeWarning("")
		p.list.Choose(at)
		u.open(p)
	})
}

// changeWarning shows below a list what the change to the chosen model would cost with the next request; now is the one
// in use. Where now is empty the rows are no models, and the change is another one that requests carry.
func (u *ui) changeWarning(now string) func(u *ui, e entry, cols, n int) []string {
	costs := map[string]func(*ui, entry, int, int) []string{}
	return func(u *ui, e entry, cols, n int) []string {
		model := ""
		if now != "" {
			model, _ = e.value.(string)
			if model == now {
				return nil
			}
		}
		if costs[model] == nil {
			costs[model] = u.costOf(map[string]string{"model": model})
		}
		return costs[model](u, e, cols, n)
	}
}

// costOf shows what a change costs with the next request. It is asked for when it is shown first.
func (u *ui) costOf(change any) func(u *ui, _ entry, cols, n int) []string {
	text, asked := "", false
	return func(u *ui, _ entry, cols, n int) []string {
		if !asked {
			asked = true
			u.query("change_cost", change, func(r event.Reply) {
				var v struct {
					Warning string `json:"warning"`
				}
				if r.Err == "" && json.Unmarshal(r.Value, &v) == nil {
					text = v.Warning
				}
			})
		}
		if text == "" {
			return nil
		}
		var out []string
		for _, l := range rowsOf(event.Inert(text), cols-2) {
			out = append(out, u.th.Warning.Paint(l))
		}
		return out[:min(len(out), n)]
	}
}
