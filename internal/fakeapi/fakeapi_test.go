package fakeapi

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type obj = map[string]any

func start(t *testing.T, opts Options) (*Server, string) {
	t.Helper()
	s, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	url, err := s.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, url
}

func user(blocks ...any) obj      { return obj{"role": "user", "content": blocks} }
func assistant(blocks ...any) obj { return obj{"role": "assistant", "content": blocks} }
func text(s string) obj           { return obj{"type": "text", "text": s} }
func use(id, name string) obj {
	return obj{"type": "tool_use", "id": id, "name": name, "input": obj{}}
}

func result(id, s string) obj {
	return obj{"type": "tool_result", "tool_use_id": id, "content": []any{text(s)}}
}

func tool(name string) obj {
	return obj{"name": name, "description": "A tool.", "input_schema": obj{"type": "object", "properties": obj{}}}
}

func pngData(w, h int) string {
	var buf bytes.Buffer
	_ = png.Encode(&buf, image.NewGray(image.Rect(0, 0, w, h)))
	return base64.StdEncoding.EncodeToString(buf.Bytes())
}

func picture(media, data string) obj {
	return obj{"type": "image", "source": obj{"type": "base64", "media_type": media, "data": data}}
}

// base is a good request; over replaces fields, and a nil removes one.
func base(over obj) obj {
	b := obj{"model": "claude-opus-5-5", "max_tokens": 1000, "stream": true, "messages": []any{user(text("hi"))}}
	maps.Copy(b, over)
	maps.DeleteFunc(b, func(_ string, v any) bool { return v == nil })
	return b
}

func newRequest(t *testing.T, url string, body any, header ...string) *http.Request {
	t.Helper()
	data, ok := body.([]byte)
	if !ok {
		var err error
		if data, err = json.Marshal(body); err != nil {
			t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/messages", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", "k")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Del(header[i])
		if header[i+1] != "" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	return req
}

func client() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
}

// reply is what came back: the raw body, its events, and the error of reading, if any.
type got struct {
	status int
	header http.Header
	body   string
	err    error
}

func do(t *testing.T, req *http.Request) got {
	t.Helper()
	res, err := client().Do(req)
	if err != nil {
		return got{err: err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return got{status: res.StatusCode, header: res.Header, body: string(body), err: err}
}

func post(t *testing.T, url string, body any, header ...string) got {
	t.Helper()
	return do(t, newRequest(t, url, body, header...))
}

func (g got) events() []string {
	var out []string
	sc := bufio.NewScanner(strings.NewReader(g.body))
	for sc.Scan() {
		if name, ok := strings.CutPrefix(sc.Text(), "event: "); ok {
			out = append(out, name)
		}
	}
	return out
}

// message puts the streamed message together again, as a client does.
func (g got) message(t *testing.T) (blocks []any, stop string, usage obj) {
	t.Helper()
	for line := range strings.Lines(g.body) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type    string
			Index   int
			Message struct{ Usage obj }
			Block   obj `json:"content_block"`
			Delta   obj
			Usage   obj
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		switch e.Type {
		case "content_block_start":
			blocks = append(blocks, e.Block)
		case "content_block_delta":
			b := blocks[e.Index].(obj)
			for field, key := range map[string]string{"text": "text", "thinking": "thinking", "signature": "signature", "partial_json": "json"} {
				if v, ok := e.Delta[field].(string); ok {
					had, _ := b[key].(string)
					b[key] = had + v
				}
			}
		case "content_block_stop":
			b := blocks[e.Index].(obj)
			if in, ok := b["json"].(string); ok {
				var v any
				_ = json.Unmarshal([]byte(in), &v)
				b["input"] = v
				delete(b, "json")
			}
		case "message_delta":
			stop, _ = e.Delta["stop_reason"].(string)
			usage = e.Usage
		}
	}
	return blocks, stop, usage
}
