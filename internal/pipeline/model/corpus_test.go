package model

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/provider/anthropic"
	"lathe/internal/testkit"
	"lathe/internal/turn"
)

// bodyClient is the real client, answered with a body instead of a network.
func bodyClient(t testing.TB, body func() io.Reader) *anthropic.Client {
	t.Helper()
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		return &http.Response{
			StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
			Body: io.NopCloser(body()), Request: r,
		}, nil
	})
	c, err := anthropic.New(anthropic.Options{BaseURL: "http://test", Client: &http.Client{Transport: transport}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// got is what a client holds after a stream, in the form of the expectations.
type got struct {
	Complete bool
	Stop     string
	Blocks   []any
	Usage    map[string]any
	Error    string // type
}

// feed gives the assembler a chunk and reports whether it was the last one.
func feed(asm *assembler, c provider.Chunk) (last bool) {
	switch c.Kind {
	case provider.ChunkStart:
		asm.start(c)
	case provider.ChunkBlockStart:
		asm.open(c)
	case provider.ChunkBlockDelta:
		asm.add(c)
	case provider.ChunkBlockEnd:
		asm.end(c.Index)
	case provider.ChunkDelta:
		asm.delta(c)
	case provider.ChunkStop:
		return true
	}
	return false
}

func assemble(seq iter.Seq2[provider.Chunk, error]) got {
	var asm assembler
	var g got
	for c, err := range seq {
		if err != nil {
			if e := apiError(err); e != nil && e.Kind != provider.Truncated {
				g.Error = string(e.Kind)
			}
			break
		}
		g.Complete = feed(&asm, c) || g.Complete
	}
	g.Stop, g.Blocks = asm.stop, []any{}
	for _, p := range asm.release(true) {
		b, ok := p.finish()
		var v map[string]any
		_ = json.Unmarshal(msg.AppendBlock(nil, b, nil), &v)
		v["index"] = float64(p.index)
		if !ok {
			v["input"], v["input_raw"] = nil, string(p.input)
		}
		g.Blocks = append(g.Blocks, v)
	}
	raw, _ := json.Marshal(asm.usage)
	_ = json.Unmarshal(raw, &g.Usage)
	return g
}

type expected struct {
	Complete   bool
	StopReason *string `json:"stop_reason"`
	Blocks     []any
	Usage      map[string]any
	Error      *struct{ Type string }
}

var errorKinds = map[string]provider.Kind{"overloaded_error": provider.Overloaded, "api_error": provider.Server}

func (e expected) got() got {
	g := got{Complete: e.Complete, Blocks: e.Blocks, Usage: map[string]any{}}
	if e.StopReason != nil {
		g.Stop = *e.StopReason
	}
	if e.Error != nil {
		g.Error = string(errorKinds[e.Error.Type])
	}
	for _, k := range []string{"input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"} {
		g.Usage[k] = float64(0)
		if v, ok := e.Usage[k].(float64); ok {
			g.Usage[k] = v
		}
	}
	return g
}

// corpus returns the recorded streams with what a right client makes of them.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	dir := testkit.Shared(t, "data/sse/anthropic")
	files := map[string]string{}
	for _, pattern := range []string{"*.sse", "derived/*.sse"} {
		names, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, n := range names {
			rel, _ := filepath.Rel(dir, n)
			files[strings.TrimSuffix(rel, ".sse")] = n
		}
	}
	if len(files) == 0 {
		t.Fatalf("no streams in %s", dir)
	}
	return files
}

func TestRecordedStreams(t *testing.T) {
	for name, file := range corpus(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := readExpected(t, strings.TrimSuffix(file, ".sse")+".expected.json")
			rng := rand.New(rand.NewPCG(1, 2))
			readers := map[string]func() io.Reader{
				"whole": func() io.Reader { return strings.NewReader(string(data)) },
				"parts": func() io.Reader { return &parts{data: data, rng: rng} },
				"bytes": func() io.Reader { return iotest.OneByteReader(strings.NewReader(string(data))) }, // split at every byte
			}
			for kind, r := range readers {
				g := assemble(bodyClient(t, r).Stream(context.Background(), &provider.Request{}))
				trim(g.Usage)
				if diff := cmp.Diff(want, g); diff != "" {
					t.Fatalf("%s (-want +got):\n%s", kind, diff)
				}
			}
		})
	}
}

