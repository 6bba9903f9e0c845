package app

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/event"
	"lathe/internal/msg"
	"lathe/internal/pipeline/attach"
	"lathe/internal/tool/bash"
)

// tasksKind is the state record of the background tasks whose end the model has not been told of. A run that takes up
// the session tells it what it will not hear of any more: such tasks end with the process.
const tasksKind = "tasks"

// openTask is one of these.
type openTask struct {
	Key  string `json:"key"`
	What string `json:"what"`           // which task, in words
	File string `json:"file,omitempty"` // its output
}

// told is what the model knows of background work. A report counts as told when the message with it is on disk, not
// before: an interrupt, a full disk or a crash between the two must not lose it. work.mu guards it but for record.
type told struct {
	keys     map[string]bool
	offered  map[string][]string // by the id of a prompt that Next has made: the keys of what it tells
	tried    map[string]bool     // keys that Next has offered: they ask for no other turn, but come with the next one
	left     []openTask          // of an earlier run of the session
	recorded string              // the record as it was written last
	lines    map[string]*watched // by the key of a watch's end
}

// endKey names the end of a task. Numbers of tasks begin anew in a resumed session, ids of calls do not.
func endKey(t bash.Task) string { return strings.TrimSpace(t.ID+" "+t.CallID) + " ended" }

// news is what the model has not been told of yet. wake leaves out what asks for no turn of its own: what somebody
// stopped, what was offered before, and what an earlier run has left. Where tools are called from outside there are no turns.
func (w *work) news(wake bool) []attach.Item {
	if wake && w.r.o.NoPrompts {
		return nil
	}
	tasks := w.r.tools.tasks.Snapshot()
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []attach.Item
	add := func(t bash.Task, text string, asked bool) {
		key := endKey(t)
		if !w.told.keys[key] && !(wake && (asked || w.told.tried[key])) {
			out = append(out, attach.Item{Key: key, Text: text})
		}
	}
	for _, o := range w.told.left {
		if !w.told.keys[o.Key] && !wake {
			out = append(out, attach.Item{Key: o.Key, Text: o.text()})
		}
	}
	for _, t := range tasks {
		if i, ok := w.lines(t, wake); ok {
			out = append(out, i)
		}
		if t.State != bash.Running && t.Owner == "" && !t.Known {
			add(t, commandNews(t), t.Asked)
		}
	}
	for _, b := range w.agents {
		if b.back && b.State != bash.Running && !b.Known {
			add(b.Task, agentNews(b), b.asked)
		}
	}
	return out
}

func (o openTask) text() string {
	text := "From before this session was taken up again: " + o.What + " was left when the earlier run ended. It is no task of this session any more, and how it ended is not known."
	if o.File != "" {
		text += "\nOutput so far: " + o.File
	}
	return text
}

// Next implements engine.Background: what has ended while nothing ran is told in a turn of its own.
func (w *work) Next() (event.Prompt, bool) {
	if len(w.news(true)) == 0 {
		return event.Prompt{}, false
	}
	id := w.r.place.Sys.NewID()
	var parts, keys []string
	for _, i := range w.news(false) {
		parts, keys = append(parts, i.Text), append(keys, i.Key)
	}
	w.mu.Lock()
	w.told.offered[id] = keys
	for _, k := range keys {
		w.told.tried[k] = true
	}
	w.spoke(keys)
	w.mu.Unlock()
	text := "<task-notification>\nThis is told by the program, not by the user.\n" + strings.Join(parts, "\n\n") + "\n</task-notification>"
	return event.Prompt{ID: id, Text: text, Literal: true, Origin: "task-notification"}, true
}

// kept is told of messages that are on disk now.
func (w *work) kept(ms []msg.Message) {
	w.mu.Lock()
	for _, m := range ms {
		switch {
		case m.Kind == msg.KindAttachment && m.Source == attach.TaskSource:
			w.told.keys[m.Key] = true
			w.heardLines(m.Key)
		case m.Kind == msg.KindUser:
			for _, k := range w.told.offered[m.ID] {
				w.told.keys[k] = true
				w.heardLines(k)
			}
			delete(w.told.offered, m.ID)
		}
	}
	w.mu.Unlock()
	w.record()
}

// record keeps with the session which tasks the model has not been told the end of, where that has changed.
func (w *work) record() {
	w.recording.Lock()
	defer w.recording.Unlock()
	open := w.open()
	b, err := json.Marshal(open)
	if err != nil || string(b) == w.told.recorded || len(open) == 0 && w.told.recorded == "" {
		return
	}
	if err := w.r.conv.Log.Keep(tasksKind, json.RawMessage(b)); err == nil { // else it is tried with the next message
		w.told.recorded = string(b)
	}
}

// open lists the background tasks of the session itself whose end the model does not know.
func (w *work) open() []openTask {
	tasks := w.r.tools.tasks.Snapshot()
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []openTask
	for _, o := range w.told.left {
		if !w.told.keys[o.Key] {
			out = append(out, o)
		}
	}
	add := func(t bash.Task, what string) {
		if key := endKey(t); !t.Known && !w.told.keys[key] {
			out = append(out, openTask{Key: key, What: w.r.place.Redact.String(what), File: t.OutputFile})
		}
	}
	for _, t := range tasks {
		if t.Owner == "" {
			add(t, fmt.Sprintf("background command %s (%s)", t.ID, event.OneLine(t.Command, 200)))
		}
	}
	for _, b := range w.agents {
		if b.back {
			what := "sub-agent"
			if b.server != "" {
				what = "MCP call"
			}
			add(b.Task, fmt.Sprintf("background %s %s (%s)", what, b.ID, event.OneLine(b.Description, 200)))
		}
	}
	return out
}

// takeUp takes over what an earlier run of a session has left, but for what is a task of this process itself.
func (w *work) takeUp(state json.RawMessage) {
	w.recording.Lock()
	w.told.recorded = ""
	w.recording.Unlock()
	var left []openTask
	_ = json.Unmarshal(state, &left) // none: nothing was left
	tasks := w.r.tools.tasks.Snapshot()
	w.mu.Lock()
	defer w.mu.Unlock()
	mine := func(o openTask) bool {
		is := func(t bash.Task) bool { return endKey(t) == o.Key }
		return slices.ContainsFunc(tasks, is) || slices.ContainsFunc(w.agents, func(b *backAgent) bool { return is(b.Task) })
	}
	w.told.left = slices.DeleteFunc(left, mine)
}
