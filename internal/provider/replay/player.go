package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lathe/internal/provider"
	"lathe/internal/provider/sse"
	"lathe/internal/provider/wire"
)

// Options says how a recording is played.
type Options struct {
	Vars  map[string]string // what the recording's vars stand for in this run
	Delay time.Duration     // between the events of an answer, so that it can be watched
	// Clean takes secrets out of JSON, as it was done for the recording, before requests are compared. Nil: they are
	// compared as they are.
	Clean func(raw []byte) []byte
}

// Player is a provider that answers from a recording. It is safe for concurrent use; calls are answered in the
// order in which they come.
type Player struct {
	name string
	opts Options
	rec  *recording
	vars vars

	mu   sync.Mutex
	next int
}

// Open reads a recording from a file.
func Open(path string, o Options) (*Player, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	defer f.Close()
	return New(f, filepath.Base(path), o)
}

// New reads a recording; name is what it is called in errors.
func New(r io.Reader, name string, o Options) (*Player, error) {
	rec, err := read(r)
	if err != nil {
		return nil, fmt.Errorf("recording %s: %w", name, err)
	}
	p := &Player{name: name, opts: o, rec: rec}
	for k, text := range rec.Vars {
		value, ok := o.Vars[k]
		if !ok && strings.HasPrefix(text, placeholder) {
			return nil, fmt.Errorf("recording %s: it needs a value for its variable %s", name, k)
		}
		if ok {
			p.vars.add(text, value)
		}
	}
	p.vars.sort()
	return p, nil
}

// Model is the model that was recorded: what the header names, else the first request. Empty when neither says.
func (p *Player) Model() string {
	if p.rec.Model != "" || len(p.rec.calls) == 0 {
		return p.rec.Model
	}
	var req struct{ Model string }
	_ = json.Unmarshal(p.rec.calls[0].Request, &req)
	return req.Model
}

// Left is the number of recorded calls that were not asked for yet.
func (p *Player) Left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.rec.calls) - p.next
}

// Stream implements provider.Provider. A request that is not the recorded one is an error of kind Replay, which
// says where the two first differ; so is one more call than there are.
func (p *Player) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		if ctx.Err() != nil {
			yield(provider.Chunk{}, context.Cause(ctx))
			return
		}
		n, c, ok := p.take()
		if !ok {
			yield(provider.Chunk{}, p.fail("%s has %d calls and this is number %d", p.name, len(p.rec.calls), n))
			return
		}
		if diff := p.compare(c, wire.AppendRequest(nil, req)); diff != "" {
			yield(provider.Chunk{}, p.fail("call %d of %s is another request: %s", n, p.name, diff))
			return
		}
		p.play(ctx, c, yield)
	}
}

func (p *Player) fail(format string, args ...any) *provider.Error {
	return &provider.Error{Kind: provider.Replay, NoRetry: true, Message: fmt.Sprintf(format, args...)}
}

func (p *Player) take() (int, *call, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next++
	if p.next > len(p.rec.calls) {
		n := p.next
		p.next = len(p.rec.calls)
		return n, nil, false
	}
	return p.next, &p.rec.calls[p.next-1], true
}

func (p *Player) play(ctx context.Context, c *call, yield func(provider.Chunk, error) bool) {
	delay := p.opts.Delay
	if c.DelayMS > 0 && delay == 0 {
		delay = time.Duration(c.DelayMS) * time.Millisecond
	}
	for i, raw := range events(c) {
		if i > 0 && !pause(ctx, delay) {
			yield(provider.Chunk{}, context.Cause(ctx))
			return
		}
		chunk, err := wire.Decode(p.vars.inEvent(raw))
		if err != nil {
			yield(provider.Chunk{}, err)
			return
		}
		if !yield(chunk, nil) || chunk.Kind == provider.ChunkStop {
			return
		}
	}
	if c.Error != nil {
		yield(provider.Chunk{}, c.Error.err())
		return
	}
	yield(provider.Chunk{}, &provider.Error{Kind: provider.Truncated, Message: "the recorded answer ends before its last event"})
}

// events returns the events of a call as JSON.
func events(c *call) [][]byte {
	var out [][]byte
	for _, e := range c.Events {
		out = append(out, e)
	}
	r := sse.NewReader(strings.NewReader(c.SSE))
	for {
		ev, err := r.Next()
		if err != nil {
			return out
		}
		if !ev.Alive {
			out = append(out, append([]byte(nil), ev.Data...))
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
