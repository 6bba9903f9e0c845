package checkpoint

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lathe/internal/file"
)

// Defaults of Options.
const (
	DefaultTurns = 100
	DefaultBytes = 512 << 20
)

// Options says where a store is and how large it may become.
type Options struct {
	Dir   string // the folder; made with the first prompt
	Now   func() time.Time
	NewID func() string
	Turns int   // how many of the newest prompts are kept; 0: DefaultTurns
	Bytes int64 // what the contents may take together; 0: DefaultBytes
	// Exclude are directories that commands may change without being watched.
	Exclude []string
	// Refuse says why a path may not be put back, "" if it may; link is the target of a link that would stand there. A
	// soft reason gives way where that is forced. The list on disk is no proof of what the session has changed: whoever
	// can write it could name any path. Nil: nothing is refused.
	Refuse func(path, link string) (why string, soft bool)
}

// Store is the checkpoints of a session. It is safe for concurrent use, by several processes too.
type Store struct {
	opt Options

	mu    sync.Mutex
	log   journal
	blobs blobs
	bytes int64  // what the contents take, -1: not counted yet
	turn  string // the prompt that changes belong to

	active map[*Watch]bool // commands under way
	closed bool            // what was copied goes when none of them is left

	once     sync.Once
	watching sync.Mutex        // held while a tree is looked at before a command
	known    map[string]copied // what was copied of which file, by path
	pack     *pack             // nil: nothing was copied yet
	large    map[string]bool   // directories that are too large to watch
}

// Open returns the store in a folder. Nothing is read before the first use.
func Open(o Options) *Store {
	if o.Turns == 0 {
		o.Turns = DefaultTurns
	}
	if o.Bytes == 0 {
		o.Bytes = DefaultBytes
	}
	return &Store{
		opt: o, bytes: -1, active: map[*Watch]bool{}, known: map[string]copied{}, large: map[string]bool{},
		log:   journal{path: filepath.Join(o.Dir, "log.jsonl"), turns: map[string]int{}, write: (*os.File).Write},
		blobs: blobs{dir: filepath.Join(o.Dir, "blobs"), create: createFile},
	}
}

// locked runs fn with the list read and locked against other processes.
func (s *Store) locked(fn func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer file.Lock(context.Background(), s.log.path)()
	if err := s.log.refresh(); err != nil {
		return fmt.Errorf("read the checkpoints: %w", err)
	}
	return fn()
}

// Begin marks a prompt: what is changed from now on belongs to it. id is the uuid of the prompt's message. Of prompts
// beyond the bounds the oldest are forgotten.
func (s *Store) Begin(id string) error {
	s.ready()
	if err := os.MkdirAll(s.opt.Dir, 0o700); err != nil {
		return fmt.Errorf("keep a checkpoint: %w", err)
	}
	return s.locked(func() error {
		s.turn = id
		if _, known := s.log.turns[id]; known {
			return nil
		}
		s.prune()
		if err := s.log.append(false, record{Type: typePrompt, At: s.opt.Now(), Turn: id}); err != nil {
			return fmt.Errorf("keep a checkpoint: %w", err)
		}
		return nil
	})
}

// Keep records that a file is about to be replaced: path is absolute with its links resolved, old the file as it is,
// nil where there is none, and next the new content. When it returns, what the file was is on the medium. An error
// means that it is not, and that the file should not be written.
func (s *Store) Keep(by, path string, old *file.File, next []byte) error {
	rec := record{Type: typeChange, Path: path, By: by, Now: State{Kind: File, Hash: hash(next), Size: int64(len(next))}}
	if old != nil {
		rec.Was = fileState(old.Data, old.Info)
		rec.Now.Mode = rec.Was.Mode
	}
	err := s.locked(func() error {
		rec.At, rec.Turn = s.opt.Now(), s.turn
		list := []record{rec}
		if old != nil {
			if err := s.store(rec.Was.Hash, old.Data, true); err != nil {
				return err
			}
		} else {
			for _, dir := range file.Missing(path) {
				list = append(list, record{Type: typeChange, At: rec.At, Turn: s.turn, Path: dir, By: by, Now: State{Kind: Dir}})
			}
		}
		return s.log.append(true, list...)
	})
	if err != nil {
		return fmt.Errorf("no checkpoint of %s could be kept, so nothing was written: %w "+
			"(make room, or switch checkpoints off with CLAUDE_CODE_DISABLE_FILE_CHECKPOINTING=1)", path, err)
	}
	return nil
}

// store keeps a content. The lock is held.
func (s *Store) store(sum string, data []byte, sync bool) error {
	n, err := s.blobs.put(sum, data, sync)
	if s.bytes >= 0 {
		s.bytes += n
	}
	return err
}

// prune forgets the oldest prompts where there are too many, or their contents take too much. The lock is held. What
// cannot be forgotten now will be later.
func (s *Store) prune() {
	if s.bytes < 0 {
		s.bytes = s.blobs.size()
	}
	cut := max(0, len(s.log.order)+1-s.opt.Turns)
	if s.bytes > s.opt.Bytes {
		cut = max(cut, s.cutForBytes(s.bytes-s.opt.Bytes/4*3))
	}
	if cut == 0 {
		return
	}
	var keep []record
	for _, r := range s.log.records {
		if s.log.place(r) >= cut {
			keep = append(keep, r)
		}
	}
	if s.log.rewrite(keep) != nil {
		return
	}
	needed := map[string]bool{}
	for _, r := range s.log.records {
		needed[r.Was.Hash] = true
	}
	for _, sum := range s.pendingContents() {
		needed[sum] = true
	}
	s.blobs.sweep(needed)
	s.bytes = s.blobs.size()
}

// cutForBytes is how many of the oldest turns must go so that at least n bytes become free.
func (s *Store) cutForBytes(n int64) int {
	last := map[string]int{} // by content: the last turn that needs it
	size := map[string]int64{}
	for _, r := range s.log.records {
		if r.Was.Hash != "" {
			last[r.Was.Hash] = max(last[r.Was.Hash], s.log.place(r))
			size[r.Was.Hash] = r.Was.Size
		}
	}
	free := make([]int64, len(s.log.order))
	for sum, turn := range last {
		if turn >= 0 {
			free[turn] += size[sum]
		}
	}
	for i, f := range free {
		if n -= f; n <= 0 {
			return i + 1
		}
	}
	return len(free)
}
