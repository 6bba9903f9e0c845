package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lathe/internal/event"
	"lathe/internal/git"
	"lathe/internal/msg"
	"lathe/internal/proc"
	"lathe/internal/sys"
)

// statusLimit is how long the user's status line command may run.
const statusLimit = 5 * time.Second

// statusLine is the setting of that name.
type statusLine struct {
	Type    string  `json:"type"`
	Command string  `json:"command"`
	Padding int     `json:"padding"`
	Refresh float64 `json:"refreshInterval"` // seconds
}

// statusLine is the user's own status line, where there is one and it may run: settings of a folder count only when it
// is trusted, and switching hooks off switches it off too.
func (r *run) statusLine() statusLine {
	var out statusLine
	st := r.place.Settings
	if st.Granted("disableAllHooks", false) {
		return out
	}
	st.DecodeGranted("statusLine", &out)
	if out.Type != "command" || r.place.FromProject("statusLine") && !r.place.RunsAsApproved(out.Command, nil, r.place.Sys.Dirs.Work) {
		return statusLine{}
	}
	return out
}

func (r *run) branch() string {
	if r.place.Root == "" {
		return ""
	}
	return git.Branch(r.place.Root)
}

// runStatusLine runs the user's command with the documented JSON on its standard input. A newer run ends the one before.
func (r *run) runStatusLine(ctx context.Context, payload json.RawMessage) (any, error) {
	var in struct{ Columns, Lines int }
	_ = json.Unmarshal(payload, &in)
	line := r.statusLine()
	if line.Command == "" {
		return map[string]any{"lines": []string{}}, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.statusMu.Lock()
	if r.statusStop != nil {
		r.statusStop()
	}
	r.statusStop = cancel
	r.statusRun++
	mine := r.statusRun
	r.statusMu.Unlock()
	var out limitedBuffer
	env := append(r.place.Sys.Environ(), fmt.Sprint("COLUMNS=", in.Columns), fmt.Sprint("LINES=", in.Lines))
	exit, err := r.procs.Run(ctx, proc.Spec{
		Args: []string{"/bin/sh", "-c", line.Command}, Dir: r.place.Sys.Dirs.Work, Env: proc.Env(env), Out: &out, Err: io.Discard,
		Stdin: event.Encode(r.statusInput()), Timeout: statusLimit, MaxOutput: 64 << 10,
	})
	r.statusMu.Lock()
	stale := mine != r.statusRun
	r.statusMu.Unlock()
	lines := []string{}
	if err == nil && exit.Code == 0 && !exit.TimedOut {
		for _, l := range strings.Split(strings.TrimRight(out.String(), "\n"), "\n") {
			if l != "" && len(lines) < 5 {
				lines = append(lines, l)
			}
		}
	}
	return map[string]any{"lines": lines, "stale": stale}, nil
}

// statusInput is the documented input of a status line command.
func (r *run) statusInput() map[string]any {
	t := r.ledger.Totals()
	model := r.session.Model()
	info := r.prices.Info(model)
	work := r.place.Sys.Dirs.Work
	project := r.place.Root
	if project == "" {
		project = work
	}
	var last *msg.Usage
	for _, m := range r.session.Messages() {
		switch {
		case m.Kind == msg.KindAssistant && m.Usage != nil:
			last = m.Usage
		case m.Subtype == msg.SubCompactBoundary:
			last = nil
		}
	}
	window := map[string]any{
		"context_window_size": info.Window, "used_percentage": nil, "remaining_percentage": nil, "current_usage": nil,
		"total_input_tokens": 0, "total_output_tokens": 0,
	}
	if last != nil {
		used := 100 * float64(last.Prompt()) / float64(max(1, info.Window))
		window["used_percentage"], window["remaining_percentage"] = used, 100-used
		window["current_usage"] = map[string]int{
			"input_tokens": last.Input, "output_tokens": last.Output,
			"cache_creation_input_tokens": last.CacheWrite, "cache_read_input_tokens": last.CacheRead,
		}
	}
	status := map[string]any{
		"hook_event_name": "Status", "session_id": r.conv.Log.ID(), "transcript_path": r.conv.Log.Path(), "cwd": r.tools.workspace.Cwd(), "version": sys.Version,
		"model":        map[string]string{"id": model, "display_name": filepath.Base(model)},
		"workspace":    map[string]any{"current_dir": r.tools.workspace.Cwd(), "project_dir": project, "added_dirs": r.dirs},
		"output_style": map[string]string{"name": r.style().Name},
		"cost": map[string]any{
			"total_cost_usd": t.Cost, "total_duration_ms": t.Wall.Milliseconds(), "total_api_duration_ms": t.API.Milliseconds(),
			"total_lines_added": t.Added, "total_lines_removed": t.Removed,
		},
		"context_window": window, "exceeds_200k_tokens": last != nil && last.Total() > 200_000,
		"fast_mode": r.fastState(model) == fastOn, "thinking": map[string]bool{"enabled": r.thinks()},
	}
	if e := info.Clamp(r.session.Effort()); e != "" {
		status["effort"] = map[string]string{"level": e}
	}
	return status
}

// limitedBuffer keeps the first 8 KB that are written to it.
type limitedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *limitedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if room := 8<<10 - l.b.Len(); room > 0 {
		l.b.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

func (l *limitedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
