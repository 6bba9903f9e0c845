package app

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"lathe/internal/event"
	"lathe/internal/tool/bash"
)

// screenTask is a task in the background, for the list of the screen.
type screenTask struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"` // shell or agent
	State   string    `json:"state"`
	Text    string    `json:"text"`
	Started time.Time `json:"started"`
	Size    int64     `json:"size"` // bytes of output
}

func (r *run) screenTasks() []screenTask {
	out := []screenTask{}
	add := func(kind string, list []bash.Task) {
		for _, t := range list {
			out = append(out, screenTask{t.ID, kind, string(t.State), event.OneLine(first(t.Description, t.Command), 200), t.Started, t.Size})
		}
	}
	add("shell", r.tools.tasks.Snapshot())
	add("agent", r.work.snapshot())
	slices.SortStableFunc(out, func(a, b screenTask) int { return b.Started.Compare(a.Started) })
	return out
}

// stopAgents stops the sub-agents in the background, and tells how many ran.
func (r *run) stopAgents() int {
	n := 0
	for _, t := range r.work.snapshot() {
		if t.State == bash.Running {
			r.stopTask(t.ID)
			n++
		}
	}
	return n
}

// keybindings is the user's file of key bindings, nil where there is none.
func (r *run) keybindings() []byte {
	for _, dir := range []string{r.place.Sys.Dirs.State, r.place.Sys.Dirs.Config} { // Lathe's own wins
		if b, err := os.ReadFile(filepath.Join(dir, "keybindings.json")); err == nil {
			return b
		}
	}
	return nil
}
