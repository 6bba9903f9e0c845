package trace

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
)

// File is a Recorder that writes beside a transcript: <dir>/records.jsonl, one record a line, and
// <dir>/blobs/<hash>, each content once. Files are private to the user.
type File struct {
	// Clean takes secrets out of what is written, which is JSON. Set it before the first record.
	Clean func(b []byte) []byte

	mu     sync.Mutex
	dir    string
	out    *os.File
	buf    *bufio.Writer
	known  map[string]bool
	failed int
}

var _ Recorder = (*File)(nil)

// Open starts or continues a trace in dir.
func Open(dir string) (*File, error) {
	if err := os.MkdirAll(filepath.Join(dir, "blobs"), 0o700); err != nil {
		return nil, err
	}
	out, err := os.OpenFile(filepath.Join(dir, "records.jsonl"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &File{dir: dir, out: out, buf: bufio.NewWriter(out), known: map[string]bool{}}, nil
}

// Blob stores content once.
func (f *File) Blob(b []byte) string {
	if f.Clean != nil {
		b = f.Clean(b)
	}
	sum := sha256.Sum256(b)
	hash := hex.EncodeToString(sum[:12])
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known[hash] {
		return hash
	}
	f.known[hash] = true
	path := filepath.Join(f.dir, "blobs", hash)
	if _, err := os.Stat(path); err == nil {
		return hash
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		f.failed++
	}
	return hash
}

// Record writes one record.
func (f *File) Record(r Record) {
	line, err := json.Marshal(r)
	if f.Clean != nil {
		line = f.Clean(line)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		_, err = f.buf.Write(append(line, '\n'))
	}
	if err == nil {
		err = f.buf.Flush()
	}
	if err != nil {
		f.failed++
	}
}

// Close ends the trace and returns how many pieces could not be written.
func (f *File) Close() (failed int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.buf.Flush() != nil {
		f.failed++
	}
	if f.out.Close() != nil {
		f.failed++
	}
	return f.failed
}
