package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"lathe/internal/proc"
)

const (
	maxOutput = 4 << 20 // bytes of one stream that are kept
	killAfter = time.Second
)

// command runs a program. When it must end early, all that it started ends with it.
func (b *Bus) command(ctx context.Context, p Payload, info eventInfo, h *handler, base Base, in []byte) raw {
	if ctx.Err() != nil {
		return raw{cancelled: true}
	}
	if b.deps.Refuse != nil {
		if why := b.deps.Refuse(h.source, h.Command, h.Args, workDir(base)); why != "" {
			return raw{problem: "it was not run: " + why, held: why}
		}
	}
	spec, err := b.spec(p.Event, h, base, in)
	if err != nil {
		return raw{problem: err.Error()}
	}
	out, errs := newCapture(), newCapture()
	spec.Out, spec.Err = out, errs
	c, err := b.deps.Procs.Start(spec)
	if err != nil {
		return raw{problem: "it could not be started: " + err.Error()}
	}
	limit := h.limit(info)
	if h.Async || h.AsyncRewake {
		b.back.watch(b, p.Event, h, c, out, errs, limit)
		return raw{detached: true}
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.Done():
	case <-out.async: // it says by itself that it goes on in the background
		b.back.watch(b, p.Event, h, c, out, errs, limit)
		return raw{detached: true}
	case <-ctx.Done():
		c.Stop(proc.QuickGrace)
		if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			return raw{problem: "it took too long and was stopped", timedOut: true, stderr: errs.bytes()}
		}
		return raw{cancelled: true, stderr: errs.bytes()}
	case <-timer.C:
		c.Stop(killAfter)
		return raw{problem: fmt.Sprintf("it took longer than %s and was stopped", limit), timedOut: true, stdout: out.bytes(), stderr: errs.bytes()}
	}
	return ended(c.Exit(), out, errs)
}

func ended(e proc.Exit, out, errs *capture) raw {
	r := raw{code: e.Code, exited: true, stdout: out.bytes(), stderr: errs.bytes()}
	if e.Stopped {
		r.problem = "it was stopped"
	}
	return r
}

func (b *Bus) spec(e Event, h *handler, base Base, in []byte) (proc.Spec, error) {
	s := proc.Spec{Dir: workDir(base), Stdin: append(in[:len(in):len(in)], '\n'), Env: b.environment(e, base)}
	if h.Args != nil { // no shell
		put := func(text string) string {
			return expand(text, func(name string) (string, bool) { return base.Project, name == "CLAUDE_PROJECT_DIR" })
		}
		s.Args = []string{put(h.Command)}
		for _, a := range h.Args {
			s.Args = append(s.Args, put(a))
		}
		return s, nil
	}
	var err error
	s.Args, err = b.shell(h)
	return s, err
}

// workDir is where a command runs: where the session works, if that is still there.
func workDir(base Base) string {
	if info, err := os.Stat(base.Cwd); err != nil || !info.IsDir() {
		return base.Project
	}
	return base.Cwd
}

// shell is the argument list of a command line.
func (b *Bus) shell(h *handler) ([]string, error) {
	powershell := h.Shell == "powershell"
	if runtime.GOOS == "windows" && !powershell {
		for _, name := range []string{b.deps.Getenv("CLAUDE_CODE_GIT_BASH_PATH"), "bash"} {
			if path, err := exec.LookPath(name); name != "" && err == nil {
				return []string{path, "-c", h.Command}, nil
			}
		}
		powershell = h.Shell == ""
	}
	switch {
	case powershell:
		for _, name := range []string{"pwsh", "powershell"} {
			if path, err := exec.LookPath(name); err == nil {
				text := strings.ReplaceAll(h.Command, "${CLAUDE_PROJECT_DIR}", "${env:CLAUDE_PROJECT_DIR}")
				return []string{path, "-NoProfile", "-NonInteractive", "-Command", text}, nil
			}
		}
		return nil, errors.New("it needs PowerShell, which is not installed")
	case h.Shell == "bash":
		return []string{"bash", "-c", h.Command}, nil
	}
	return []string{"sh", "-c", h.Command}, nil
}

// environment is the children's environment with what hooks are promised.
func (b *Bus) environment(e Event, base Base) []string {
	var own []string
	for _, kv := range b.deps.Environ() {
		if !strings.HasPrefix(kv, "OTEL_") && !strings.HasPrefix(kv, "CLAUDE_ENV_FILE=") {
			own = append(own, kv)
		}
	}
	extra := []string{
		"CLAUDE_PROJECT_DIR=" + base.Project, "CLAUDE_CODE_CHILD_SESSION=1", "CLAUDE_CODE_SESSION_ID=" + base.Session,
		fmt.Sprintf("CLAUDE_PID=%d", os.Getpid()), "PWD=" + base.Cwd,
	}
	if base.Effort != "" {
		extra = append(extra, "CLAUDE_EFFORT="+base.Effort)
	}
	if setsVariables(e) && base.EnvFile != "" {
		extra = append(extra, "CLAUDE_ENV_FILE="+base.EnvFile)
	}
	return proc.Env(own, extra...)
}

func setsVariables(e Event) bool {
	return e == SessionStart || e == Setup || e == CwdChanged || e == FileChanged
}

// capture keeps the beginning of what a program writes, and notices a first line that asks to go on without it.
type capture struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	first bool // the first line was seen
	async chan struct{}
}

func newCapture() *capture { return &capture{async: make(chan struct{})} }

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.buf.Write(p[:min(len(p), max(0, maxOutput-c.buf.Len()))])
	if line, _, whole := bytes.Cut(c.buf.Bytes(), []byte("\n")); whole && !c.first {
		c.first = true
		var o struct {
			Async bool `json:"async"`
		}
		if looksJSON(line) && json.Unmarshal(line, &o) == nil && o.Async {
			close(c.async)
		}
	}
	return len(p), nil
}

func (c *capture) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.buf.Bytes())
}
