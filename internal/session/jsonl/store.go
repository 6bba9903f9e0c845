package jsonl

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"lathe/internal/msg"
	"lathe/internal/session"
)

// Store is the sessions below a state directory. Its zero values are fine but for StateDir.
type Store struct {
	StateDir   string                                  // absolute; sessions are in projects/ below it
	Version    string                                  // of the program, for the records
	Entrypoint string                                  // how the program was started: "cli", or "sdk-…" where no person sits before it
	Cost       func(model string, u msg.Usage) float64 // in USD, for the records, so that viewers need no table of prices; may be nil
	Project    string                                  // name of the project's directory, where it is not made from the working directory

	// Mirror is told of each write after it is done: the file, and the records as JSON lines, which it must not keep.
	// Nil: nobody is.
	Mirror func(path string, lines []byte)
}

func (s Store) log(path string, h header) *Log {
	l := newLog(path, h)
	l.mirror = s.Mirror
	return l
}

// Start is what a session begins with, or goes on with.
type Start struct {
	ID     string // of a new session; chosen at random when empty
	Dir    string // working directory, absolute
	Branch string // git branch, when known
	At     string // uuid of the message after which to go on; the newest one when empty
}

// Create begins a new session. Its file is made with the first message.
func (s Store) Create(start Start) (*Log, error) {
	path, err := s.newPath(&start)
	if err != nil {
		return nil, err
	}
	return s.log(path, s.header(start)), nil
}

// Agent begins the transcript of a sub-agent of the session in the file path.
func (s Store) Agent(start Start, path, agentID string) *Log {
	h := s.header(start)
	h.agent = agentID
	return s.log(SubagentPath(path, agentID), h)
}

