package bash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe/internal/proc"
	"lathe/internal/tool"
)

const (
	progressEvery = 200 * time.Millisecond
	keepOutput    = 80 << 10 // bytes of head and of tail that stay in memory at least
	progressLimit = 8 << 10  // bytes of new output that one report carries
	stopGrace     = time.Second
)

// job is one command on its way.
type job struct {
	*bash
	in      input
	callID  string
	timeout time.Duration
	watch   time.Duration // how long a watch lasts; 0: it is none
	dir     string        // where it started
	notes   []string
	byUser  bool // a person put it in the background

	p    *proc.Proc
	out  *proc.Output
	sent int64 // output that progress was told of
	end  SandboxEnd
}

// run starts the command and returns when it ended, was stopped, or went to the background.
func (j *job) run(ctx context.Context, progress tool.Progress) (tool.Result, error) {
	if err := ctx.Err(); err != nil {
		return tool.Result{}, err
	}
	detached := j.Tasks.enter(j) // before the start, which may take a while
	defer j.Tasks.leave(j)
	if err := j.start(); err != nil {
		return tool.Result{}, err
	}
	if j.p == nil {
		return j.inTerminal(ctx)
	}
	if j.in.Background && j.Background {
		return j.toBackground(false)
	}
	limit := time.NewTimer(j.timeout)
	defer limit.Stop()
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-detached:
			j.byUser = true
			return j.toBackground(false)
		case <-j.p.Done():
			return j.finish(outcome{Exit: j.p.Exit()})
		case <-ctx.Done():
			j.p.Stop(proc.QuickGrace)
			e := j.p.Exit()
			return j.finish(outcome{Exit: e, interrupted: e.Stopped})
		case <-limit.C:
			if j.Background && !waitsOnly(j.in.Command) {
				return j.toBackground(true)
			}
			j.p.Stop(stopGrace)
			e := j.p.Exit()
			return j.finish(outcome{Exit: e, timedOut: e.Stopped})
		case <-tick.C:
			j.report(progress)
		}
	}
}

// waitsOnly reports that a command begins by sleeping: nobody wants such a one to go on in the background.
func waitsOnly(command string) bool {
	words := strings.Fields(command)
	return len(words) > 0 && words[0] == "sleep"
}

func (j *job) start() error {
	j.dir = j.Workspace.Cwd()
	if fi, err := os.Stat(j.dir); err != nil || !fi.IsDir() {
		j.reset()
		j.dir = j.Workspace.Cwd()
	}
	spec, err := j.spec(j.in.Command, j.dir)
	if err != nil {
		return err
	}
	name := "bash-" + fileName(j.callID)
	opt := proc.OutputOptions{Keep: max(keepOutput, j.limits.inline), Create: func() (*os.File, error) { return create(j.ResultsDir(), name, ".txt") }}
	if j.Clean != nil {
		opt.Clean = j.Clean()
	}
	j.out = proc.NewOutput(opt)
	spec.Out = j.out
	plain := slices.Clone(spec.Args)
	if j.end, err = j.Sandbox(&spec, j.in.Command, j.in.NoSandbox); err != nil {
		return err
	}
	if j.watch == 0 && j.forEditor(slices.Equal(plain, spec.Args)) {
		return nil
	}
	if j.p, err = j.Procs.Start(spec); err != nil {
		j.end.call(true, "")
	}
	return err
}

// call is nothing for a command that runs unconfined.
func (e SandboxEnd) call(failed bool, output string) []string {
	if e == nil {
		return nil
	}
	return e(failed, output)
}

func (j *job) report(progress tool.Progress) {
	text, next, _ := j.out.Since(j.sent, progressLimit)
	j.sent = next
	if text != "" && progress != nil {
		progress(text)
	}
}

// reset brings the working directory back to where the session started.
func (j *job) reset() {
	j.Workspace.SetCwd(j.Workspace.Start())
	j.notes = append(j.notes, "Shell cwd was reset to "+j.Workspace.Start())
}

// follow takes over the directory that the command ended in.
func (j *job) follow(report []byte) {
	lines := strings.Split(strings.TrimRight(string(report), "\n"), "\n")
	dir := lines[len(lines)-1]
	if dir == j.dir || !filepath.IsAbs(dir) || keepsDir(j.Sys.Getenv) {
		return
	}
	if fi, err := os.Stat(dir); err != nil || !fi.IsDir() || !inside(dir, j.Workspace.Roots()) {
		j.reset()
		return
	}
	j.Workspace.SetCwd(dir)
}

func keepsDir(getenv func(string) string) bool {
	v := getenv("CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR")
	return v != "" && v != "0" && v != "false"
}

// inside reports whether dir, which has no links in it, is one of the roots or below one.
func inside(dir string, roots []string) bool {
	for _, root := range roots {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			root = real
		}
		if rel, err := filepath.Rel(root, dir); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// create makes a new file for an output, with a number in its name where the name is taken.
func create(dir, name, ext string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for outputs: %w", err)
	}
	for i := 1; ; i++ {
		path := filepath.Join(dir, name+ext)
		if i > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d%s", name, i, ext))
		}
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if !os.IsExist(err) {
			return f, err
		}
	}
}

// fileName keeps what is harmless in a file's name.
func fileName(id string) string {
	keep := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return -1
	}
	id = strings.Map(keep, id)
	return id[:min(len(id), 64)]
}
