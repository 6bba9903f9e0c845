package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"lathe/internal/msg"
	"lathe/internal/session"
)

// Log appends to one session file. It is safe for concurrent use, and for several processes on one file.
// It implements session.Log and session.Syncer.
type Log struct {
	path string

	mu     sync.Mutex
	head   header
	f      *os.File // nil until the first message is appended
	buf    []byte
	closed bool
	dirty  bool // written since the last sync
	// first is written with the first message: the history of a fork. State that came before any message waits in
	// pending, behind the messages, so that a session that never got a prompt leaves no file, and the prompt
	// stands at the head of the file where readers look for it.
	first   []msg.Message
	origin  string // session that first was copied from
	pending []byte

	mirror func(path string, lines []byte) // see Store.Mirror

	write func(f *os.File, b []byte) (int, error) // f.Write; a test makes it fail
	now   func() time.Time
}

var (
	_ session.Log    = (*Log)(nil)
	_ session.Syncer = (*Log)(nil)
)

func newLog(path string, h header) *Log {
	return &Log{path: path, head: h, write: (*os.File).Write, now: time.Now}
}

// ID is the session's id.
func (l *Log) ID() string { return l.head.session }

// Path is the absolute path of the session's file, which exists once a message was appended.
func (l *Log) Path() string { return l.path }

// SpillDir is where large tool results of this session are put; it need not exist.
func (l *Log) SpillDir() string { return spillDir(l.path) }

// Append writes the messages, all in one write. Virtual messages are left out. After an error nothing of the call
// is in the file, or at worst a torn line at its end, and Append may be called again.
func (l *Log) Append(list ...msg.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf = l.buf[:0]
	if l.first != nil {
		h := l.head
		h.forkedFrom = l.origin
		for _, m := range l.first {
			l.buf = appendRecord(l.buf, &h, m)
		}
	}
	for _, m := range list {
		if !m.Virtual {
			l.buf = appendRecord(l.buf, &l.head, m)
		}
	}
	if len(l.buf) == 0 {
		return nil
	}
	l.buf = append(l.buf, l.pending...)
	if err := l.flush(); err != nil {
		return err
	}
	l.first, l.pending = nil, nil
	if cap(l.buf) > 1<<20 {
		l.buf = nil
	}
	return nil
}

// Freeze stores what is sent unchanged on every call; the last one wins.
func (l *Log) Freeze(f session.Frozen) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state(appendFrozen(nil, &l.head, l.now(), f))
}

// Keep stores a state record; the last one of a kind wins. The kinds title, ai-title, permission-mode and
// last-prompt, with strings as values, are written in the form that other programs read too.
func (l *Log) Keep(kind string, v any) error {
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("keep %s: %w", kind, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state(appendState(nil, &l.head, l.now(), kind, value))
}

func (l *Log) state(record []byte) error {
	record, err := oneLine(record)
	if err != nil {
		return err
	}
	record = append(record, '\n')
	if l.f == nil && !l.exists() {
		if l.closed {
			return os.ErrClosed
		}
		l.pending = append(l.pending, record...)
		return nil
	}
	l.buf = append(l.buf[:0], record...)
	return l.flush()
}

// exists reports whether the session has a file to append to, or would have to begin one.
func (l *Log) exists() bool {
	if l.first != nil {
		return false
	}
	_, err := os.Stat(l.path)
	return err == nil
}

// Sync puts what was appended on the medium.
func (l *Log) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sync()
}

func (l *Log) sync() error {
	if l.f == nil || !l.dirty {
		return nil
	}
	if err := l.f.Sync(); err != nil {
		return fmt.Errorf("sync session: %w", err)
	}
	l.dirty = false
	return nil
}

// Close syncs and closes the file. Appending afterwards fails. Closing twice is fine.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.f == nil {
		return nil
	}
	err := errors.Join(l.sync(), l.f.Close())
	l.f = nil
	return err
}

