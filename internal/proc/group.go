package proc

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	maxOutput  = 5 << 30                // a child that writes more is stopped
	killGrace  = time.Second            // from TERM to KILL when time ran out
	quickGrace = 50 * time.Millisecond  // from TERM to KILL when a person or the program's end waits
	drainGrace = 100 * time.Millisecond // how long output may still come after the direct child ended
	runVar     = "LATHE_RUN"            // marks every descendant, so that one that left its group is still found
)

// QuickGrace is the time that Stop should leave a child when somebody waits for the stop.
const QuickGrace = quickGrace

// ErrClosed is returned by Start when the group was closed.
var ErrClosed = errors.New("the program is ending, nothing new is started")

// Spec says what to start.
type Spec struct {
	Args   []string  // program, looked up in PATH, and its arguments
	Dir    string    // working directory
	Env    []string  // the whole environment; see Env
	Stdin  []byte    // what the child reads; nil is an empty input
	Input  *os.File  // what the child reads, instead of Stdin: Start takes it over and closes it, also when it fails
	Out    io.Writer // gets standard output, and standard error too when Err is nil; nil discards
	Err    io.Writer // gets standard error
	Script []byte    // what the child reads on descriptor 3 (not on Windows)
	Report bool      // the child may write a short report on descriptor 4 (not on Windows)
	// Files are further descriptors of the child, after those of Script and Report (not on Windows). Start takes
	// them over and closes them, also when it fails.
	Files []*os.File

	Timeout   time.Duration // for Run: stop the child after this; 0 is never
	Grace     time.Duration // for Run: from TERM to KILL at the timeout; 0 is one second
	MaxOutput int64         // stop the child when it wrote more bytes; 0 is 5 GB
}

// Group owns child processes. Its zero value is ready; it is safe for concurrent use. What is still alive, be it
// a child or what a child left behind, dies with KillAll, with Close, and with the program.
type Group struct {
	mu     sync.Mutex
	closed bool
	count  int
	token  string
	procs  map[*Proc]struct{} // running, or ended with survivors
	wg     sync.WaitGroup
	guard  watchdog
	spawn  spawner
}

// Start starts a child and returns at once. The child is not bound to a context: Stop it, or use Run.
func (g *Group) Start(spec Spec) (*Proc, error) {
	defer closeAll(spec.Files)
	if spec.Input != nil {
		defer spec.Input.Close()
	}
	if len(spec.Args) == 0 {
		return nil, errors.New("start a program: no program given")
	}
	mark, err := g.enter()
	if err != nil {
		return nil, err
	}
	defer g.wg.Done() // each goroutine of the child holds the group open by itself
	p := &Proc{group: g, spec: spec, mark: mark, started: time.Now(), reaped: make(chan struct{}), done: make(chan struct{})}
	p.cmd = exec.Command(spec.Args[0], spec.Args[1:]...)
	p.cmd.Dir = spec.Dir
	p.cmd.Env = marked(spec.Env, mark)
	p.cmd.SysProcAttr = sysProcAttr()
	theirs, err := p.pipes()
	if err == nil {
		g.spawn.do(func() { err = p.cmd.Start() })
	}
	closeAll(theirs)
	if err != nil {
		closeAll(p.ours)
		return nil, fmt.Errorf("start %s: %w", spec.Args[0], err)
	}
	p.pid = p.cmd.Process.Pid
	p.tree = newTree(p.cmd.Process, p.ended)
	g.register(p)
	p.launch()
	return p, nil
}

// enter counts a new run and starts the watchdog with the first one.
func (g *Group) enter() (mark string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return "", ErrClosed
	}
	if g.procs == nil {
		var raw [8]byte
		_, _ = rand.Read(raw[:]) // never fails
		g.token = hex.EncodeToString(raw[:])
		g.procs = map[*Proc]struct{}{}
		g.guard.start(":" + g.token + ".")
	}
	for p := range g.procs { // forget what has died since
		if p.ended() && !p.tree.known() {
			g.forget(p)
		}
	}
	g.count++
	g.wg.Add(1)
	return fmt.Sprintf(":%s.%d:", g.token, g.count), nil
}

// register makes the child known to KillAll and the watchdog. A child started while the group was being closed
// is stopped.
func (g *Group) register(p *Proc) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.procs[p] = struct{}{}
	g.guard.tell('+', p.pid)
	if g.closed {
		p.stopped.Store(true)
		p.tree.kill()
	}
}

// leave is called when the direct child was reaped: its group stays known only while something lives in it.
func (g *Group) leave(p *Proc, survivors bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if survivors {
		g.guard.tell('~', p.pid)
		return
	}
	g.forget(p)
}

func (g *Group) forget(p *Proc) {
	g.guard.tell('-', p.pid)
	p.tree.close()
	delete(g.procs, p)
}

// KillAll stops every child and all that children left behind: TERM, 50 ms, KILL. It returns within 100 ms.
func (g *Group) KillAll() {
	procs, token := g.living()
	if token == "" {
		return
	}
	for _, p := range procs {
		p.stopped.Store(true)
		p.tree.term()
	}
	poll(quickGrace, func() bool {
		for _, p := range procs {
			if !p.gone() {
				return false
			}
		}
		return true
	})
	for _, p := range procs {
		p.tree.kill()
	}
	killMarked(":" + token + ".")
}

// End refuses new children and kills the living ones, as Close does, but waits for nothing else: the process is
// about to exit.
func (g *Group) End() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.KillAll()
}

func (g *Group) living() ([]*Proc, string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	procs := make([]*Proc, 0, len(g.procs))
	for p := range g.procs {
		procs = append(procs, p)
	}
	return procs, g.token
}

// Close refuses new children, kills the living ones, waits for every goroutine and ends the watchdog. It may be
// called more than once.
func (g *Group) Close() {
	g.mu.Lock()
	again := g.closed
	g.closed = true
	g.mu.Unlock()
	if again {
		return
	}
	g.KillAll()
	procs, _ := g.living()
	for _, p := range procs {
		p.abandon()
	}
	g.wg.Wait()
	g.mu.Lock()
	for p := range g.procs {
		g.forget(p)
	}
	g.mu.Unlock()
	g.spawn.stop()
	g.guard.stop()
}

// poll asks again and again until ok says yes or the time is over; it reports the last answer.
func poll(limit time.Duration, ok func() bool) bool {
	end := time.Now().Add(limit)
	for wait := time.Millisecond; ; wait = min(2*wait, 10*time.Millisecond) {
		if ok() {
			return true
		}
		left := time.Until(end)
		if left <= 0 {
			return false
		}
		time.Sleep(min(wait, left))
	}
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
