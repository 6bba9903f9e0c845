package conversation

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

	"lathe/internal/msg"
	"lathe/internal/place"
	"lathe/internal/price"
	"lathe/internal/session"
	"lathe/internal/session/jsonl"
	"lathe/internal/sys"
)

// Conversation is the session of a run: what it starts from, and its log.
type Conversation struct {
	Log session.Log

	// The rest changes when the run goes on with another session. The goroutine of the turn, which changes it, reads it
	// as it is; others by the methods.
	mu      sync.RWMutex
	State   session.State
	dir     string // its folder for large results
	Resumed bool
}

// Folder is where large results go; empty when nothing is kept.
func (c *Conversation) Folder() string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.dir
}

// Earlier reads what stands before the messages in memory.
func (c *Conversation) Earlier() ([]msg.Message, error) {
	c.mu.RLock()
	f := c.State.Earlier
	c.mu.RUnlock()
	if f == nil {
		return nil, nil
	}
	return f()
}

// Become takes over what another conversation starts from; its log is a Switch, which is turned by the caller.
func (c *Conversation) Become(o *Conversation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.State, c.dir, c.Resumed = o.State, o.dir, o.Resumed
}

// Check says why the session that is meant cannot be gone on with; nil where it can, or none is meant.
func Check(w Which, p *place.Place) error {
	_, err := named(w, Files(w, p, nil), Start(p))
	return err
}

// Open starts, continues, resumes or forks a session.
func Open(w Which, p *place.Place, prices *price.Table) (*Conversation, error) {
	if w.Store != nil {
		return openStored(w, p.Sys.Dirs.Work)
	}
	store, start := Files(w, p, prices), Start(p)
	if w.SessionID != "" {
		id, err := uuid.Parse(w.SessionID)
		if err != nil {
			return nil, fmt.Errorf("--session-id must be a UUID, not %q", w.SessionID)
		}
		start.ID = id.String()
	}
	ref, err := named(w, store, start)
	if errors.Is(err, session.ErrNotFound) && w.Continue && w.OrNew {
		return begin(w, p, store, start)
	}
	if err != nil {
		return nil, err
	}
	if ref == "" {
		return begin(w, p, store, start)
	}
	if start.At = w.ResumeAt; w.DropsTurn != "" {
		if err := dropsOnly(store, start, ref, w.DropsTurn); err != nil {
			return nil, err
		}
	}
	return resume(w, p, store, start, ref)
}

// New begins another session of the place.
func New(w Which, p *place.Place, prices *price.Table) (*Conversation, error) {
	return begin(w, p, Files(w, p, prices), Start(p))
}

// Again goes on with the session in a file, or with a copy of it where Fork is set.
func Again(w Which, p *place.Place, prices *price.Table, path string) (*Conversation, error) {
	return resume(w, p, Files(w, p, prices), Start(p), path)
}

// Aside is a conversation that belongs to this one and has no log yet: a sub-agent's.
func (c *Conversation) Aside() *Conversation {
	return &Conversation{Log: session.None(c.Log.ID()), dir: c.Folder()}
}

// Whole is the conversation that was opened, with what stands before a compact boundary. Where that cannot be read, the
// rest comes with the error.
func (c *Conversation) Whole() ([]msg.Message, error) {
	before, err := c.Earlier()
	return append(slices.Clone(before), c.State.Messages...), err
}

// named is the path of the session that --continue or --resume means; "" for a new one.
func named(w Which, store jsonl.Store, start jsonl.Start) (string, error) {
	ref := w.Resume
	switch {
	case w.Continue && ref != "":
		return "", errors.New("--continue and --resume name two sessions: use one of them")
	case w.Continue:
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

// Keeps reports whether the session leaves a transcript.
func Keeps(w Which, p *place.Place) bool {
	return !w.NoPersist && !sys.IsOn(p.Sys.Getenv("CLAUDE_CODE_SKIP_PROMPT_HISTORY"))
}

func begin(w Which, p *place.Place, store jsonl.Store, start jsonl.Start) (*Conversation, error) {
	if !Keeps(w, p) {
		id := start.ID
		if id == "" {
			id = uuid.NewString()
		}
		return &Conversation{Log: session.None(id)}, nil
	}
	log, err := store.Create(start)
	if err != nil {
		return nil, err
	}
	return &Conversation{Log: log, dir: log.SpillDir()}, nil
}

// bigTranscript is the size from which the memory that reading took is given back at once. Without that, a session
// that was resumed from 100 MB would hold them to its end, since so little comes after that nothing collects them.
const bigTranscript = 16 << 20

func resume(w Which, p *place.Place, store jsonl.Store, start jsonl.Start, path string) (*Conversation, error) {
	open := store.Open
	if w.Fork {
		open = store.Fork
	}
	state, log, err := open(start, path)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > bigTranscript {
		debug.FreeOSMemory()
	}
	if w.Fork && state.Meta.Title != "" { // two of one name could not be told apart
		if err := log.Keep("title", forkTitle(state.Meta.Title)); err != nil {
			return nil, errors.Join(err, log.Close())
		}
		state.Meta.Title = forkTitle(state.Meta.Title)
	}
	c := &Conversation{State: *state, Log: log, dir: log.SpillDir(), Resumed: true}
	if !Keeps(w, p) {
		c.Log, c.dir = session.None(log.ID()), ""
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
