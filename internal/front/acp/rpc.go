package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"lathe/internal/event"
)

// maxLine is the longest message that is read: a prompt with a few large images.
const maxLine = 64 << 20

// Codes of JSON-RPC errors, and those that the protocol adds.
const (
	codeParse    = -32700
	codeRequest  = -32600
	codeMethod   = -32601
	codeParams   = -32602
	codeInternal = -32603
	codeAuth     = -32000
	codeNotFound = -32002
)

// rpcError is the error of an answer.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

// fault makes an error of the protocol.
func fault(code int, format string, args ...any) *rpcError {
	return &rpcError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// message is a line in either direction. A request has an id and a method, a notification only a method, an answer
// only an id.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// reply answers one request; it is called exactly once.
type reply func(result any, err error)

// wire is a connection. Requests of the other side are handed to handle one after the other, in the order in which
// they came; what takes long goes on in goroutines of its own. So a cancel can never overtake the prompt that it is
// about.
type wire struct {
	in     *bufio.Reader
	handle func(method string, params json.RawMessage, id string, r reply) // id and r are zero for a notification
	warn   func(string)

	out *event.Output

	mu      sync.Mutex // never held while something is written
	nextID  int
	pending map[string]chan message // our requests, by id
	ended   bool                    // nobody answers any more
}

func newWire(in io.Reader, out io.Writer, warn func(string)) *wire {
	return &wire{in: bufio.NewReaderSize(in, 64<<10), out: event.NewOutput(out), warn: warn, pending: map[string]chan message{}}
}

// ErrOutput is wrapped by the error of a write to standard output.
var ErrOutput = errors.New("write to standard output")

var errGone = errors.New("the editor has gone")

// serve reads messages until the input ends, then fails what waits for an answer.
func (w *wire) serve() error {
	var err error
	for err == nil {
		var line []byte
		if line, err = w.line(); len(bytes.TrimSpace(line)) > 0 {
			w.take(line)
		}
	}
	w.mu.Lock()
	w.ended = true
	for id, ch := range w.pending {
		delete(w.pending, id)
		close(ch)
	}
	w.mu.Unlock()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// line reads a line. One that is too long is answered as broken and passed over.
func (w *wire) line() ([]byte, error) {
	var out []byte
	long := false
	for {
		part, err := w.in.ReadSlice('\n')
		if !long {
			out = append(out, part...)
		}
		if len(out) > maxLine {
			long, out = true, nil
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long {
			w.answer(json.RawMessage("null"), nil, fault(codeParse, "a message of more than %d MB", maxLine>>20))
		}
		return out, err
	}
}

func (w *wire) take(line []byte) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		w.answer(json.RawMessage("null"), nil, fault(codeParse, "not a JSON-RPC message: %v", err))
		return
	}
	hasID := len(m.ID) > 0 && string(m.ID) != "null"
	switch {
	case m.Method != "" && hasID:
		w.handle(m.Method, m.Params, string(m.ID), func(result any, err error) { w.answer(m.ID, result, err) })
	case m.Method != "":
		w.handle(m.Method, m.Params, "", nil)
	case hasID:
		w.mu.Lock()
		ch := w.pending[string(m.ID)]
		delete(w.pending, string(m.ID))
		w.mu.Unlock()
		if ch != nil {
			ch <- m
		}
	case m.Error != nil:
		w.warn("the editor could not read a message of ours: " + m.Error.Message)
	default:
		w.answer(json.RawMessage("null"), nil, fault(codeRequest, "neither a method nor an id"))
	}
}

func (w *wire) answer(id json.RawMessage, result any, err error) {
	m := message{ID: id}
	var known *rpcError
	switch {
	case errors.As(err, &known):
		m.Error = known
	case err != nil:
		m.Error = fault(codeInternal, "%v", err)
	default:
		m.Result = event.Encode(result)
	}
	w.write(m)
}

// notify sends a notification. It waits for the editor to read, so the reader of the editor's lines must not call it.
func (w *wire) notify(method string, params any) {
	w.write(message{Method: method, Params: event.Encode(params)})
	_ = w.out.Flush() // Serve tells of it
}

// call sends a request and returns a function that waits for its answer. The request is on its way when call returns,
// behind everything that was written before.
func (w *wire) call(method string, params any) func(ctx context.Context, result any) error {
	ch := make(chan message, 1)
	w.mu.Lock()
	w.nextID++
	id := fmt.Sprint(w.nextID)
	if w.ended {
		close(ch)
	} else {
		w.pending[id] = ch
	}
	w.mu.Unlock()
	w.write(message{ID: json.RawMessage(id), Method: method, Params: event.Encode(params)})
	return func(ctx context.Context, result any) error {
		select {
		case m, ok := <-ch:
			switch {
			case !ok:
				return errGone
			case m.Error != nil:
				return m.Error
			case result == nil || len(m.Result) == 0:
				return nil
			}
			return json.Unmarshal(m.Result, result)
		case <-ctx.Done():
			w.mu.Lock()
			_, open := w.pending[id]
			delete(w.pending, id)
			w.mu.Unlock()
			if open {
				w.notify("$/cancel_request", map[string]any{"requestId": json.RawMessage(id)})
			}
			return context.Cause(ctx)
		}
	}
}

// write puts a line. It does not wait for the editor to read.
func (w *wire) write(m message) {
	m.Version = "2.0"
	w.out.Put(event.Encode(m))
}

// failed waits until all is written, and returns the error of the first write that failed.
func (w *wire) failed() error {
	if err := w.out.Flush(); err != nil {
		return fmt.Errorf("%w: %w", ErrOutput, err)
	}
	return nil
}
