package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"

	"lathe/internal/agent"
	"lathe/internal/checkpoint"
	"lathe/internal/config"
	"lathe/internal/engine"
	"lathe/internal/event"
	"lathe/internal/front/headless"
	"lathe/internal/memory"
	"lathe/internal/perm"
	"lathe/internal/pipeline/account"
	"lathe/internal/pipeline/attach"
	"lathe/internal/pipeline/compact"
	"lathe/internal/pipeline/input"
	"lathe/internal/pipeline/tools"
	"lathe/internal/place"
	"lathe/internal/price"
	"lathe/internal/proc"
	"lathe/internal/session"
	"lathe/internal/tool"
	"lathe/internal/trace"
	"lathe/internal/turn"
)

// run is one conversation of a run of the program with what was built for it: the session's own, or that of one of
// its sub-agents, which share the common part.
type run struct {
	*common
	agent *agentPart // of a sub-agent; nil for the session itself

	place *place.Place // a sub-agent has a copy: settings that change later are the session's own
	conv  *conversation
	tools *toolset

	keptDir string // where the model takes itself to be, as the session's file says

	session     *engine.Session
	toolStage   *tools.Stage
	input       input.Deps
	compact     *compact.Stage
	ledger      *account.Ledger
	keeper      *keeper
	hooks       *hooks           // nil where there are none
	relevant    *attach.Relevant // nil where nothing is asked
	trace       atomic.Pointer[trace.File]
	plan        planning
	outputStyle outputStyle
	paired      atomic.Pointer[string] // see pair
	notes       *agentNotes            // of the agent that it works by; nil: it keeps none

	custom customState // of skills and commands of files
	left   leftSessions

	checkpoints atomic.Pointer[checkpoint.Store] // of files; a sub-agent has those of the session that it began in; nil: files are not kept

	suggest suggester // of files
	next    nextPrompt
	page    page // of the inspector

	queryOnce  sync.Once
	queryTable map[string]answer

	touchedMu    sync.Mutex
	touched      []string                 // files of this turn's calls, for memory files of deeper directories
	thinkingNow  atomic.Pointer[thinking] // what a host has changed; nil: nothing
	noThinking   atomic.Bool              // switched off for now
	dropThinking bool
	dropMismatch bool
}

// common is what the conversations of a run of the program share.
type common struct {
	o       *options
	st      Streams
	model   *modelSource
	procs   proc.Group // every child of the run
	sandbox confinement
	prices  *price.Table
	halted  atomic.Bool // the process is about to exit: nothing more is done

	book  atomic.Pointer[rulebook] // the rules in force
	watch *config.Watcher          // of the settings files
	dirs  []string

	memory memory.Auto // the project's; no directory: off

	servers        *servers            // of MCP; nil where there are none
	skippedServers []event.ServerError // entries of --mcp-config
	serverModes    serverModes

	editor tool.Editor // holds files open; nil: there is none

	given   []agent.Def // agents of the command line or of a host
	plugins atomic.Pointer[plugins]
	main    *agent.Def // what the session itself works by; nil: nothing special
	work    *work      // in the background

	mu        sync.Mutex
	granted   []perm.Rule     // by lasting answers in this session
	running   int             // sub-agents
	agentIDs  map[string]bool // those that were given out
	tempDir   string          // for results of a session that is not kept
	debugFile *os.File

	shells     shellRuns // commands of the person's own
	statusMu   sync.Mutex
	statusStop context.CancelFunc // of the status line command that runs
	statusRun  int

	changing sync.Mutex       // held while settings are looked at anew, or saved
	latest   *config.Settings // as last looked at; the session takes it up with its next call
	approved string           // hash of the grants that the trust in this place is bound to
}

// runPrompt runs one prompt without a terminal.
func runPrompt(o *options, st Streams) int {
	r, err := newRun(o, st)
	if err != nil {
		return report(st, err)
	}
	defer r.close()
	if o.rewindFiles != "" {
		return report(st, r.rewindOnce(o.rewindFiles))
	}
	p, err := r.prompt()
	if err != nil {
		return report(st, err)
	}
	return r.headless(p)
}

