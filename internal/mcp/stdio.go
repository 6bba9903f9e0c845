package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe/internal/proc"
)

const (
	maxLine  = 64 << 20               // of one message; a server that sends a longer one is lost
	keepErrs = 8 << 10                // of what a server wrote on standard error
	quitTime = 400 * time.Millisecond // from the end of its input to the first signal
)

// child is a server that runs as a process: messages are lines of its standard input and output.
type child struct {
	group *proc.Group
	spec  proc.Spec
	notes *tail

	p     *proc.Proc
	in    *os.File
	lines *bufio.Reader
	out   *io.PipeReader

	pending []jsonrpc.Message // of a batch; only Read has it

	lineOut chan *outgoing // to the goroutine that writes
	closed  chan struct{}  // closed by Close
	written chan struct{}  // closed when that goroutine has ended
	close   sync.Once
}

// outgoing is a line on its way to the server.
type outgoing struct {
	data []byte
	err  error         // set before done is closed
	done chan struct{} // closed when the line is written, or cannot be
}

// Connect starts the process.
func (c *child) Connect(context.Context) (sdk.Connection, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, sink := io.Pipe()
	c.spec.Input, c.spec.Out, c.spec.Err, c.spec.MaxOutput = r, sink, c.notes, 1<<62
	if c.p, err = c.group.Start(c.spec); err != nil {
		_ = w.Close()
		return nil, err
	}
	c.in, c.out, c.lines = w, out, bufio.NewReaderSize(out, 64<<10)
	c.lineOut, c.closed, c.written = make(chan *outgoing), make(chan struct{}), make(chan struct{})
	go c.writeLines()
	go func() { // ends with the process, which Close sees to
		<-c.p.Done()
		_ = sink.CloseWithError(io.EOF)
	}()
	return c, nil
}

// SessionID implements sdk.Connection.
func (c *child) SessionID() string { return "" }

// Read returns the next message. Lines that are no messages are what a careless server prints: they are kept with
// what it wrote on standard error.
func (c *child) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if m := c.batched(); m != nil {
			return m, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		line, err := readLine(c.lines)
		if line = bytes.TrimSpace(line); len(line) > 0 {
			m, perr := c.parse(line)
			if perr != nil {
				fmt.Fprintf(c.notes, "[not a message: %s]\n", short(string(line), 200))
			} else if m != nil {
				return m, nil
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// parse reads a line: one message, or a batch of an old protocol version, whose further messages wait.
func (c *child) parse(line []byte) (jsonrpc.Message, error) {
	if line[0] != '[' {
		return decode(line)
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(line, &parts); err != nil {
		return nil, err
	}
	var list []jsonrpc.Message
	for _, p := range parts {
		m, err := decode(p)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	c.pending = append(c.pending, list...)
	return c.batched(), nil
}

// decode refuses what the SDK's decoder would take for an empty message.
func decode(line []byte) (jsonrpc.Message, error) {
	if line[0] != '{' {
		return nil, errors.New("not an object")
	}
	return jsonrpc.DecodeMessage(line)
}

func (c *child) batched() jsonrpc.Message {
	if len(c.pending) == 0 {
		return nil
	}
	m := c.pending[0]
	c.pending = c.pending[1:]
	return m
}

// readLine reads one line of bounded length.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("a message of more than %d MB", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// Write sends a message. It returns when the server has taken it, when ctx ends, or when the connection is closed: a server
// that is busy reads nothing, and what it does not read fills the pipe. A line that has begun is written to its end
// whatever happens, because what follows would else be part of it.
func (c *child) Write(ctx context.Context, m jsonrpc.Message) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	line := &outgoing{data: append(data, '\n'), done: make(chan struct{})}
	select {
	case c.lineOut <- line:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return io.ErrClosedPipe
	}
	select {
	case <-line.done:
		return line.err
	case <-ctx.Done():
		return ctx.Err()
	case <-c.closed:
		return io.ErrClosedPipe
	}
}

// writeLines writes what Write is given, one line after the other, until Close. No caller holds up another one, nor Read,
// by more than its own line.
func (c *child) writeLines() {
	defer close(c.written)
	for {
		select {
		case line := <-c.lineOut:
			_, line.err = c.in.Write(line.data)
			close(line.done)
		case <-c.closed:
			return
		}
	}
}

// Close ends the process: its input ends, then it is told to end, then it and all that it started are killed.
func (c *child) Close() error {
	c.close.Do(func() {
		close(c.closed)
		_ = c.in.Close()                                  // ends a write too
		go func() { _, _ = io.Copy(io.Discard, c.out) }() // it may have to write before it can end; ends with the pipe
		select {
		case <-c.p.Done():
		case <-time.After(quitTime):
		}
		c.p.Stop(proc.QuickGrace) // also what it left behind
		<-c.p.Done()
		_ = c.out.Close()
		<-c.written
	})
	return nil
}

// ended tells how the process ended, "" while it runs.
func (c *child) ended() string {
	if c.p == nil {
		return ""
	}
	select {
	case <-c.p.Done():
	default:
		return ""
	}
	e := c.p.Exit()
	if e.Signal != "" {
		return "it was ended by the signal " + e.Signal
	}
	return fmt.Sprintf("it ended with exit code %d", e.Code)
}

// tail keeps the end of what a server writes on standard error.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p[max(0, len(p)-keepErrs):]...)
	if n := len(t.buf) - keepErrs; n > keepErrs {
		t.buf = append(t.buf[:0], t.buf[n:]...)
	}
	return len(p), nil
}

// String is the end of the text, in whole lines where there are any.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(t.buf[max(0, len(t.buf)-keepErrs):])
	if len(t.buf) > keepErrs {
		if i := strings.IndexByte(s, '\n'); i >= 0 {
			s = s[i+1:]
		}
	}
	return strings.ToValidUTF8(strings.TrimSpace(s), "�")
}

// last is the last lines of the text on one line, for a message.
func (t *tail) last() string {
	lines := strings.Split(t.String(), "\n")
	return short(strings.Join(lines[max(0, len(lines)-3):], " | "), 300)
}

func short(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
