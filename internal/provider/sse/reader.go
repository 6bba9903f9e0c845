package sse

import (
	"bytes"
	"errors"
	"io"
)

// maxEvent is how many bytes one event may have. Answers are far smaller; the limit keeps a broken server from
// filling the memory.
const maxEvent = 64 << 20

// ErrTooLarge says that one event or line passed maxEvent.
var ErrTooLarge = errors.New("server-sent event is too large")

// Event is one event. Its Data is valid until the next call of Next.
type Event struct {
	Name    string // of the event line; empty without one
	Data    []byte // data lines, joined by line feeds
	Partial bool   // the input ended before the event's closing blank line
	Alive   bool   // not an event: bytes came that complete none (a comment, a part of a line)
}

// Reader reads events. It is not safe for concurrent use.
type Reader struct {
	src io.Reader
	max int

	buf        []byte
	start, end int // unread bytes are buf[start:end]
	scan       int // buf[start:scan] holds no line end
	skipLF     bool
	started    bool // the first line, which may have a byte order mark, was seen
	err        error

	name    string
	data    []byte
	hasData bool
}

// NewReader returns a Reader over src.
func NewReader(src io.Reader) *Reader {
	return &Reader{src: src, max: maxEvent, buf: make([]byte, 8<<10)}
}

// Next returns the next event. When a read brought bytes but no whole event, it returns an event with Alive
// set, so that a caller can tell a slow server from a dead one; each call reads from the source at most once
// before it returns. At the end it returns io.EOF, or the error of the source.
func (r *Reader) Next() (Event, error) {
	if ev, ok := r.parse(); ok {
		return ev, nil
	}
	if r.err == nil {
		if err := r.fill(); err != nil {
			r.err = err
		} else {
			if ev, ok := r.parse(); ok {
				return ev, nil
			}
			return Event{Alive: true}, nil
		}
	}
	if r.err == io.EOF {
		if ev, ok := r.rest(); ok {
			return ev, nil
		}
	}
	return Event{}, r.err
}

// fill reads once. An error that comes with bytes is kept for the next call.
func (r *Reader) fill() error {
	if len(r.data)+r.end-r.start > r.max {
		return ErrTooLarge
	}
	if r.start > 0 && (r.start == r.end || r.end == len(r.buf)) {
		copy(r.buf, r.buf[r.start:r.end])
		r.end -= r.start
		r.scan -= r.start
		r.start = 0
	}
	if r.end == len(r.buf) {
		grown := make([]byte, 2*len(r.buf))
		copy(grown, r.buf[:r.end])
		r.buf = grown
	}
	for range 100 {
		n, err := r.src.Read(r.buf[r.end:])
		r.end += n
		if n > 0 {
			r.err = err
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// parse takes whole lines out of the buffer until an event is complete.
func (r *Reader) parse() (Event, bool) {
	for {
		line, ok := r.line()
		if !ok {
			return Event{}, false
		}
		if len(line) > 0 {
			r.field(line)
			continue
		}
		if ev, ok := r.dispatch(); ok {
			return ev, true
		}
	}
}

// rest takes what stands at the end of the input without a line end.
func (r *Reader) rest() (Event, bool) {
	if r.start < r.end {
		line := r.first(r.buf[r.start:r.end])
		r.start, r.scan = r.end, r.end
		if len(line) > 0 {
			r.field(line)
		}
	}
	ev, ok := r.dispatch()
	ev.Partial = true
	return ev, ok
}

// line returns the next whole line without its end: LF, CR or CRLF. A CR ends the line at once, since the LF
// may be long in coming; it is skipped when it does.
func (r *Reader) line() ([]byte, bool) {
	if r.skipLF && r.start < r.end {
		if r.buf[r.start] == '\n' {
			r.start++
		}
		r.skipLF = false
		r.scan = max(r.scan, r.start)
	}
	i := lineEnd(r.buf[r.scan:r.end])
	if i < 0 {
		r.scan = r.end
		return nil, false
	}
	r.skipLF = r.buf[r.scan+i] == '\r'
	line := r.buf[r.start : r.scan+i]
	r.start = r.scan + i + 1
	r.scan = r.start
	return r.first(line), true
}

// lineEnd returns the index of the first LF or CR. It looks at short windows, so that a search for the one that
// is not there does not run over the whole buffer for each line.
func lineEnd(b []byte) int {
	const window = 512
	for off := 0; off < len(b); off += window {
		w := b[off:min(off+window, len(b))]
		i := bytes.IndexByte(w, '\n')
		if i >= 0 {
			w = w[:i]
		}
		if cr := bytes.IndexByte(w, '\r'); cr >= 0 {
			i = cr
		}
		if i >= 0 {
			return off + i
		}
	}
	return -1
}

// first takes the byte order mark off the first line.
func (r *Reader) first(line []byte) []byte {
	if r.started {
		return line
	}
	r.started = true
	return bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
}

func (r *Reader) field(line []byte) {
	key, value, _ := bytes.Cut(line, []byte{':'})
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(key) {
	case "event":
		if r.name != string(value) {
			r.name = string(value)
		}
	case "data":
		if r.hasData {
			r.data = append(r.data, '\n')
		}
		r.data = append(r.data, value...)
		r.hasData = true
	}
}

func (r *Reader) dispatch() (Event, bool) {
	name, data, ok := r.name, r.data, r.hasData
	r.name, r.data, r.hasData = "", r.data[:0], false
	if !ok {
		return Event{}, false
	}
	return Event{Name: name, Data: data}, true
}