// newRun builds a run. Nothing is started yet.
func newRun(o *options, st Streams) (*run, error) {
	p, err := findPlace(o)
	if err != nil {
		return nil, err
	}
	r := &run{common: &common{o: o, st: st}, place: p}
	r.prices = r.modelTable()
	if err := r.permissions(); err != nil {
		return nil, err
	}
	if err := r.openSandbox(); err != nil {
		return nil, err
	}
	if r.model, err = openModel(o, p, &r.procs); err != nil {
		return nil, err
	}
	if r.conv, err = openSession(o, p, r.prices); err != nil {
		return nil, err
	}
	if o.snapshot == "off" {
		r.conv.state.Frozen = nil // it is made anew
	}
	r.conv.log = session.NewSwitch(r.conv.log)
	r.openPlugins()
	if err := r.openAgents(); err != nil {
		return nil, err
	}
	r.editor = r.openEditor()
	if r.tools, err = r.newToolset(); err != nil {
		return nil, err
	}
	if err := r.openServers(); err != nil {
		return nil, err
	}
	if err := r.openTrace(); err != nil {
		return nil, err
	}
	return r, r.assemble()
}

// prompt reads the prompt from the command line and standard input.
func (r *run) prompt() (event.Prompt, error) {
	p := event.Prompt{Images: r.o.images, Typed: len(r.o.prompt)}
	initial := r.initialPrompt()
	if initial != "" && r.o.prompt == "" && !isPiped(r.st.In) {
		p.Text, p.Typed = initial, 0
		return p, nil
	}
	if r.o.prompt == "" && len(r.o.images) > 0 && !isPiped(r.st.In) {
		return p, nil
	}
	var err error
	if p.Text, err = promptText(r.o.prompt, r.st.In, r.warn); err == nil && initial != "" {
		p.Text = initial + "\n\n" + p.Text
		p.Typed += len(initial) + 2
	}
	return p, err
}

func (r *run) warn(text string) { fmt.Fprintf(r.st.Err, "lathe: %s\n", event.Aside(text)) }

// headless runs the prompt and returns the exit code.
func (r *run) headless(p event.Prompt) int {
	ctx := context.Background()
	live := r.connect(ctx)
	defer live.stop()
	conn := live.Conn
	interrupted, stop := r.signals(conn)
	defer stop()
	opts := headless.Options{
		Format: headless.Format(r.o.outputFormat), Verbose: r.o.verbose || !r.o.print && r.o.outputFormat == "text",
		Partial: r.o.partial, Replay: r.o.replayed, Stages: r.o.stages, Hooks: r.o.hookEvents, AgentText: r.o.agentText, NewID: r.place.Sys.NewID,
		Terminal: isTerminal(r.st.Out),
	}
	debug, err := r.openDebug()
	if err != nil {
		return report(r.st, err)
	}
	opts.Debug = debug
	result, err := headless.Run(ctx, conn, p, r.st.Out, r.st.Err, opts)
	_ = conn.Send(ctx, event.Close{})
	live.disconnect()
	switch {
	case err == nil, isClosedPipe(err):
	case interrupted() && (errors.Is(err, headless.ErrNoResult) || errors.Is(err, engine.ErrClosed)):
		r.warn("interrupted before anything was done")
	default:
		fmt.Fprintf(r.st.Err, "Error: %s\n", event.Aside(err.Error()))
	}
	if r.o.outputFormat == "text" && r.o.verbose || r.o.stages {
		r.grey(r.summary())
	}
	return exitOf(result, err, interrupted())
}

// openDebug opens the debug log where one was asked for.
func (r *run) openDebug() (*headless.Debug, error) {
	if r.o.debugFile != "" {
		f, err := os.OpenFile(r.o.debugFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, fmt.Errorf("--debug-file: %w", err)
		}
		r.debugFile = f
		return &headless.Debug{Out: f, Filter: r.o.debug, Clean: r.place.Redact.JSON}, nil
	}
	if r.o.debug != "" {
		return &headless.Debug{Out: r.st.Err, Filter: r.o.debug, Clean: r.place.Redact.JSON}, nil
	}
	return nil, nil
}

// tellNotes says what the user should know before the turn starts.
func (r *run) tellNotes() {
	for _, n := range r.place.Settings.Problems {
		r.warn(n)
	}
	for _, n := range append(r.place.Notes, r.conv.state.Notes...) {
		r.warn(n)
	}
}

