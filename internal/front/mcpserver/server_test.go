package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"lathe/internal/msg"
)

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

func call(id, tool string) string {
	return `{"jsonrpc":"2.0","id":"` + id + `","method":"tools/call","params":{"name":"` + tool + `"}}` + "\n"
}

// served gives the input to a server and returns its answers by id, and the order of their ids.
func served(t *testing.T, input string, out io.Writer, do func(ctx context.Context, id, tool string, ask Ask) (Result, error)) (map[string]string, []string) {
	t.Helper()
	o := Options{Tools: []Tool{{Name: "one", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "two", Schema: json.RawMessage(`{"type":"object"}`)}}}
	o.Call = func(ctx context.Context, id, tool string, _ json.RawMessage, ask Ask) (Result, error) {
		return do(ctx, id, tool, ask)
	}
	var buf bytes.Buffer
	if out == nil {
		out = &buf
	}
	if err := Serve(t.Context(), strings.NewReader(input), out, o); err != nil && out == &buf {
		t.Error(err)
	}
	got, order := map[string]string{}, []string(nil)
	for line := range strings.Lines(buf.String()) {
		var m struct {
			ID     any
			Method string
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if id, ok := m.ID.(string); ok && m.Method == "" {
			got[id] = line
			order = append(order, id)
		}
	}
	return got, order
}

// The input ends while the first call runs, which here ends when the second one does: both have answers all the same.
func TestServeAnswersAll(t *testing.T) {
	both := make(chan struct{})
	got, order := served(t, hello+call("a", "one")+call("b", "two")+`{"jsonrpc":"2.0","id":"c","method":"tools/list"}`+"\n", nil, func(ctx context.Context, id, tool string, _ Ask) (Result, error) {
		if tool == "one" {
			select {
			case <-both:
			case <-ctx.Done():
				return Result{}, context.Cause(ctx)
			}
		} else {
			defer close(both)
		}
		return Result{Blocks: []msg.Block{msg.Text("done " + tool)}}, nil
	})
	if slices.Sort(order); strings.Join(order, " ") != "a b c hello" || !strings.Contains(got["a"], "done one") || !strings.Contains(got["b"], "done two") {
		t.Errorf("%v", got)
	}
}

// What a client is asked after its input has ended nobody answers: the call fails, and the server ends.
func TestServeAsksNobody(t *testing.T) {
	var mu sync.Mutex
	asked := 0
	got, _ := served(t, hello+call("a", "one")+`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{}}`+"\n", nil, func(ctx context.Context, _, _ string, ask Ask) (Result, error) {
		mu.Lock()
		asked++
		mu.Unlock()
		if _, err := ask(ctx, "May I?"); !errors.Is(err, ErrNobody) {
			t.Errorf("asked: %v", err)
		}
		return Result{IsError: true}, nil
	})
	if asked != 1 || !strings.Contains(got["a"], "the client's input has ended") {
		t.Errorf("asked %d times: %v", asked, got)
	}
}

// Where answers cannot be written, none is waited for.
func TestServeBrokenOutput(t *testing.T) {
	served(t, hello+call("a", "one")+call("b", "one"), brokenWriter{}, func(context.Context, string, string, Ask) (Result, error) {
		return Result{}, nil
	})
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
