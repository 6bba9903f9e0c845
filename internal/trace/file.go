package trace

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The files of a trace. Both are only appended to, so that two processes may write to one session.
const (
	recordsFile = "records.jsonl" // one record a line
	blobsFile   = "blobs"         // one content a line: its hash, a space, JSON
)

// DefaultLimit is how large the files of a trace may become together, in bytes. What comes later is not recorded.
const DefaultLimit = 512 << 20

// File is a Recorder that writes beside a transcript. Its files are private to the user.
type File struct {
	// Clean takes secrets out of what is written, which is JSON. Set it before the first record.
	Clean func(b []byte) []byte
	// Limit bounds the files, in bytes; DefaultLimit when zero.
	Limit int64

	mu      sync.Mutex
	run     string
	records file
	blobs   file
	waiting [2][]byte // contents and records that are not in the files yet
	torn    [2]bool   // the last write to the file ended within a line
	line    []byte    // for the record that is being written
	known   map[string]bool
	last    map[string][]Ref
	fields  map[string]any // as last written
	headers map[string]string
	flushed time.Time
	size    int64
	failed  int
	lost    int
	full    bool
}

// file is what is used of a file; tests put faulty ones in its place.
type file interface {
	io.Writer
	io.ReaderAt
	io.Closer
}

var _ Recorder = (*File)(nil)

// Open starts or continues a trace in dir.
func Open(dir string) (*File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f := &File{run: rand.Text()[:8], known: map[string]bool{}, last: map[string][]Ref{}, fields: map[string]any{}}
	blobs, err := appendTo(filepath.Join(dir, blobsFile), tornBlob, &f.size)
	if err != nil {
		return nil, err
	}
	records, err := appendTo(filepath.Join(dir, recordsFile), "\n", &f.size)
	if err != nil {
		return nil, errors.Join(err, blobs.Close())
	}
	err = eachBlob(blobs, func(hash string, _ int64, _ int) { f.known[hash] = true })
	if err != nil {
		return nil, errors.Join(err, blobs.Close(), records.Close())
	}
	f.blobs, f.records = blobs, records
	return f, nil
}

// tornBlob ends a content that was not written whole, so that it is not taken for one that was: no JSON ends so.
const tornBlob = "!\n"

// appendTo opens a file to append to. A last line that a crash tore is ended, so that the next one is whole.
func appendTo(path, tear string, size *int64) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err == nil && end > 0 {
		var last [1]byte
		if _, err = f.ReadAt(last[:], end-1); err == nil && last[0] != '\n' {
			_, err = f.Write([]byte(tear))
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	*size += end
	return f, nil
}

// hashLen is the number of hex digits that name a content.
const hashLen = 24

// Blob stores content once.
func (f *File) Blob(b []byte) string {
	if f.Clean != nil {
		b = f.Clean(b)
	}
	if bytes.IndexByte(b, '\n') >= 0 {
		var one bytes.Buffer
		if json.Compact(&one, b) != nil || bytes.IndexByte(one.Bytes(), '\n') >= 0 {
			b, _ = json.Marshal(string(b)) // no JSON: as a text
		} else {
			b = one.Bytes()
		}
	}
	sum := sha256.Sum256(b)
	var hash [hashLen]byte
	hex.Encode(hash[:], sum[:hashLen/2])
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known[string(hash[:])] {
		return string(hash[:])
	}
	name := string(hash[:])
	if f.room(int64(len(b) + hashLen + 2)) {
		f.known[name] = true
		f.waiting[0] = append(append(append(append(f.waiting[0], name...), ' '), b...), '\n')
	}
	return name
}

// room takes n bytes of what the files may still grow by.
func (f *File) room(n int64) bool {
	limit := f.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	if f.full || f.size+n > limit {
		f.full = true
		f.failed++
		return false
	}
	f.size += n
	return true
}

// Record writes one record.
func (f *File) Record(r Record) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Run = f.run
	l := f.lean(r)
	line := f.encode(l)
	if f.Clean != nil && l.tells() {
		line = f.Clean(line)
	}
	if !f.room(int64(len(line) + 1)) {
		return
	}
	f.waiting[1] = append(append(f.waiting[1], line...), '\n')
	if r.Err != "" || len(f.waiting[0]) > 1<<20 || r.Call != nil && time.Since(f.flushed) > often {
		f.flush()
	}
}

// often is how long the record of a call may wait until it can be read.
const often = 100 * time.Millisecond

// Flush writes what waits. The record of a call does so too, now and then: whoever looks on sees the calls come.
func (f *File) Flush() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flush()
}

