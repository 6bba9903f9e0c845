package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// ackTime is how long a host may take to acknowledge a notification; it is not needed for anything.
const ackTime = 2 * time.Second

// Exchange hands a message to a server in the host's process and returns the server's reply; the reply to a
// notification means nothing.
type Exchange func(ctx context.Context, server string, message json.RawMessage) (json.RawMessage, error)

// hosted is a server in the host's process.
type hosted struct {
	name     string
	exchange Exchange

	ctx      context.Context
	stop     context.CancelFunc
	incoming chan jsonrpc.Message
	mu       sync.Mutex // asking begins before Close waits, or not at all
	wg       sync.WaitGroup
}

// Connect implements sdk.Transport.
func (h *hosted) Connect(context.Context) (sdk.Connection, error) {
	h.ctx, h.stop = context.WithCancel(context.Background())
	h.incoming = make(chan jsonrpc.Message, 16)
	return h, nil
}

// SessionID implements sdk.Connection.
func (h *hosted) SessionID() string { return "" }

// Read returns the next message of the server.
func (h *hosted) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-h.incoming:
		return m, nil
	case <-h.ctx.Done():
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write hands a message over. A request's reply arrives through Read, whenever it comes; a notification is waited
// for, so that what follows it comes after it.
func (h *hosted) Write(ctx context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	if h.ctx.Err() != nil {
		return io.ErrClosedPipe
	}
	req, isRequest := m.(*jsonrpc.Request)
	if !isRequest || !req.IsCall() {
		limited, cancel := context.WithTimeout(ctx, ackTime)
		defer cancel()
		_, _ = h.exchange(limited, h.name, data)
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ctx.Err() != nil {
		return io.ErrClosedPipe
	}
	ctx, cancel := context.WithCancel(ctx)
	unhook := context.AfterFunc(h.ctx, cancel)
	h.wg.Go(func() {
		defer cancel()
		defer unhook()
		h.deliver(h.ask(ctx, req.ID, data))
	})
	return nil
}

// ask returns the reply to a request; what goes wrong becomes a reply too.
func (h *hosted) ask(ctx context.Context, id jsonrpc.ID, data json.RawMessage) jsonrpc.Message {
	raw, err := h.exchange(ctx, h.name, data)
	if err == nil {
		var m jsonrpc.Message
		if m, err = jsonrpc.DecodeMessage(raw); err == nil {
			if r, ok := m.(*jsonrpc.Response); ok {
				r.ID = id
				return r
			}
			err = errors.New("the host's reply is no JSON-RPC response")
		}
	}
	return &jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}}
}

// deliver hands a message of the server to the client.
func (h *hosted) deliver(m jsonrpc.Message) {
	select {
	case h.incoming <- m:
	case <-h.ctx.Done():
	}
}

// Close implements sdk.Connection.
func (h *hosted) Close() error {
	h.mu.Lock()
	h.stop()
	h.mu.Unlock()
	h.wg.Wait()
	return nil
}

// Deliver hands over a message that a server in the host's process sent by itself. One for nobody is dropped.
func (s *Set) Deliver(server string, message json.RawMessage) {
	sv := s.find(server)
	if sv == nil {
		return
	}
	sv.mu.Lock()
	c := sv.conn
	sv.mu.Unlock()
	if c == nil || c.hosted == nil {
		return
	}
	if m, err := jsonrpc.DecodeMessage(message); err == nil {
		c.hosted.deliver(m)
	}
}