// Every single place to split a stream, for a stream that has nearly everything.
func TestRecordedStreamEverySplit(t *testing.T) {
	file, ok := corpus(t)["derived/interleaved-tool-blocks"]
	if !ok {
		t.Fatal("the stream is not there")
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := readExpected(t, strings.TrimSuffix(file, ".sse")+".expected.json")
	for cut := 1; cut < len(data); cut++ {
		body := func() io.Reader {
			return io.MultiReader(strings.NewReader(string(data[:cut])), strings.NewReader(string(data[cut:])))
		}
		g := assemble(bodyClient(t, body).Stream(context.Background(), &provider.Request{}))
		trim(g.Usage)
		if diff := cmp.Diff(want, g); diff != "" {
			t.Fatalf("split at %d (-want +got):\n%s", cut, diff)
		}
	}
}

// Each recorded stream through the whole stage: whatever it is, what stays on disk can be sent back.
func TestRecordedStreamsThroughStage(t *testing.T) {
	for name, file := range corpus(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.deps.Provider = bodyClient(t, func() io.Reader { return strings.NewReader(string(data)) })
			w.conf = Config{MaxRetries: -1}
			err := w.run(t.Context())
			var stop *turn.Stop
			if err != nil && !errors.As(err, &stop) {
				t.Errorf("error %v", err)
			}
			if err == nil && w.t.Reply == nil {
				t.Error("neither a reply nor an end")
			}
			w.checkDisk(t)
		})
	}
}

func readExpected(t *testing.T, file string) got {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var e expected
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	for _, b := range e.Blocks {
		// The delta carries the opaque part of a compaction, which must go back; the expectation leaves it null.
		if m := b.(map[string]any); m["type"] == "compaction" && m["encrypted_content"] == nil && strings.Contains(file, "sdk-compaction") {
			m["encrypted_content"] = "EpwBCioIDxgCEAEYASJALd_opaque_compaction_payload"
		}
	}
	return e.got()
}

func trim(usage map[string]any) {
	for k := range usage {
		switch k {
		case "input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens":
		default:
			delete(usage, k)
		}
	}
}

type parts struct {
	data []byte
	rng  *rand.Rand
}

func (p *parts) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), 1+p.rng.IntN(300))], p.data)
	p.data = p.data[n:]
	return n, nil
}

// Whatever bytes come: no crash, a verdict, and blocks that are valid JSON.
func FuzzStream(f *testing.F) {
	f.Add([]byte("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\n" +
		"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"b\",\"input\":{},\"caller\":{\"type\":\"direct\"}}}\n\n" +
		"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1}\"}}\n\n" +
		"data: {\"type\":\"content_block_stop\",\"index\":0}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":5}}\n\ndata: {\"type\":\"message_stop\"}\n\n"))
	f.Add([]byte("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"bad tools\"}}\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		stream := bodyClient(t, func() io.Reader { return strings.NewReader(string(data)) })
		var asm assembler
		stopped := false
		for c, err := range stream.Stream(context.Background(), &provider.Request{}) {
			if err != nil {
				if apiError(err) == nil {
					t.Fatalf("error of a strange type: %v", err)
				}
				stopped = true
				break
			}
			stopped = feed(&asm, c) || stopped
			if c.Raw != nil && !json.Valid(c.Raw) {
				t.Fatalf("an event that is no JSON was passed on: %q", c.Raw)
			}
		}
		if !stopped {
			t.Fatal("neither an end nor an error")
		}
		for _, p := range asm.release(true) {
			b, _ := p.finish()
			if out := msg.AppendBlock(nil, b, nil); !json.Valid(out) {
				t.Fatalf("block is no JSON: %s", out)
			}
		}
	})
}