// newPath chooses the id, when there is none, and the path of a new session.
func (s Store) newPath(start *Start) (string, error) {
	if start.ID == "" {
		start.ID = uuid.NewString()
	}
	if strings.ContainsAny(start.ID, `/\`) || strings.Trim(start.ID, ".") == "" {
		return "", fmt.Errorf("session id %q cannot name a file: use a UUID", start.ID)
	}
	path := filepath.Join(s.ProjectDir(start.Dir), start.ID+ext)
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("session %s: %w: resume it, or choose another id", start.ID, session.ErrExists)
	}
	return path, nil
}

func (s Store) header(start Start) header {
	return header{session: start.ID, dir: start.Dir, version: s.Version, branch: start.Branch, entrypoint: s.Entrypoint, cost: s.Cost}
}

// Open resumes a session, named as for Find.
func (s Store) Open(start Start, ref string) (*session.State, *Log, error) {
	m, err := s.Find(start.Dir, ref)
	if err != nil {
		return nil, nil, err
	}
	return s.OpenPath(start, m.Path)
}

// OpenPath resumes the session in a file. A file below the state directory is continued; any other is only
// read, and the session goes on in a new file of ours that begins with a copy of the history.
func (s Store) OpenPath(start Start, path string) (*session.State, *Log, error) {
	if !s.owns(path) {
		return s.fork(start, path)
	}
	state, err := Read(path, start.At)
	if err != nil {
		return nil, nil, err
	}
	start.ID = state.Meta.ID
	return state, s.log(state.Meta.Path, s.header(start)), nil
}

// Fork resumes a session, named as for Find, under a new id; the old one stays as it is. What was frozen and
// kept is copied too. As long as nothing is appended, there is no new file.
func (s Store) Fork(start Start, ref string) (*session.State, *Log, error) {
	m, err := s.Find(start.Dir, ref)
	if err != nil {
		return nil, nil, err
	}
	return s.fork(start, m.Path)
}

func (s Store) fork(start Start, path string) (*session.State, *Log, error) {
	state, err := Read(path, start.At)
	if err != nil {
		return nil, nil, err
	}
	target, err := s.newPath(&start)
	if err != nil {
		return nil, nil, err
	}
	log := s.log(target, s.header(start))
	log.origin = state.Meta.ID
	log.first = chained(state.Messages)
	if state.Frozen != nil {
		if err := log.Freeze(*state.Frozen); err != nil {
			return nil, nil, err
		}
	}
	for kind, v := range state.Kept {
		if err := log.Keep(kind, v); err != nil {
			return nil, nil, err
		}
	}
	state.Meta.ID, state.Meta.Path, state.Meta.Dir = start.ID, target, start.Dir
	return state, log, nil
}

// chained links the messages of a branch one after the other. What linked them where they come from may not be
// copied: progress, dead branches, what stands before a boundary.
func chained(list []msg.Message) []msg.Message {
	out := append([]msg.Message{}, list...)
	parent := ""
	here := map[string]bool{}
	for i := range out {
		out[i].Parent, parent = parent, out[i].ID
		here[out[i].ID] = true
	}
	for i := range out {
		if out[i].Subtype == msg.SubCompactBoundary {
			out[i].Extra = carriedHere(out[i].Extra, here)
		}
	}
	return out
}

// carriedHere leaves in a boundary's metadata only those of what it carried over that are copied: without the others it
// would look like one that a crash cut off.
func carriedHere(extra json.RawMessage, here map[string]bool) json.RawMessage {
	var fields, meta map[string]json.RawMessage
	var ids []string
	if json.Unmarshal(extra, &fields) != nil || json.Unmarshal(fields["compactMetadata"], &meta) != nil || json.Unmarshal(meta["carriedUuids"], &ids) != nil {
		return extra
	}
	kept := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !here[id] })
	if len(kept) == len(ids) {
		return extra
	}
	var err error
	if meta["carriedUuids"], err = json.Marshal(kept); err != nil {
		return extra
	}
	if fields["compactMetadata"], err = json.Marshal(meta); err != nil {
		return extra
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return extra
	}
	return out
}

// owns reports whether the file is one of ours to write to.
func (s Store) owns(path string) bool {
	rel, err := filepath.Rel(realPath(filepath.Join(s.StateDir, "projects")), realPath(path))
	return err == nil && filepath.IsLocal(rel)
}

// Read returns the session in a file, up to the message at, or to the newest when at is empty. It never writes.
func Read(path, at string) (*session.State, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("read session: %w", err)
	}
	f, err := readFile(abs)
	if os.IsNotExist(err) {
		return nil, fmt.Errorf("read session: %w: there is no file %s", session.ErrNotFound, abs)
	}
	if err != nil {
		return nil, err
	}
	t := newTree(f.lines)
	leaf, err := t.chooseLeaf(f, at)
	if err != nil {
		return nil, err
	}
	state := &session.State{Messages: t.messages(leaf), Notes: f.notes()}
	if len(state.Messages) == 0 {
		return nil, fmt.Errorf("read session: %w: %s holds no messages", session.ErrNotFound, abs)
	}
	state.Frozen, state.Kept = f.state()
	if state.Meta, _, err = readMeta(abs); err != nil {
		return nil, err
	}
	if bound := t.boundBefore(leaf + 1); bound >= 0 && t.previous(bound) >= 0 {
		state.Earlier = func() ([]msg.Message, error) { return readEarlier(abs, at) }
	}
	return state, nil
}

func readEarlier(path, at string) ([]msg.Message, error) {
	f, err := readFile(path)
	if err != nil {
		return nil, err
	}
	t := newTree(f.lines)
	leaf, err := t.chooseLeaf(f, at)
	if err != nil {
		return nil, err
	}
	var parts [][]msg.Message
	for n := 0; ; n++ {
		first := t.walk(leaf)[0]
		if n > 0 {
			parts = append(parts, t.messages(leaf))
		}
		if !t.recs[first].has(flagBoundary) {
			break
		}
		if leaf = t.find(t.recs[first].get(t.recs[first].logical), first); leaf < 0 {
			break
		}
	}
	var all []msg.Message
	for i := len(parts) - 1; i >= 0; i-- {
		all = append(all, parts[i]...)
	}
	return all, nil
}

// notes says in words what was not as it should be.
func (f *file) notes() []string {
	var notes []string
	if f.bad > 0 {
		notes = append(notes, fmt.Sprintf("%s of the session file could not be read and %s skipped; all others are there",
			count(f.bad, "line"), map[bool]string{true: "was", false: "were"}[f.bad == 1]))
	}
	if f.odd > 0 {
		notes = append(notes, fmt.Sprintf("%s of the session file held something else than a record", count(f.odd, "line")))
	}
	return notes
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
