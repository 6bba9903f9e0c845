package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"

	"lathe/internal/git"
	"lathe/internal/msg"
	"lathe/internal/place"
	"lathe/internal/price"
	"lathe/internal/session"
	"lathe/internal/session/jsonl"
	"lathe/internal/sys"
)

// sessionStore is where the sessions of this place are.
func sessionStore(o *Options, p *place.Place, prices *price.Table) jsonl.Store {
	s := jsonl.Store{StateDir: p.Sys.Dirs.State, Version: sys.Version, Entrypoint: first(o.Entry, entrypoint(p)), Project: p.ProjectName(), Cost: prices.Cost}
	s.Mirror = o.Mirror
	return s
}

// sessionStart is what a session of this place begins with.
func sessionStart(p *place.Place) jsonl.Start {
	start := jsonl.Start{Dir: p.Sys.Dirs.Work}
	if p.Root != "" {
		start.Branch = git.Branch(p.Root)
	}
	return start
}

// conversation is the session of a run: what it starts from, and its log.
type conversation struct {
	log session.Log

	// The rest changes when the run goes on with another session. The goroutine of the turn, which changes it, reads it
	// as it is; others by the methods.
	mu      sync.RWMutex
	state   session.State
	dir     string // its folder for large results
	resumed bool
}

// folder is where large results go; empty when nothing is kept.
func (c *conversation) folder() string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.dir
}

// earlier reads what stands before the messages in memory.
func (c *conversation) earlier() ([]msg.Message, error) {
	c.mu.RLock()
	f := c.state.Earlier
	c.mu.RUnlock()
	if f == nil {
		return nil, nil
	}
	return f()
}

// become takes over what another conversation starts from; its log is a Switch, which is turned by the caller.
func (c *conversation) become(o *conversation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state, c.dir, c.resumed = o.state, o.dir, o.resumed
}

// openSession starts, continues, resumes or forks a session.
func openSession(o *Options, p *place.Place, prices *price.Table) (*conversation, error) {
	if o.Store != nil {
		return openStored(o, p.Sys.Dirs.Work)
	}
	store, start := sessionStore(o, p, prices), sessionStart(p)
	if o.SessionID != "" {
		id, err := uuid.Parse(o.SessionID)
		if err != nil {
			return nil, fmt.Errorf("--session-id must be a UUID, not %q", o.SessionID)
		}
		start.ID = id.String()
	}
	ref, err := namedSession(o, store, start)
	if errors.Is(err, session.ErrNotFound) && o.Continue && o.Host != nil {
		return newConversation(o, p, store, start)
	}
	if err != nil {
		return nil, err
	}
	if ref == "" {
		return newConversation(o, p, store, start)
	}
	if start.At = o.ResumeAt; o.DropsTurn != "" {
		if err := dropsOnly(store, start, ref, o.DropsTurn); err != nil {
			return nil, err
		}
	}
	return resume(o, p, store, start, ref)
}

