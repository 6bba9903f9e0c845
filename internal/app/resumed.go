package app

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/pipeline/tools"
)

// foreignKind is the state record that names the last message which was made under another system prompt or with
// other tools than the session has now.
const foreignKind = "other-prefix"

// foreign finds the messages whose thinking may not be sent: a thinking block is valid only behind the system
// prompt and the tools with which it was made. A resumed session without frozen ones (another program's transcript,
// or one whose tools change now) gets new ones, so all of its thinking until now is left out, in later runs too.
func (r *run) foreign() func(msg.Message) bool {
	c := r.conv
	if !c.Resumed || len(c.State.Messages) == 0 {
		return nil
	}
	last := ""
	_ = json.Unmarshal(c.State.Kept[foreignKind], &last)
	if c.State.Frozen == nil {
		last = c.State.Messages[len(c.State.Messages)-1].ID
		if err := c.Log.Keep(foreignKind, last); err != nil {
			r.warn("remember that earlier thinking is not sent: " + err.Error())
		}
	}
	ids := map[string]bool{}
	for _, m := range c.State.Messages {
		ids[m.ID] = true
		if m.ID == last {
			return func(m msg.Message) bool { return ids[m.ID] }
		}
	}
	return nil
}

// readable reports whether the program itself may read a file again: below the working directories, and no rule
// forbids it.
func (r *run) readable(path string) bool {
	for _, root := range r.tools.workspace.Roots() {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return !r.readDenied(path)
		}
	}
	return false
}

// dirKind is the state record of the directory that commands ended in, where they left the one that the model was
// told of: the next run starts in its own.
const dirKind = "cwd"

// toldDir is the directory that the model of a resumed session takes itself to be in, "" when it was told of none.
func (r *run) toldDir() string {
	dir := ""
	if f := r.conv.State.Frozen; f != nil && r.conv.Resumed {
		dir = f.Dir
	}
	for _, m := range r.conv.State.Messages {
		if m.Kind == msg.KindAttachment && m.Source == "directory" {
			_, dir, _ = strings.Cut(m.Key, " ")
		}
	}
	_ = json.Unmarshal(r.conv.State.Kept[dirKind], &dir)
	r.keptDir = first(dir, r.place.Sys.Dirs.Work)
	return dir
}

// keepDir remembers for later runs where the commands of a turn have ended.
func (r *run) keepDir() {
	dir := r.tools.workspace.Cwd()
	if dir == r.keptDir {
		return
	}
	if err := r.conv.Log.Keep(dirKind, dir); err != nil {
		r.warn("remember the directory: " + err.Error())
		return
	}
	r.keptDir = dir
}

// deferredKind is the state record of the last call that a hook deferred.
const deferredKind = "deferred"

// deferring has the tools stage remember what is deferred, for later turns and later runs.
func (r *run) deferring(d *tools.Deps) {
	last := ""
	_ = json.Unmarshal(r.conv.State.Kept[deferredKind], &last)
	d.Deferred = func() string { return last }
	d.Defer = func(id string) error {
		last = id
		return r.conv.Log.Keep(deferredKind, id)
	}
}