// grey prints lines on standard error, dimmed where that is a terminal.
func (r *run) grey(lines []string) {
	on, off := "", ""
	if isTerminal(r.st.Err) && r.place.Sys.Getenv("NO_COLOR") == "" {
		on, off = "\x1b[2m", "\x1b[0m"
	}
	for _, l := range lines {
		fmt.Fprintf(r.st.Err, "%s%s%s\n", on, event.InertLine(l), off)
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// signals interrupts the turn at the first SIGINT and ends the program at the second. SIGTERM and SIGHUP kill
// every child and end at once: the turn stays unfinished in the transcript, which is valid at every moment.
// SIGPIPE is caught so that a closed pipe is an error of a write, and not the end of us. A SIGHUP that whoever
// started us ignores (nohup) stays ignored.
func (r *run) signals(conn event.Conn) (interrupted func() bool, stop func()) {
	ch := make(chan os.Signal, 4)
	caught := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE}
	if !signal.Ignored(syscall.SIGHUP) {
		caught = append(caught, syscall.SIGHUP)
	}
	signal.Notify(ch, caught...)
	done := make(chan struct{})
	var mu sync.Mutex
	seen := false
	go func() {
		for {
			select {
			case s := <-ch:
				switch s {
				case syscall.SIGPIPE:
					continue
				case os.Interrupt:
					mu.Lock()
					again := seen
					seen = true
					mu.Unlock()
					if !again {
						_ = conn.Send(context.Background(), event.Interrupt{DropQueued: true})
						_ = conn.Send(context.Background(), event.Close{}) // the prompt may have been waiting still: no turn comes then
						continue
					}
					r.die(exitInterrupted)
				default:
					r.die(exitTerminated)
				}
			case <-done:
				return
			}
		}
	}()
	interrupted = func() bool { mu.Lock(); defer mu.Unlock(); return seen }
	return interrupted, func() { signal.Stop(ch); close(done) }
}

// die ends the process at once, with every child.
func (r *run) die(code int) {
	r.session.Halt() // or the turn would take the end of a killed command for its result, and go on
	r.procs.End()
	r.sandbox.Close()
	os.Exit(code)
}

// close ends what the run has started.
func (r *run) close() {
	r.work.close() // first: sub-agents fire hooks and use the servers
	r.hooks.close()
	r.suggest.close()
	r.next.close()
	r.page.close()
	r.relevant.Close()
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	r.closeServers()
	if err := r.tools.tasks.Close(ctx); err != nil {
		r.warn(err.Error())
	}
	r.procs.Close()
	r.sandbox.Close()
	if store := r.checkpoints.Load(); store != nil {
		store.Close()
	}
	if err := r.conv.log.Close(); err != nil {
		r.warn("close the transcript: " + err.Error())
	}
	if err := r.model.close(); err != nil {
		r.warn("close the recording: " + err.Error())
	}
	for _, f := range r.left.traces {
		_ = f.Close()
	}
	if f := r.trace.Load(); f != nil {
		if failed := f.Close(); failed > 0 {
			r.warn(fmt.Sprintf("%d pieces of the trace could not be written", failed))
		}
	}
	if r.debugFile != nil {
		_ = r.debugFile.Close()
	}
	if r.tempDir != "" {
		_ = os.RemoveAll(r.tempDir)
	}
}

// resultsDir is where large results and background outputs go.
func (r *run) resultsDir() string {
	if r.conv.folder() != "" {
		return r.conv.folder()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tempDir == "" {
		r.tempDir, _ = os.MkdirTemp("", "lathe-results-*")
	}
	return r.tempDir
}

// afterTurn joins the calls that were started early. The files of a turn that was broken off are kept in mind: what belongs
// to them may not have been attached any more, and comes with the next turn.
func (r *run) afterTurn(t *turn.Turn) {
	r.toolStage.Wait()
	if r.agent == nil {
		r.keepDir()
	}
	if t.Stop == nil {
		r.touchedMu.Lock()
		r.touched = nil
		r.touchedMu.Unlock()
	}
	r.custom.endTurn()
	r.hooks.rest(idleAfter)
	r.suggestNext(t)
}
