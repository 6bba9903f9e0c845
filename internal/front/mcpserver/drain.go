package mcpserver

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// draining is a transport that tells of the end of the input only when all requests before it have been answered. The
// library cancels what still runs as soon as it hears of the end, and requests that are piped in end at once.
type draining struct{ sdk.Transport }

func (t draining) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drain{
		Connection: c, open: map[jsonrpc.ID]bool{}, asked: map[jsonrpc.ID]bool{},
		changed: make(chan struct{}, 1), closed: make(chan struct{}),
	}, nil
}

type drain struct {
	sdk.Connection
	end error // of the input; the reader's own

	changed   chan struct{} // open or asked may have
	closed    chan struct{}
	closeOnce sync.Once

	mu    sync.Mutex
	open  map[jsonrpc.ID]bool // requests of the client without an answer
	asked map[jsonrpc.ID]bool // ours
}

// listening is a request whose answer comes when the client takes it back, if ever.
const listening = "subscriptions/listen"

func (d *drain) Read(ctx context.Context) (jsonrpc.Message, error) {
	if d.end == nil {
		m, err := d.Connection.Read(ctx)
		if err == nil {
			d.came(m)
			return m, nil
		}
		d.end = err
	}
	for {
		id, waits := d.left()
		if id.IsValid() { // no answer can come to what we asked
			return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client's input has ended"}}, nil
		}
		if !waits {
			return nil, d.end
		}
		select {
		case <-d.changed:
		case <-d.closed:
			return nil, d.end
		case <-ctx.Done():
			return nil, d.end
		}
	}
}

func (d *drain) came(m jsonrpc.Message) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch m := m.(type) {
	case *jsonrpc.Request:
		if m.IsCall() && m.Method != listening {
			d.open[m.ID] = true
		}
	case *jsonrpc.Response:
		delete(d.asked, m.ID)
	}
}

// left is one of our own requests that is open, and whether an answer of ours is waited for.
func (d *drain) left() (jsonrpc.ID, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range d.asked {
		delete(d.asked, id)
		return id, true
	}
	return jsonrpc.ID{}, len(d.open) > 0
}

func (d *drain) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		d.mu.Lock()
		d.asked[r.ID] = true
		d.mu.Unlock()
	}
	err := d.Connection.Write(ctx, m)
	d.mu.Lock()
	if r, ok := m.(*jsonrpc.Response); ok {
		delete(d.open, r.ID)
	}
	d.mu.Unlock()
	select {
	case d.changed <- struct{}{}:
	default:
	}
	return err
}

func (d *drain) Close() error {
	d.closeOnce.Do(func() { close(d.closed) })
	return d.Connection.Close()
}