// flush writes buf to the end of the file.
func (l *Log) flush() error {
	if l.closed {
		return fmt.Errorf("append to session: %w", os.ErrClosed)
	}
	if l.f == nil {
		if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
			return fmt.Errorf("make session directory: %w (LATHE_HOME chooses another place, --no-session-persistence keeps nothing)", err)
		}
		f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return fmt.Errorf("open session: %w (LATHE_HOME chooses another place, --no-session-persistence keeps nothing)", err)
		}
		l.f = f
	}
	lockFile(l.f)
	defer unlock(l.f)
	if err := l.appendLocked(); err != nil {
		var named *os.PathError
		if errors.As(err, &named) {
			err = named.Err // the path stands in front already
		}
		return fmt.Errorf("append to session %s: %w", l.path, err)
	}
	l.dirty = true
	if l.mirror != nil {
		l.mirror(l.path, l.buf)
	}
	return nil
}

func (l *Log) appendLocked() error {
	info, err := l.f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	data := l.buf
	if torn, err := tornAt(l.f, size); err != nil {
		return err
	} else if torn {
		data = append([]byte{'\n'}, data...)
	}
	n, err := l.write(l.f, data)
	if err == nil && n == len(data) {
		return nil
	}
	if err == nil {
		err = errors.New("short write")
	}
	// A part of a record would only be a broken line for readers, but a whole call or nothing is better. Under
	// the lock nobody else wrote meanwhile.
	if n > 0 {
		err = errors.Join(err, l.f.Truncate(size))
	}
	return err
}

// tornAt reports whether the file's last line has no end, after a crash.
func tornAt(f *os.File, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); err != nil {
		return false, err
	}
	return last[0] != '\n', nil
}

// lockWait bounds the wait for another process that holds the lock; a stopped one must not stop us.
const lockWait = 2 * time.Second

// lockFile waits for the file's lock. After lockWait, or where locks fail, it goes on without: an append in one
// write stays whole, and losing the record would be worse.
func lockFile(f *os.File) {
	pause := 50 * time.Microsecond
	for start := time.Now(); time.Since(start) < lockWait; {
		if ok, err := tryLock(f); ok || err != nil {
			return
		}
		time.Sleep(pause)
		pause = min(2*pause, 10*time.Millisecond)
	}
}

// appendRecord appends the line of a message. Raw JSON from elsewhere (tool input, tool output) that is not
// compact or not valid would break the line for every reader, so it is repaired.
func appendRecord(dst []byte, h *header, m msg.Message) []byte {
	start := len(dst)
	dst = appendMessage(dst, h, m)
	if fixed, err := oneLine(dst[start:]); err == nil {
		return append(append(dst[:start], fixed...), '\n')
	}
	return append(appendMessage(dst[:start], h, repaired(m)), '\n')
}

// oneLine returns a record without line breaks, or an error if it is no valid JSON.
func oneLine(record []byte) ([]byte, error) {
	if !isValue(record) {
		return nil, errors.New("a record is no valid JSON")
	}
	if bytes.IndexByte(record, '\n') < 0 && bytes.IndexByte(record, '\r') < 0 {
		return record, nil
	}
	return msg.Compact(record), nil
}

// repaired returns the message with each raw value that is no JSON made a JSON string of the same text.
func repaired(m msg.Message) msg.Message {
	m.ToolOutput = asJSON(m.ToolOutput)
	m.Extra = asJSON(m.Extra)
	m.Blocks = repairedBlocks(m.Blocks)
	return m
}

func repairedBlocks(blocks []msg.Block) []msg.Block {
	out := make([]msg.Block, len(blocks))
	for i, b := range blocks {
		b.Input = asJSON(b.Input)
		if b.Raw != nil && msg.Compact(b.Raw) == nil {
			b = msg.Text(string(b.Raw))
		}
		if b.Content != nil {
			b.Content = repairedBlocks(b.Content)
		}
		out[i] = b
	}
	return out
}

func asJSON(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if c := msg.Compact(raw); c != nil {
		return c
	}
	return msg.AppendString(nil, string(raw))
}
