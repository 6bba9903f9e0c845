package anthropic

import (
	"bytes"
	"io"
	"net/http"
	"sync"

	"lathe/internal/provider"
	"lathe/internal/provider/wire"
)

// buffers keeps the last request body for the next one: bodies grow with the session, and making a new one of some
// megabytes for each step costs more than all the rest of the step.
type buffers struct {
	mu    sync.Mutex
	spare *wire.Body // nil while a request uses it
}

// encode returns the body of a request. The caller must call done when the call has ended.
func (b *buffers) encode(req *provider.Request) *body {
	from := b.take()
	return &body{from: from, data: from.Encode(req), home: b, users: 1}
}

// take returns the body that is kept, or a new one.
func (b *buffers) take() *wire.Body {
	b.mu.Lock()
	defer b.mu.Unlock()
	from := b.spare
	b.spare = nil
	if from == nil {
		from = new(wire.Body)
	}
	return from
}

// sum is the checksum and the length of a request's body. Right after the call it costs little, since the body is there
// still; where the transport holds that, it is made anew.
func (b *buffers) sum(req *provider.Request) (uint32, int) {
	from := b.take()
	n := len(from.Encode(req))
	sum := from.Sum()
	b.mu.Lock()
	b.spare = from
	b.mu.Unlock()
	return sum, n
}

// body is an encoded request. The transport may read it several times, and may still hold it when the call has
// ended, so its memory goes back when the last of its users has closed.
type body struct {
	home *buffers
	from *wire.Body

	mu    sync.Mutex
	data  []byte
	users int
}

// attach makes it the body of an HTTP request.
func (b *body) attach(r *http.Request) {
	r.ContentLength = int64(len(b.data))
	r.Body = b.reader()
	r.GetBody = func() (io.ReadCloser, error) { return b.reader(), nil }
}

func (b *body) reader() io.ReadCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.users++
	return &bodyReader{from: b, r: bytes.NewReader(b.data)}
}

func (b *body) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.users--; b.users > 0 {
		return
	}
	b.home.mu.Lock()
	b.home.spare = b.from
	b.home.mu.Unlock()
	b.data = nil
}

// bodyReader reads a body until it is closed; a late read after that must not see another request's bytes.
type bodyReader struct {
	from *body
	mu   sync.Mutex
	r    *bytes.Reader // nil once closed
}

func (r *bodyReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.r == nil {
		return 0, http.ErrBodyReadAfterClose
	}
	return r.r.Read(p)
}

func (r *bodyReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.r != nil {
		r.r = nil
		r.from.done()
	}
	return nil
}