// namedSession is the path of the session that --continue or --resume means; "" for a new one.
func namedSession(o *Options, store jsonl.Store, start jsonl.Start) (string, error) {
	ref := o.Resume
	switch {
	case o.Continue && ref != "":
		return "", errors.New("--continue and --resume name two sessions: use one of them")
	case o.Continue:
		m, err := store.Latest(start.Dir, true)
		if errors.Is(err, session.ErrNotFound) {
			return "", noneToContinue(start.Dir)
		}
		return m.Path, err
	case ref == "":
		return "", nil
	}
	if path := filepath.Join(start.Dir, ref); strings.ContainsAny(ref, `/\`) && !filepath.IsAbs(ref) {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			ref = path // a transcript file
		}
	}
	m, err := store.Find(start.Dir, ref)
	if errors.Is(err, session.ErrNotFound) {
		return "", fmt.Errorf("%w\nThe sessions of this directory are in %s; -c continues the newest", err, store.ProjectDir(start.Dir))
	}
	return m.Path, err
}

// noneToContinue is the error of --continue where nothing was begun.
type noneToContinue string

func (n noneToContinue) Error() string { return "there is no session to continue in " + string(n) }
func (n noneToContinue) Unwrap() error { return session.ErrNotFound }

// dropsOnly refuses to resume at an earlier message when more is dropped by that than the turn of one prompt.
func dropsOnly(store jsonl.Store, start jsonl.Start, ref, prompt string) error {
	const head = "Resume rejected by --resume-drops-turn: " // hosts look for it
	refused := func(why string) error { return fmt.Errorf("%s%s", head, why) }
	m, err := store.Find(start.Dir, ref)
	if err != nil {
		return err
	}
	whole, err := jsonl.Read(m.Path, "")
	if err != nil {
		return err
	}
	at := slices.IndexFunc(whole.Messages, func(m msg.Message) bool { return m.ID == start.At })
	if at < 0 {
		return refused("the message " + start.At + " is not in the conversation")
	}
	found := false
	for _, m := range whole.Messages[at+1:] {
		own := m.Kind == msg.KindUser && !m.Meta && m.SourceAssistant == "" && !msg.IsInterruptNote(m)
		switch {
		case m.ID == prompt:
			found = true
		case own && len(m.Blocks) > 0 && m.Blocks[0].Type == msg.TypeToolResult:
		case own:
			return refused("the message " + m.ID + " is dropped too, and is not of that turn")
		}
	}
	if !found && at < len(whole.Messages)-1 {
		return refused("what is dropped does not begin with the prompt " + prompt)
	}
	return nil
}

// keepsNothing reports whether the run leaves no transcript.
func keepsNothing(o *Options, p *place.Place) bool {
	return o.NoPersist || sys.IsOn(p.Sys.Getenv("CLAUDE_CODE_SKIP_PROMPT_HISTORY"))
}

func newConversation(o *Options, p *place.Place, store jsonl.Store, start jsonl.Start) (*conversation, error) {
	if keepsNothing(o, p) {
		id := start.ID
		if id == "" {
			id = uuid.NewString()
		}
		return &conversation{log: session.None(id)}, nil
	}
	log, err := store.Create(start)
	if err != nil {
		return nil, err
	}
	return &conversation{log: log, dir: log.SpillDir()}, nil
}

// bigTranscript is the size from which the memory that reading took is given back at once. Without that, a session
// that was resumed from 100 MB would hold them to its end, since so little comes after that nothing collects them.
const bigTranscript = 16 << 20

func resume(o *Options, p *place.Place, store jsonl.Store, start jsonl.Start, ref string) (*conversation, error) {
	open := store.Open
	if o.Fork {
		open = store.Fork
	}
	state, log, err := open(start, ref)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(state.Meta.Path); err == nil && info.Size() > bigTranscript {
		debug.FreeOSMemory()
	}
	if o.Fork && state.Meta.Title != "" { // two of one name could not be told apart
		if err := log.Keep("title", forkTitle(state.Meta.Title)); err != nil {
			return nil, errors.Join(err, log.Close())
		}
		state.Meta.Title = forkTitle(state.Meta.Title)
	}
	c := &conversation{state: *state, log: log, dir: log.SpillDir(), resumed: true}
	if keepsNothing(o, p) {
		c.log, c.dir = session.None(log.ID()), ""
	}
	return c, nil
}

// forkTitle is the title of a copy: "x (fork)", then "x (fork 2)".
func forkTitle(title string) string {
	base, n := title, 1
	if i := strings.LastIndex(title, " (fork"); i >= 0 {
		switch rest := title[i+len(" (fork"):]; {
		case rest == ")":
			base, n = title[:i], 2
		default:
			if k, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(rest, " "), ")")); err == nil && k > 1 {
				base, n = title[:i], k+1
			}
		}
	}
	if n == 1 {
		return base + " (fork)"
	}
	return fmt.Sprintf("%s (fork %d)", base, n)
}

func entrypoint(p *place.Place) string {
	if e := p.Sys.Getenv("CLAUDE_CODE_ENTRYPOINT"); e != "" {
		return e
	}
	return "sdk-cli" // print mode: no person sits before it
}
