package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	"lathe/internal/fakeapi"
)

// serveStream serves one answer of one block, each event written and flushed by itself, as a model streams. What
// follows on a tool's result is a short answer. Both are rendered beforehand by the fake API, so that the time of a
// run is the client's and the network's.
func serveStream(block fakeapi.Block) (url string, stop func(), err error) {
	long, err := render(fakeapi.Answer{Blocks: []fakeapi.Block{block}})
	if err != nil {
		return "", nil, err
	}
	short, err := render(fakeapi.Text("Done."))
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	hs := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		events := long
		if bytes.Contains(body, []byte(`"tool_result"`)) {
			events = short
		}
		w.Header().Set("Content-Type", "text/event-stream")
		flush := http.NewResponseController(w)
		for _, e := range events {
			if _, err := w.Write(e); err != nil || flush.Flush() != nil {
				return
			}
		}
	})}
	go func() { _ = hs.Serve(l) }()
	return "http://" + l.Addr().String(), func() { _ = hs.Close() }, nil
}

// render returns the events of an answer as the fake API streams them.
func render(a fakeapi.Answer) ([][]byte, error) {
	server, err := fakeapi.New(fakeapi.Options{Script: &fakeapi.Script{Default: &a}})
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]any{
		"model": "claude-opus-5-5", "max_tokens": 64000, "stream": true,
		"messages": []map[string]any{{"role": "user", "content": "Tell a story."}},
	})
	if err != nil {
		return nil, err
	}
	req := httptest.NewRequest(http.MethodPost, "/v1/messages", bytes.NewReader(body))
	for k, v := range map[string]string{"Content-Type": "application/json", "X-Api-Key": "k", "Anthropic-Version": "2023-06-01"} {
		req.Header.Set(k, v)
	}
	rec := httptest.NewRecorder()
	server.ServeHTTP(rec, req)
	if rec.Code != http.StatusOK {
		return nil, fmt.Errorf("render the stream: %s", rec.Body)
	}
	return bytes.SplitAfter(rec.Body.Bytes(), []byte("\n\n")), nil
}

// readStream reads the same answer without looking at it.
func readStream(url string) (time.Duration, error) {
	start := time.Now()
	resp, err := http.Post(url+"/v1/messages", "application/json", bytes.NewReader([]byte("{}")))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	n, err := io.Copy(io.Discard, resp.Body)
	if err == nil && n < 100*deltas {
		err = fmt.Errorf("the stream has only %d bytes", n)
	}
	if err != nil {
		return 0, err
	}
	return time.Since(start), nil
}
