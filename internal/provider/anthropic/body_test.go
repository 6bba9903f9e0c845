package anthropic

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lathe/internal/msg"
	"lathe/internal/provider/wire"
)

// The memory of a body is used again; no request may ever see bytes of another one, also when the server answers
// before it has read the body, or the call is cancelled while it is sent.
func TestBodiesDoNotMix(t *testing.T) {
	var sent sync.Map // the text of each body that is right
	var calls, whole atomic.Int32
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1)%5 == 0 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // a cancelled one
		}
		whole.Add(1)
		if _, ok := sent.Load(string(body)); !ok {
			t.Errorf("a body of %d bytes is none that was sent: %.80s", len(body), body)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, startEvent, stopEvent)
	})
	c := client(t, Options{BaseURL: url})
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for n := range 50 {
				req := request()
				req.Messages[0].Content = []msg.Block{msg.Text(strings.Repeat(fmt.Sprint(worker, n, " "), 1+20_000*(n%3)))}
				sent.Store(string(wire.AppendRequest(nil, req)), true)
				ctx, cancel := context.WithCancel(t.Context())
				if n%4 == 2 {
					go cancel() // at some moment of the call
				}
				for range c.Stream(ctx, req) { //nolint:revive // what the server sees counts
				}
				cancel()
			}
		})
	}
	wg.Wait()
	if whole.Load() < 50 {
		t.Errorf("only %d bodies came whole", whole.Load())
	}
}

// A closed reader gives nothing, and closing twice gives the memory back once.
func TestClosedBody(t *testing.T) {
	var home buffers
	b := home.encode(request())
	r := b.reader()
	first, _ := io.ReadAll(r)
	_ = r.Close()
	_ = r.Close()
	if n, err := r.Read(make([]byte, 8)); n != 0 || err == nil {
		t.Errorf("read %d bytes after Close, error %v", n, err)
	}
	again, _ := io.ReadAll(b.reader())
	if !bytes.Equal(first, again) {
		t.Errorf("second reading %q, first %q", again, first)
	}
	if home.spare != nil {
		t.Error("the memory went back while it was in use")
	}
}

func TestReasonOfClosedConnection(t *testing.T) {
	err := fmt.Errorf("write tcp: %w", net.ErrClosed)
	if got := reason(err); !strings.Contains(got, "without an answer") {
		t.Errorf("reason %q", got)
	}
}
