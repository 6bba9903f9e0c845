package proc

import (
	"context"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// Proc is a started child.
type Proc struct {
	group   *Group
	spec    Spec
	cmd     *exec.Cmd
	pid     int
	tree    *tree
	mark    string // found in the environment of every descendant
	started time.Time

	ours     []*os.File // our ends of the pipes
	pumps    []*pump
	stdin    *os.File // we write; nil without Stdin
	script   *os.File // we write; nil without Script
	report   *os.File // we read; nil without Report
	stopped  atomic.Bool
	overflow atomic.Bool

	reaped chan struct{} // closed when the direct child was waited for
	done   chan struct{} // closed when exit is complete
	exit   Exit
}

// Exit tells how a run ended.
type Exit struct {
	Code     int    // of the direct child; 128 and the signal's number when a signal ended it
	Signal   string // the signal that ended it, such as "killed"; else empty
	Stopped  bool   // Stop, KillAll or too much output ended it
	TimedOut bool   // Run's timeout ended it
	Overflow bool   // it wrote more than Spec.MaxOutput
	Held     bool   // something that it started still holds the output
	Left     []Left // what it left running, as far as the system tells; of a stopped run what may just be ending
	Report   []byte // what it wrote on descriptor 4
	Took     time.Duration
}

// Left is a process that outlived the direct child.
type Left struct {
	Pid  int
	Name string
}

// Pid is the direct child's process id, which is its process group's too.
func (p *Proc) Pid() int { return p.pid }

// Done is closed when the direct child ended and its output was taken in. What it left behind may go on writing
// to Spec.Out until it ends or is killed.
func (p *Proc) Done() <-chan struct{} { return p.done }

// Exit waits for Done and tells how it ended.
func (p *Proc) Exit() Exit { <-p.done; return p.exit }

// Stop sends TERM to all that the child started, waits up to grace for them to go, and then kills what is left,
// also what left the process group. It returns when the direct child is gone. It may be called at any time, from
// several goroutines, also after Done.
func (p *Proc) Stop(grace time.Duration) {
	if !p.ended() {
		p.stopped.Store(true)
	}
	p.tree.term()
	poll(grace, p.gone)
	p.tree.kill()
	killMarked(p.mark)
	select {
	case <-p.reaped:
	case <-time.After(2 * time.Second): // stuck in the kernel: nothing more can be done
	}
}

func (p *Proc) ended() bool {
	select {
	case <-p.reaped:
		return true
	default:
		return false
	}
}

// gone reports that neither the direct child nor anything in its group is left.
func (p *Proc) gone() bool { return p.ended() && !p.tree.alive() }

// pipes opens the child's files and returns those that are to be closed here once it runs.
func (p *Proc) pipes() (theirs []*os.File, err error) {
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		r, w, err = os.Pipe()
		return r, w
	}
	keep := func(mine, other *os.File) {
		if err == nil {
			p.ours, theirs = append(p.ours, mine), append(theirs, other)
		}
	}
	add := func(w io.Writer) *os.File {
		mine, other := pipe()
		keep(mine, other)
		p.pumps = append(p.pumps, &pump{r: mine, w: w, proc: p, settled: make(chan struct{}), eof: make(chan struct{})})
		return other
	}
	out := add(p.spec.Out)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	if p.spec.Err != nil {
		p.cmd.Stderr = add(p.spec.Err)
	}
	if p.spec.Input != nil {
		p.cmd.Stdin = p.spec.Input
	} else if p.spec.Stdin != nil {
		r, w := pipe()
		keep(w, r)
		p.cmd.Stdin, p.stdin = r, w
	}
	if p.spec.Script != nil {
		r, w := pipe()
		keep(w, r)
		p.cmd.ExtraFiles, p.script = append(p.cmd.ExtraFiles, r), w
	}
	if p.spec.Report {
		r, w := pipe()
		keep(r, w)
		p.cmd.ExtraFiles, p.report = append(p.cmd.ExtraFiles, w), r
	}
	p.cmd.ExtraFiles = append(p.cmd.ExtraFiles, p.spec.Files...)
	return theirs, err
}

// launch starts the goroutines of a child that runs.
func (p *Proc) launch() {
	wg := &p.group.wg
	feed := func(f *os.File, data []byte) {
		if f != nil {
			wg.Go(func() { _, _ = f.Write(data); _ = f.Close() }) // a child that does not read ends this by ending
		}
	}
	feed(p.stdin, p.spec.Stdin)
	feed(p.script, p.spec.Script)
	for _, pu := range p.pumps {
		wg.Go(pu.run)
	}
	wg.Go(p.wait)
}

// wait reaps the direct child and completes the exit, without waiting for whatever it left behind.
func (p *Proc) wait() {
	_ = p.cmd.Wait() // the state says it all
	close(p.reaped)
	if p.stdin != nil {
		_ = p.stdin.Close()
	}
	if p.script != nil {
		_ = p.script.Close()
	}
	end := time.Now().Add(drainGrace)
	for _, pu := range p.pumps {
		pu.settle(end)
	}
	e := Exit{Took: time.Since(p.started), Overflow: p.overflow.Load()}
	for _, pu := range p.pumps {
		<-pu.settled
		e.Held = e.Held || !pu.ended()
	}
	if p.report != nil {
		e.Report, _ = sweep(p.report, 64<<10)
		_ = p.report.Close()
	}
	e.Stopped = p.stopped.Load() || e.Overflow
	e.Code, e.Signal = status(p.cmd.ProcessState)
	if e.Held || p.tree.alive() {
		e.Left = listMarked(p.mark)
	}
	p.exit = e
	p.group.leave(p, p.tree.known())
	close(p.done)
}

// abandon lets go of output that something unkillable still holds.
func (p *Proc) abandon() {
	poll(quickGrace, func() bool {
		for _, pu := range p.pumps {
			if !pu.ended() {
				return false
			}
		}
		return true
	})
	for _, pu := range p.pumps {
		_ = pu.r.Close()
	}
}

// Run starts a child and waits for its end, for the timeout or for the end of ctx, which stop it. The error says
// that it could not be started; how it ended is in Exit.
func (g *Group) Run(ctx context.Context, spec Spec) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, err
	}
	p, err := g.Start(spec)
	if err != nil {
		return Exit{}, err
	}
	var timeout <-chan time.Time
	if spec.Timeout > 0 {
		t := time.NewTimer(spec.Timeout)
		defer t.Stop()
		timeout = t.C
	}
	timedOut := false
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Stop(quickGrace)
	case <-timeout:
		timedOut = true
		p.Stop(graceOr(spec.Grace))
	}
	e := p.Exit()
	e.TimedOut = timedOut && e.Stopped
	return e, nil
}

func graceOr(d time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return killGrace
}
