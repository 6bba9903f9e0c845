package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"lathe/internal/agent"
	"lathe/internal/app/conversation"
	"lathe/internal/app/keeper"
	"lathe/internal/app/source"
	"lathe/internal/checkpoint"
	"lathe/internal/config"
	"lathe/internal/engine"
	"lathe/internal/event"
	"lathe/internal/inspect/load"
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
	"lathe/internal/tool/websearch"
	"lathe/internal/trace"
	"lathe/internal/turn"
)

// run is one conversation of a run of the program with what was built for it: the session's own, or that of one of
// its sub-agents, which share the common part.
type run struct {
	*common
	agent *agentPart // of a sub-agent; nil for the session itself

	place *place.Place // a sub-agent has a copy: settings that change later are the session's own
	conv  *conversation.Conversation
	tools *toolset

	keptDir string // where the model takes itself to be, as the session's file says

	session     *engine.Session
	toolStage   *tools.Stage
	input       input.Deps
	compact     *compact.Stage
	ledger      *account.Ledger
	keeper      *keeper.Keeper
	hooks       *hooks           // nil where there are none
	programs    []string         // files that hooks and helpers run
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
	page    load.Page // of the inspector

	queryOnce  sync.Once
	queryTable map[string]answer

	touchedMu    sync.Mutex
	touched      []string                 // files of this turn's calls, for memory files of deeper directories
	thinkingNow  atomic.Pointer[thinking] // what a host has changed; nil: nothing
	noThinking   atomic.Bool              // switched off for now
	fast         fastMode                 // of the main conversation; a sub-agent's is never on
	dropThinking bool
	dropMismatch bool
}

// common is what the conversations of a run of the program share.
type common struct {
	o         *Options
	modeGiven bool // the options name one
	model     *source.Source
	procs     proc.Group // every child of the run
	sandbox   confinement
	prices    *price.Table
	halted    atomic.Bool // the process is about to exit: nothing more is done

	book  atomic.Pointer[rulebook] // the rules in force
	watch *config.Watcher          // of the settings files
	dirs  []string

	memory   memory.Auto       // the project's; no directory: off
	searches *websearch.Budget // of the web; nil where there is no search

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
	toldTools map[string]bool // by agent: which tools it has not was told
	agentIDs  map[string]bool // those that were given out
	tempDir   string          // for results of a session that is not kept

	said       saidNow       // by the person, in the turn that runs
	shells     shellRuns     // commands of the person's own
	clientTurn chan struct{} // full while a call of a client runs
	statusMu   sync.Mutex
	statusStop context.CancelFunc // of the status line command that runs
	statusRun  int

	changing sync.Mutex       // held while settings are looked at anew, or saved
	latest   *config.Settings // as last looked at; the session takes it up with its next call
	approved string           // hash of the grants that the trust in this place is bound to
}

// newRun builds a run. Nothing is started yet.
func newRun(o *Options) (*run, error) {
	p, err := o.FindPlace()
	if err != nil {
		return nil, err
	}
	o.OrNew = o.Host != nil
	r := &run{common: &common{o: o, modeGiven: o.Mode != "", clientTurn: make(chan struct{}, 1)}, place: p}
	r.prices = p.Prices()
	if err := r.permissions(); err != nil {
		return nil, err
	}
	if err := r.openSandbox(); err != nil {
		return nil, err
	}
	if r.model, err = source.Open(o.source(), p, &r.procs); err != nil {
		return nil, err
	}
	if r.conv, err = conversation.Open(o.Which, p, r.prices); err != nil {
		return nil, err
	}
	if o.Refreeze {
		r.conv.State.Frozen = nil // it is made anew
	}
	r.conv.Log = session.NewSwitch(r.conv.Log)
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
	if note := r.missingNote(); note != "" {
		r.place.Notes = append(r.place.Notes, note)
	}
	if err := r.openTrace(); err != nil {
		return nil, err
	}
	return r, r.assemble()
}

func (r *run) warn(text string) { r.o.warn(text) }

// tellNotes says what the user should know before the turn starts.
func (r *run) tellNotes() {
	for _, n := range r.place.Settings.Problems {
		r.warn(n)
	}
	for _, n := range append(joinUntrusted(r.place.Notes), r.conv.State.Notes...) {
		r.warn(n)
	}
}

// untrustedWhy ends the notes of what of a project does not count.
const untrustedWhy = " is not trusted (lathe trust, or --trust for one run)"

// joinUntrusted says once why several parts of a project do not count.
func joinUntrusted(notes []string) []string {
	var out, parts []string
	at := -1
	for _, n := range notes {
		what, ours := strings.CutSuffix(n, untrustedWhy)
		what, colon := strings.CutSuffix(what, ": this project")
		if !colon {
			what, colon = strings.CutSuffix(what, ": it")
		}
		if !ours || !colon {
			out = append(out, n)
			continue
		}
		if parts = append(parts, what); at < 0 {
			at = len(out)
			out = append(out, n)
		}
	}
	if len(parts) > 1 {
		out[at] = "this project" + untrustedWhy + ": " + strings.Join(parts, "; ")
	}
	return out
}

// close ends what the run has started.
func (r *run) close() {
	r.work.close() // first: sub-agents fire hooks and use the servers
	r.hooks.close()
	r.suggest.close()
	r.next.close()
	r.page.Close()
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
	if err := r.conv.Log.Close(); err != nil {
		r.warn("close the transcript: " + err.Error())
	}
	if err := r.model.Close(); err != nil {
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
	if r.tempDir != "" {
		_ = os.RemoveAll(r.tempDir)
	}
}

// resultsDir is where large results and background outputs go.
func (r *run) resultsDir() string {
	if r.conv.Folder() != "" {
		return r.conv.Folder()
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
		r.forgetModel(t)
		r.said.forget() // the session has them now, where they were not taken back
	}
	if t.Stop == nil {
		r.forgetTouched()
	}
	r.custom.endTurn()
	r.hooks.rest(idleAfter)
	r.suggestNext(t)
}
