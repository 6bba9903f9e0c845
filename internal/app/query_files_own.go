package app

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/complete"
	"lathe/internal/event"
	"lathe/internal/proc"
)

// ownSuggestLimit is how long the user's command for @ completion may run.
const ownSuggestLimit = 5 * time.Second

// suggestCommand is the command of the setting fileSuggestion, "" for none. Settings of a folder count only when it is trusted, and
// switching hooks off switches it off too.
func (r *run) suggestCommand() string {
	var v struct{ Type, Command string }
	st := r.place.Settings
	if st.Granted("disableAllHooks", false) {
		return ""
	}
	st.DecodeGranted("fileSuggestion", &v)
	if v.Type != "command" || r.place.FromProject("fileSuggestion") && !r.place.RunsAsApproved(v.Command, nil, r.tools.workspace.Start()) {
		return ""
	}
	return v.Command
}

// ownSuggestions runs the user's command: {"query": …} on its standard input, a path a line on its output. It reports false where
// there is none, or it fails: then the index answers.
func (r *run) ownSuggestions(ctx context.Context, query string, limit int) ([]complete.Suggestion, bool) {
	command := r.suggestCommand()
	if command == "" {
		return nil, false
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r.suggest.mu.Lock()
	if r.suggest.stop != nil { // what was typed before: each letter asks anew
		r.suggest.stop()
	}
	r.suggest.stop = stop
	r.suggest.mu.Unlock()
	root := r.tools.workspace.Start()
	var out limitedBuffer
	exit, err := r.procs.Run(ctx, proc.Spec{
		Args: []string{"/bin/sh", "-c", command}, Dir: root, Env: proc.Env(append(r.place.Sys.Environ(), "CLAUDE_PROJECT_DIR="+root)), Out: &out, Err: io.Discard,
		Stdin:   event.Encode(map[string]string{"query": query, "cwd": root, "session_id": r.conv.Log.ID()}),
		Timeout: ownSuggestLimit, MaxOutput: 64 << 10,
	})
	if err != nil || ctx.Err() != nil || exit.Code != 0 || exit.TimedOut {
		return nil, false
	}
	list := []complete.Suggestion{}
	for l := range strings.Lines(out.String()) {
		path := filepath.ToSlash(strings.TrimSpace(l))
		if path == "" || len(list) == limit || event.InertLine(path) != path {
			continue
		}
		full := filepath.FromSlash(path)
		if !filepath.IsAbs(full) {
			full = filepath.Join(root, full)
		}
		if !r.readDenied(full) {
			list = append(list, complete.Suggestion{Path: path, Dir: strings.HasSuffix(path, "/")})
		}
	}
	return list, true
}
