package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"lathe/internal/msg"
)

// Store keeps sessions. Its methods may be called from several goroutines.
type Store interface {
	// Create begins a session in a working directory. The id is new; an id that is taken is an error that wraps ErrExists.
	Create(id, dir string) (Log, error)
	// Open goes on with a session: what it was, and the log that is appended to. One that does not exist is an error
	// that wraps ErrNotFound.
	Open(id string) (*State, Log, error)
	// List tells of the sessions of a working directory, the newest first; of all when dir is empty.
	List(dir string) ([]Meta, error)
}

// Memory is a Store that lives as long as the program. Its zero value is ready.
type Memory struct {
	mu       sync.Mutex
	sessions map[string]*memoryLog
}

var _ Store = (*Memory)(nil)

// Create implements Store.
func (m *Memory) Create(id, dir string) (Log, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sessions[id] != nil {
		return nil, fmt.Errorf("session %s: %w", id, ErrExists)
	}
	if m.sessions == nil {
		m.sessions = map[string]*memoryLog{}
	}
	now := time.Now()
	l := &memoryLog{state: State{Meta: Meta{ID: id, Dir: dir, Created: now, Modified: now}, Kept: map[string]json.RawMessage{}}}
	m.sessions[id] = l
	return l, nil
}

// Open implements Store.
func (m *Memory) Open(id string) (*State, Log, error) {
	m.mu.Lock()
	l := m.sessions[id]
	m.mu.Unlock()
	if l == nil {
		return nil, nil, fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	return l.copy(), l, nil
}

// List implements Store. Sessions without a message are left out.
func (m *Memory) List(dir string) ([]Meta, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := []Meta{}
	for _, l := range m.sessions {
		if s := l.copy(); len(s.Messages) > 0 && (dir == "" || s.Meta.Dir == dir) {
			list = append(list, s.Meta)
		}
	}
	slices.SortFunc(list, func(a, b Meta) int { return b.Modified.Compare(a.Modified) })
	return list, nil
}

type memoryLog struct {
	mu    sync.Mutex
	state State
}

func (l *memoryLog) copy() *State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.state
	s.Messages = slices.Clone(s.Messages)
	s.Kept = map[string]json.RawMessage{}
	for k, v := range l.state.Kept {
		s.Kept[k] = v
	}
	return &s
}

func (l *memoryLog) ID() string   { return l.state.Meta.ID }
func (l *memoryLog) Path() string { return "" }
func (l *memoryLog) Close() error { return nil }

func (l *memoryLog) Append(ms ...msg.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range ms {
		if m.Virtual {
			continue
		}
		if l.state.Meta.Prompt == "" && m.Kind == msg.KindUser && !m.Meta {
			l.state.Meta.Prompt = m.Text()
		}
		l.state.Messages = append(l.state.Messages, m)
	}
	l.state.Meta.Modified = time.Now()
	return nil
}

func (l *memoryLog) Freeze(f Frozen) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Frozen = &f
	return nil
}

func (l *memoryLog) Keep(kind string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("keep %s: %w", kind, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Kept[kind] = b
	if kind == "title" {
		_ = json.Unmarshal(b, &l.state.Meta.Title) // a title is a text
	}
	return nil
}
