package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe/internal/event"
)

// played is an engine's side of a session: the test gives the events and sees the ops. Queries are answered by {}.
type played struct {
	id     string
	events chan event.Envelope
	ops    chan event.Op // all but queries and Close
	closed sync.Once
	ended  chan struct{} // closed when the editor's side has ended it
}

func newPlayed(id string) *played {
	return &played{id: id, events: make(chan event.Envelope, 64), ops: make(chan event.Op, 64), ended: make(chan struct{})}
}

func (p *played) Send(_ context.Context, op event.Op) error {
	switch o := op.(type) {
	case event.Query:
		p.events <- event.Envelope{Session: p.id, Event: event.Reply{ID: o.ID, Value: json.RawMessage("{}")}}
	case event.Close:
		p.closed.Do(func() { close(p.events) })
	default:
		p.ops <- op
	}
	return nil
}

func (p *played) Events(ctx context.Context) iter.Seq2[event.Envelope, error] {
	return func(yield func(event.Envelope, error) bool) {
		for {
			select {
			case e, ok := <-p.events:
				if !ok || !yield(e, nil) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func (p *played) tell(e event.Event) { p.events <- event.Envelope{Session: p.id, Event: e} }

// next is the next op of the editor's side.
func (p *played) next(t *testing.T) event.Op {
	t.Helper()
	select {
	case op := <-p.ops:
		return op
	case <-time.After(time.Minute):
		t.Fatal("an op does not come")
		return nil
	}
}

// rig is an editor with a server; its agent opens sessions that the test plays.
type rig struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Reader
	nextID int
	served chan error

	mu     sync.Mutex
	opened []*played
	beside int // how often a session was opened that was open
	comes  chan *played
	gate   chan struct{} // not nil: Open waits for a value
}

func newRig(t *testing.T) *rig {
	t.Helper()
	in, write := io.Pipe()
	read, out := io.Pipe()
	r := &rig{t: t, in: write, out: bufio.NewReader(read), served: make(chan error, 1), comes: make(chan *played, 16)}
	var mu sync.Mutex
	n := 0
	o := Options{Agent: r, Now: time.Now, Warn: func(string) {}, NewID: func() string {
		mu.Lock()
		defer mu.Unlock()
		n++
		return fmt.Sprintf("id%d", n)
	}}
	go func() {
		err := Serve(context.Background(), in, out, o)
		out.Close()
		r.served <- err
	}()
	return r
}

// end closes the editor's side, and returns what was still written.
func (r *rig) end() string {
	r.t.Helper()
	r.in.Close()
	all, err := io.ReadAll(r.out)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := <-r.served; err != nil {
		r.t.Error(err)
	}
	return string(all)
}

func (r *rig) Open(_ context.Context, s Start) (*Opened, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := s.ID
	if id == "" {
		id = fmt.Sprintf("s%d", len(r.opened)+1)
	}
	p := newPlayed(id)
	for _, other := range r.opened {
		select {
		case <-other.ended:
		default:
			if other.id == id {
				r.beside++
			}
		}
	}
	r.opened = append(r.opened, p)
	r.comes <- p
	if r.gate != nil {
		r.mu.Unlock()
		<-r.gate
		r.mu.Lock()
	}
	return &Opened{ID: id, Conn: p, Close: sync.OnceFunc(func() { close(p.ended) })}, nil
}

func (r *rig) List(context.Context, string) ([]Listed, error) { return nil, nil }
func (r *rig) Delete(context.Context, string) error           { return nil }
func (r *rig) Authenticate(context.Context) error             { return nil }

// say writes one line to the server.
func (r *rig) say(format string, args ...any) {
	r.t.Helper()
	if _, err := fmt.Fprintf(r.in, format+"\n", args...); err != nil {
		r.t.Fatal(err)
	}
}

// ask writes a request and returns its id.
func (r *rig) ask(method, params string) int {
	r.t.Helper()
	r.nextID++
	r.say(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, r.nextID, method, params)
	return r.nextID
}

// line reads one line that the server wrote.
func (r *rig) line() message {
	r.t.Helper()
	raw, err := r.out.ReadBytes('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		r.t.Fatalf("%v: %s", err, raw)
	}
	return m
}

// until reads lines up to the one that is looked for.
func (r *rig) until(found func(message) bool) message {
	r.t.Helper()
	for {
		if m := r.line(); found(m) {
			return m
		}
	}
}

func answerTo(id int) func(message) bool {
	return func(m message) bool { return m.Method == "" && string(m.ID) == fmt.Sprint(id) }
}

func method(name string) func(message) bool {
	return func(m message) bool { return m.Method == name }
}

// begin opens a session.
func (r *rig) begin() *played {
	r.t.Helper()
	id := r.ask("session/new", `{"cwd":"/","mcpServers":[]}`)
	if m := r.until(answerTo(id)); m.Error != nil {
		r.t.Fatal(m.Error)
	}
	p := <-r.comes
	r.until(func(m message) bool { return strings.Contains(string(m.Params), "available_commands_update") })
	return p
}

// An editor that reads nothing for a while is heard all the same.
func TestSlowEditor(t *testing.T) {
	r := newRig(t)
	p := r.begin()
	p.tell(event.Notice{Level: "warning", Text: "x"})
	if _, err := r.out.ReadByte(); err != nil { // the rest of the line waits, or more lines do
		t.Fatal(err)
	}
	p.tell(event.Notice{Level: "warning", Text: strings.Repeat("more than a buffer takes ", 1000)})
	r.ask("no/such", `{}`)
	r.say(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
	if op, ok := p.next(t).(event.Interrupt); !ok {
		t.Errorf("the cancel: %+v", op)
	}
	if all := r.end(); !strings.Contains(all, "there is no method no/such") {
		t.Errorf("the answer is missing: %s", all)
	}
}
