package tool

import (
	"crypto/sha256"
	"sync"
	"time"

	"lathe/internal/file"
)

// ReadCache remembers which files the conversation has seen, and in which state: an edit needs a fresh read, and
// a file that changed since is told to the model. It is safe for concurrent use.
type ReadCache struct {
	// Rewrite may change what is about to be written to a file, by its resolved path; nil changes nothing. It is set
	// before the first use.
	Rewrite func(path string, data []byte) []byte
	// Keep is called right before a file is replaced, with what it is (nil: there is none) and what it will be. Its error
	// stops the replacement. Nil: nobody is told. It is set before the first use.
	Keep func(path string, old *file.File, data []byte) error

	// Editor holds files open; nil: there is none. It is set before the first use.
	Editor Editor

	mu    sync.Mutex
	files map[string]ReadState
	locks *locks
}

// locks serialise changes of a file by the conversations of a process.
type locks struct {
	mu  sync.Mutex
	one map[string]*sync.Mutex
}

// ReadState is what was seen of one file.
type ReadState struct {
	Hash    [32]byte // SHA-256 of the whole content
	Size    int64
	ModTime time.Time
	Offset  int    // first line seen, from 1; 0 when all was seen
	Limit   int    // number of lines seen, when Offset is set
	Partial bool   // only a part was seen
	Content []byte // the whole content when it was small enough to keep (for diffs); else nil
}

// NewReadCache returns an empty cache.
func NewReadCache() *ReadCache {
	return &ReadCache{files: map[string]ReadState{}, locks: &locks{one: map[string]*sync.Mutex{}}}
}

// Beside returns an empty cache for another conversation of the process: it has seen nothing, and takes turns with c in
// changing files.
func (c *ReadCache) Beside() *ReadCache {
	return &ReadCache{Rewrite: c.Rewrite, Keep: c.Keep, files: map[string]ReadState{}, locks: c.locks}
}

// Hash is the content hash that ReadState uses.
func Hash(content []byte) [32]byte { return sha256.Sum256(content) }

// Get returns what was seen of the file at path (absolute, links resolved).
func (c *ReadCache) Get(path string) (ReadState, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.files[path]
	return s, ok
}

// Put records what was seen.
func (c *ReadCache) Put(path string, s ReadState) { c.mu.Lock(); c.files[path] = s; c.mu.Unlock() }

// Forget drops a file, for instance one that was deleted.
func (c *ReadCache) Forget(path string) { c.mu.Lock(); delete(c.files, path); c.mu.Unlock() }

// All returns a copy of everything that was seen.
func (c *ReadCache) All() map[string]ReadState {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]ReadState, len(c.files))
	for k, v := range c.files {
		out[k] = v
	}
	return out
}

// Lock serialises changes of one file within the process and returns the function that unlocks it.
func (c *ReadCache) Lock(path string) func() {
	c.locks.mu.Lock()
	l := c.locks.one[path]
	if l == nil {
		l = &sync.Mutex{}
		c.locks.one[path] = l
	}
	c.locks.mu.Unlock()
	l.Lock()
	return l.Unlock
}
