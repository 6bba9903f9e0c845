package app

import (
	"context"
	"path/filepath"

	"lathe/internal/app/filewatch"
	"lathe/internal/hook"
)

// newFileWatch watches the files that FileChanged hooks wait for: those that their matchers name, where the session works,
// and those that hooks have named with watchPaths.
func (h *hooks) newFileWatch() *filewatch.Watch {
	return &filewatch.Watch{
		Names: func() ([]string, string) {
			names, _ := h.bus.Files()
			return names, h.r.tools.workspace.Cwd()
		},
		Changed: h.fileWasChanged,
	}
}

// watchFiles begins to watch, or watches further paths. Nothing is watched where no hook waits for it.
func (h *hooks) watchFiles(paths []string) {
	if h.top != nil {
		return // a sub-agent
	}
	if _, ok := h.bus.Files(); !ok {
		return
	}
	abs := make([]string, len(paths))
	for i, p := range paths {
		abs[i] = h.r.tools.workspace.Abs(p)
	}
	h.files.Add(h.ctx, abs)
}

// toldOf reports whether the watch has told of a file as it is now. Else whoever asks tells of it, and the watch does not.
func (h *hooks) toldOf(path string) bool {
	if h.top != nil {
		return h.top.files.Told(path)
	}
	return h.files.Told(path)
}

// fileWasChanged tells hooks of a change.
func (h *hooks) fileWasChanged(ctx context.Context, c filewatch.Change) {
	name := filepath.Base(c.Path)
	if !h.bus.Has(hook.FileChanged, name) {
		return
	}
	h.r.prepareEnvFile()
	o := h.bus.Fire(ctx, hook.Payload{Event: hook.FileChanged, Match: name, Fields: map[string]any{"file_path": c.Path, "event": c.What}})
	h.tell(o)
	if len(o.Watch) > 0 {
		h.watchFiles(o.Watch)
	}
}
