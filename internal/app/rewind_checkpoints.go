package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"lathe/internal/checkpoint"
	"lathe/internal/event"
	"lathe/internal/file"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/proc"
	"lathe/internal/sys"
	"lathe/internal/tool"
	"lathe/internal/tool/bash"
	"lathe/internal/tool/plan"
	"lathe/internal/turn"
)

// errNoCheckpoints says how to get checkpoints where there are none.
var errNoCheckpoints = errors.New("file checkpoints are off; they are on in a terminal unless fileCheckpointingEnabled is false, " +
	"and for hosts and print mode with CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=true")

// openCheckpoints keeps what files were before they are changed, where that is wanted: in a terminal unless the settings
// say no, elsewhere when the environment asks for it, and in print mode where the session has kept some before.
func (r *run) openCheckpoints() {
	var store *checkpoint.Store
	switch {
	case r.agent != nil && r.agent.tree != nil: // a rewind leaves its work tree alone
	case r.agent != nil:
		store = r.agent.parent.checkpoints.Load()
	default:
		store = r.newCheckpoints()
	}
	if left := r.checkpoints.Swap(store); left != nil {
		left.Close() // of the session that was left
	}
	r.tools.files.Keep = nil
	if store != nil {
		r.tools.files.Keep = func(path string, old *file.File, data []byte) error { return store.Keep("edit", path, old, data) }
	}
}

func (r *run) newCheckpoints() *checkpoint.Store {
	dir := filepath.Join(r.resultsDir(), "..", "checkpoints")
	if r.conv.Folder() == "" {
		dir = filepath.Join(r.resultsDir(), "checkpoints") // goes with the run
	}
	getenv := r.place.Sys.Getenv
	switch {
	case sys.IsOn(getenv("CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING")), !r.place.Settings.Bool("fileCheckpointingEnabled", true):
		return nil
	case r.o.Print && !sys.IsOn(getenv("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING")) && (r.o.Host != nil || !isDir(dir)):
		return nil
	}
	return checkpoint.Open(checkpoint.Options{
		Dir: dir, Now: r.place.Sys.Now, NewID: r.place.Sys.NewID,
		Exclude: []string{
			r.place.Sys.Dirs.State, r.place.Sys.Dirs.Config, filepath.Join(first(r.place.Root, r.place.Sys.Dirs.Work), ".claude", "worktrees"),
		},
		Refuse: r.refuseBack,
	})
}

// beginTurn is called before a turn is announced.
func (r *run) beginTurn(ctx context.Context, t *turn.Turn) ([]msg.Message, error) {
	r.next.end()
	r.hooks.wakeUp(false)
	if err := r.beginServers(ctx, t); err != nil {
		return nil, err
	}
	r.mark(t.Input)
	if err := r.tellCommands(t); err != nil {
		return nil, err
	}
	if r.hooks == nil {
		return nil, nil
	}
	return r.hooks.begin(ctx, t)
}

// mark begins a checkpoint for a prompt of a person or host; what a sub-agent or a turn for ended work changes belongs to
// the one before. Where that fails the turn goes on: an edit that cannot be taken back is refused then, with the reason.
func (r *run) mark(p event.Prompt) {
	store := r.checkpoints.Load()
	if store == nil || r.agent != nil || p.Origin != "" {
		return
	}
	if err := store.Begin(p.ID); err != nil {
		r.warn(err.Error())
	}
}

// putBack goes back to the files of before a prompt. What was put back must be read again before it is edited.
func (r *run) putBack(ctx context.Context, prompt string, force bool) (*checkpoint.Plan, error) {
	store := r.checkpoints.Load()
	if store == nil {
		return nil, errNoCheckpoints
	}
	p, err := store.Apply(ctx, prompt, force, r.tools.files.Lock)
	if p != nil {
		for _, c := range p.Changes {
			r.tools.files.Forget(c.Path)
		}
	}
	return p, err
}

// planBack tells what putBack would do.
func (r *run) planBack(prompt string, force bool) (*checkpoint.Plan, error) {
	store := r.checkpoints.Load()
	if store == nil {
		return nil, errNoCheckpoints
	}
	return store.Plan(prompt, force)
}

// seenAgain makes the read cache that of a shorter conversation.
func (r *run) seenAgain(messages []msg.Message, but []checkpoint.Change) {
	for path := range r.tools.files.All() {
		r.tools.files.Forget(path)
	}
	r.tools.files.Restore(messages, r.readable)
	for _, c := range but {
		r.tools.files.Forget(c.Path)
	}
	r.tools.todos.Restore(messages)
	r.plan.mu.Lock()
	r.plan.now, r.plan.on = plan.Restore(messages)
	r.plan.mu.Unlock()
}

// watched wraps a command for the Bash tool: what it changes is kept, and it runs confined where that is wanted. A
// command that only reads is not watched.
func (r *run) watched(spec *proc.Spec, command string, leave bool) (bash.SandboxEnd, error) {
	var w *checkpoint.Watch
	if store := r.checkpoints.Load(); store != nil && !r.onlyReads(command) {
		w = store.Watch(context.Background(), "Bash", append(r.tools.workspace.Roots(), r.tools.workspace.Cwd()))
	}
	end, err := r.confine(spec, command, leave)
	if err != nil {
		w.Drop()
		return nil, err
	}
	if w == nil {
		return end, nil
	}
	return func(failed bool, output string) (notes []string) {
		if end != nil {
			notes = end(failed, output)
		}
		if err := w.End(context.Background()); err != nil {
			r.warn(err.Error())
		}
		return notes
	}, nil
}

// onlyReads reports whether every part of a command is one that changes nothing, whatever the rules and the mode say.
func (r *run) onlyReads(command string) bool {
	in, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return false
	}
	env := r.env()
	env.Rules, env.Mode, env.Sandbox = nil, perm.ModeDefault, perm.Sandbox{}
	d := perm.Decide(perm.Request{Tool: "Bash", Input: in}, env)
	return d.Verdict == perm.Allow && d.Source.Kind == "readonly"
}

// readSeed names a file as a host saw the model read it; the time is that of its content, in whole milliseconds.
type readSeed struct {
	Path  string  `json:"path"`
	MTime float64 `json:"mtime"`
}

// seedReadState takes a host's word that the conversation has seen a file, where the file is that very one still. Any
// other goes on to need a read before it is edited, which is no error.
func (r *run) seedReadState(_ context.Context, in readSeed) (any, error) {
	real, err := file.Resolve(r.tools.workspace.Abs(in.Path))
	if err != nil {
		return nil, fmt.Errorf("seed_read_state: %w", err)
	}
	if !r.readable(real) {
		return nothing{}, nil
	}
	f, err := file.Load(real, file.MaxSize)
	if err == nil && f.Info.ModTime().UnixMilli() == int64(in.MTime) {
		r.tools.files.Put(real, tool.State(f.Data, f.Info))
	}
	return nothing{}, nil
}
