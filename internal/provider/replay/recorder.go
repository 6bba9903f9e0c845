package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"sync"

	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/provider/wire"
)

// RecordOptions says how a session is recorded.
type RecordOptions struct {
	Model string
	Match string // MatchLast when empty; MatchExact keeps whole requests, which makes long recordings large
	// Vars names texts of this run, such as its directory and the date, that another run has others for. They
	// do not enter the recording.
	Vars   map[string]string
	Ignore []string // patterns whose matches are not compared when it is played
	// Clean takes secrets out of what is written: a text, or JSON with all its strings. Nil: nothing is changed.
	Clean     func(text string) string
	CleanJSON func(raw []byte) []byte
}

// shortest is how long a text must be to be replaced: a home directory of "/" stands everywhere.
const shortest = 4

// Recorder is a provider that passes on another one and writes what it sees. It is safe for concurrent use.
type Recorder struct {
	next provider.Provider
	opts RecordOptions
	vars vars

	mu  sync.Mutex
	out io.Writer
	err error
}

// Create returns a recorder that writes to a new file, which only its owner can read. Close closes it.
func Create(path string, next provider.Provider, o RecordOptions) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	r, err := newRecorder(f, next, o)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// newRecorder returns a recorder that writes to w, the header at once and each call when it has ended.
func newRecorder(w io.Writer, next provider.Provider, o RecordOptions) (*Recorder, error) {
	if o.Match == "" {
		o.Match = MatchLast
	}
	if err := checkMatch(o.Match); err != nil {
		return nil, err
	}
	r := &Recorder{next: next, opts: o, out: w}
	h := header{Recording: 1, Model: o.Model, Match: o.Match, Ignore: o.Ignore}
	for name, value := range o.Vars {
		if len(value) < shortest {
			continue
		}
		if h.Vars == nil {
			h.Vars = map[string]string{}
		}
		h.Vars[name] = placeholder + name + "}"
		r.vars.add(value, h.Vars[name])
	}
	r.vars.sort()
	if err := r.write(h); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return r, nil
}

// Close closes the file and returns the first error of writing. The session itself is not disturbed by one.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c, ok := r.out.(io.Closer); ok {
		if err := c.Close(); r.err == nil {
			r.err = err
		}
	}
	if r.err != nil {
		return fmt.Errorf("record: %w", r.err)
	}
	return nil
}

func (r *Recorder) write(v any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b := line.Bytes()
	if r.opts.CleanJSON != nil {
		b = r.opts.CleanJSON(b)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		_, r.err = r.out.Write(b)
	}
	return r.err
}

// Stream implements provider.Provider.
func (r *Recorder) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		c := call{Request: r.request(req)}
		var seen []provider.Chunk
		end := errors.New("left by its reader")
		defer func() {
			c.Events = r.events(seen)
			if end != nil {
				c.Error = failureOf(end)
			}
			_ = r.write(c) // kept in r.err
		}()
		for chunk, err := range r.next.Stream(ctx, req) {
			if err != nil {
				end = err
				yield(chunk, err)
				return
			}
			if chunk.Raw != nil {
				kept := chunk
				kept.Raw = append([]byte(nil), chunk.Raw...)
				seen = append(seen, kept)
			}
			if chunk.Kind == provider.ChunkStop {
				end = nil
			}
			if !yield(chunk, nil) {
				return
			}
		}
	}
}

// request returns what is kept of a request: its body, or the last message of it.
func (r *Recorder) request(req *provider.Request) json.RawMessage {
	kept := *req
	if r.opts.Match == MatchLast {
		var ms []provider.Message
		if n := len(req.Messages); n > 0 {
			ms = req.Messages[n-1:]
		}
		kept = provider.Request{Model: req.Model, MaxTokens: req.MaxTokens, NoStream: req.NoStream, Messages: ms}
	}
	kept.Breakpoints = nil
	return r.vars.inJSON(wire.AppendRequest(nil, &kept))
}

// events returns the events of an answer with the texts of this run replaced. A model sends a path in several
// pieces; the pieces are cut anew where one would be split.
func (r *Recorder) events(seen []provider.Chunk) []json.RawMessage {
	out := make([]json.RawMessage, 0, len(seen))
	open := map[series]*pieces{}
	settle := func(done func(series) bool) {
		for k, p := range open {
			if !done(k) {
				continue
			}
			for i, text := range r.recut(p.texts, k.kind) {
				out[p.at[i]] = deltaEvent(provider.Chunk{Index: k.index, Delta: k.kind}, text)
			}
			delete(open, k)
		}
	}
	for _, c := range seen {
		switch c.Kind {
		case provider.ChunkStart:
			settle(func(series) bool { return true })
		case provider.ChunkBlockStart, provider.ChunkBlockEnd:
			settle(func(k series) bool { return k.index == c.Index })
		case provider.ChunkBlockDelta:
			if len(r.vars) == 0 && r.opts.Clean == nil || c.Delta != provider.DeltaText && c.Delta != provider.DeltaThinking && c.Delta != provider.DeltaInput {
				break
			}
			k := series{c.Index, c.Delta}
			if open[k] == nil {
				open[k] = &pieces{}
			}
			open[k].at = append(open[k].at, len(out))
			open[k].texts = append(open[k].texts, c.Text)
		}
		out = append(out, r.vars.inJSON(c.Raw))
	}
	settle(func(series) bool { return true })
	return out
}

// series names the deltas of one kind of one block, pieces are they.
type series struct {
	index int
	kind  provider.DeltaKind
}

type pieces struct {
	at    []int // their places among the events
	texts []string
}

// recut replaces in the joined pieces and cuts them where they were cut, but never inside a replaced text.
func (r *Recorder) recut(pieces []string, kind provider.DeltaKind) []string {
	form := func(s string) string { return s }
	if kind == provider.DeltaInput {
		form = escape
	}
	var whole []byte
	var cuts []int
	for _, p := range pieces {
		whole = append(whole, p...)
		cuts = append(cuts, len(whole))
	}
	out := make([]string, len(pieces))
	if clean := r.opts.Clean; clean != nil {
		text := clean(string(whole))
		if kind == provider.DeltaInput {
			text = string(r.opts.CleanJSON(whole))
		}
		if text != string(whole) { // a secret may lie across pieces, so all comes in the first one
			out[0] = r.vars.replace(text, form)
			return out
		}
	}
	spans := r.vars.spans(string(whole), form)
	from := 0
	for i, cut := range cuts {
		for _, s := range spans {
			if s[0] < cut && cut < s[1] {
				cut = s[1]
			}
		}
		cut = max(cut, from)
		out[i] = r.vars.replace(string(whole[from:cut]), form)
		from = cut
	}
	return out
}

// deltaEvent writes the event of a delta.
func deltaEvent(c provider.Chunk, text string) []byte {
	names := map[provider.DeltaKind][2]string{
		provider.DeltaText:     {"text_delta", "text"},
		provider.DeltaThinking: {"thinking_delta", "thinking"},
		provider.DeltaInput:    {"input_json_delta", "partial_json"},
	}
	n := names[c.Delta]
	b := []byte(`{"type":"content_block_delta","index":` + strconv.Itoa(c.Index) + `,"delta":{"type":"` + n[0] + `","` + n[1] + `":`)
	return append(msg.AppendString(b, text), '}', '}')
}