// flush writes contents before the records that name them.
func (f *File) flush() {
	f.flushed = time.Now()
	for i, to := range []file{f.blobs, f.records} {
		if len(f.waiting[i]) == 0 {
			continue
		}
		f.write(i, to)
		if f.waiting[i] = f.waiting[i][:0]; cap(f.waiting[i]) > 1<<20 {
			f.waiting[i] = nil
		}
	}
}

// write writes what waits for one of the files. What a failed write has lost is given up; what comes after it must not
// rest on it.
func (f *File) write(i int, to file) {
	b := f.waiting[i]
	if f.torn[i] {
		b = append([]byte([]string{tornBlob, "\n"}[i]), b...)
	}
	n, err := to.Write(b)
	if err == nil {
		f.torn[i] = false
		return
	}
	if n > 0 {
		f.torn[i] = b[n-1] != '\n'
	}
	f.failed++
	f.lost++
	f.size -= int64(len(b) - n)
	clear(f.last)
	clear(f.fields)
	f.headers = nil
	if i == 0 {
		from := bytes.LastIndexByte(b[:n], '\n') + 1
		for line := range bytes.Lines(b[from:]) {
			if len(line) > hashLen {
				delete(f.known, string(line[:hashLen]))
			}
		}
	}
}

// Lost counts the writes that failed. What was recorded before one may be missing: whoever names contents by hashes that
// it has kept, or gives records that rest on earlier ones, begins anew when the number has changed.
func (f *File) Lost() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}

// lean is a record whose lists are what they add to the last ones, and whose headers are there when they are others.
func (f *File) lean(r Record) line {
	l := line{Record: r, Before: f.delta(r.Before), After: f.delta(r.After)}
	l.Record.Before, l.Record.After = View{}, View{}
	if r.Call == nil {
		return l
	}
	c := *r.Call
	if c.Headers == nil {
		c.Headers = map[string]string{} // none is another thing than the same
	}
	if f.headers != nil && maps.Equal(f.headers, c.Headers) {
		c.Headers = nil
	} else {
		f.headers = c.Headers
	}
	l.Call = &c
	return l
}

func (f *File) encode(l line) []byte {
	b, err := l.append(f.line[:0])
	if err != nil {
		f.failed++
	}
	f.line = b
	return b
}

func (f *File) delta(v View) *deltas {
	if len(v.Fields) == 0 && len(v.Items) == 0 {
		return nil
	}
	d := &deltas{Fields: f.changed(v.Fields), Items: make(map[string]delta, len(v.Items))}
	for name, now := range v.Items {
		keep := shared(f.last[name], now)
		d.Items[name] = delta{Keep: keep, Add: now[keep:]}
		f.last[name] = now
	}
	return d
}

// changed leaves the fields that are not as they were last written.
func (f *File) changed(fields map[string]any) map[string]any {
	out := make(map[string]any, len(fields))
	for name, v := range fields {
		if last, ok := f.fields[name]; !ok || last != v {
			out[name], f.fields[name] = v, v
		}
	}
	return out
}

// shared counts the equal items at the start of both lists. Lists that grow in place are equal as far as they go.
func shared(a, b []Ref) int {
	n := min(len(a), len(b))
	if n == 0 || &a[0] == &b[0] {
		return n
	}
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// Close ends the trace and returns how many pieces could not be written.
func (f *File) Close() (failed int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flush()
	for _, c := range []file{f.blobs, f.records} {
		if c.Close() != nil {
			f.failed++
		}
	}
	return f.failed
}

// eachBlob calls found with the hash, offset and length of each content of a file.
func eachBlob(file io.ReaderAt, found func(hash string, at int64, n int)) error {
	in := bufio.NewReaderSize(io.NewSectionReader(file, 0, 1<<62), 256<<10)
	var at int64 // of the line
	for {
		var hash [hashLen + 1]byte
		n, err := io.ReadFull(in, hash[:])
		if err != nil {
			return ended(err)
		}
		if i := bytes.IndexByte(hash[:], '\n'); i >= 0 { // an empty or broken line: go on behind it
			in = bufio.NewReaderSize(io.NewSectionReader(file, at+int64(i)+1, 1<<62), 256<<10)
			at += int64(i) + 1
			continue
		}
		rest, last, err := skipLine(in)
		if err != nil {
			return ended(err) // a torn last line
		}
		if hash[hashLen] == ' ' && isHex(hash[:hashLen]) && last != tornBlob[0] {
			found(string(hash[:hashLen]), at+int64(n), rest)
		}
		at += int64(n) + int64(rest) + 1
	}
}

func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// skipLine reads to the end of the line and returns how long it was, and its last byte.
func skipLine(in *bufio.Reader) (n int, last byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		n += len(part)
		if end := len(part) - 1; err != nil && end >= 0 {
			last = part[end]
		} else if end > 0 {
			last = part[end-1]
		}
		if err == nil {
			return n - 1, last, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return n, last, err
		}
	}
}

func isHex(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
