package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"lathe/internal/proc"
)

const (
	firstByte  = 60 * time.Second // of a reply, unless the entry's timeout is longer
	helperTime = 10 * time.Second // for a headers helper
)

// errNeedsAuth says that the server wants a sign-in.
var errNeedsAuth = errors.New("the server asks for a sign-in")

// headerTripper puts an entry's headers on each request, and notes how the server answered.
type headerTripper struct {
	next   http.RoundTripper
	origin string // scheme and host of the entry: nothing is sent elsewhere
	static map[string]string
	helper func(ctx context.Context) (map[string]string, error) // nil: none

	mu     sync.Mutex
	helped map[string]string
	ran    bool
	status int // of the last answer that was no success
}

// RoundTrip sends a request. A refused one is sent once more when a helper makes other headers.
func (t *headerTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if o := origin(req.URL); o != t.origin { // the older transport takes an address from the server
		return nil, fmt.Errorf("the server wants its messages sent to %s, which is not the address of its entry", o)
	}
	helped, err := t.help(req.Context(), false)
	if err != nil {
		return nil, err
	}
	resp, err := t.send(req, helped)
	if err != nil || t.helper == nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return resp, err
	}
	again, err := t.help(req.Context(), true)
	if err != nil || maps.Equal(again, helped) || req.Body != nil && req.GetBody == nil {
		return resp, nil // as it is: the refusal is what there is to tell
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	_ = resp.Body.Close()
	retry := req.Clone(req.Context())
	if req.GetBody != nil {
		if retry.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	return t.send(retry, again)
}

func (t *headerTripper) send(req *http.Request, helped map[string]string) (*http.Response, error) {
	req = req.Clone(req.Context())
	for _, set := range []map[string]string{t.static, helped} {
		for k, v := range set {
			if strings.EqualFold(k, "Host") {
				req.Host = v
				continue
			}
			req.Header.Set(k, v)
		}
	}
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 400 {
		t.mu.Lock()
		t.status = resp.StatusCode
		t.mu.Unlock()
	}
	bound(resp)
	return resp, nil
}

// Limits of a reply that is read whole.
const (
	maxBody    = maxLine
	maxRefusal = 1 << 20 // of one that tells what is wrong
)

// bound makes reading too large a reply an error. Streams have no end: each of their events has a limit of its own.
func bound(resp *http.Response) {
	limit := int64(maxBody)
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); {
	case resp.StatusCode >= 400:
		limit = maxRefusal
	case kind == "text/event-stream":
		return
	}
	resp.Body = &boundBody{ReadCloser: resp.Body, left: limit, limit: limit}
}

// bounded is a transport whose replies are bound.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(req)
	if err == nil {
		bound(resp)
	}
	return resp, err
}

type boundBody struct {
	io.ReadCloser
	left, limit int64
}

func (b *boundBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, fmt.Errorf("the server's reply has more than %d MB", b.limit>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)]) // one more than it may have, to see that it has
	if b.left -= int64(n); b.left < 0 {
		return n - 1, fmt.Errorf("the server's reply has more than %d MB", b.limit>>20)
	}
	return n, err
}

// help returns what the helper says; it runs at the first request, and again when that was refused.
func (t *headerTripper) help(ctx context.Context, again bool) (map[string]string, error) {
	if t.helper == nil {
		return nil, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ran && !again {
		return t.helped, nil
	}
	headers, err := t.helper(ctx)
	if err != nil {
		return nil, err
	}
	t.helped, t.ran = headers, true
	return headers, nil
}

func (t *headerTripper) last() int { t.mu.Lock(); defer t.mu.Unlock(); return t.status }

// signed reports whether the entry signs its requests itself; then a refusal is an error, and no sign-in is offered.
func (c Config) signed() bool {
	for k := range c.Headers {
		if strings.EqualFold(k, "Authorization") {
			return true
		}
	}
	return c.HeadersHelper != ""
}

// client is the HTTP client of a remote server. Redirects lead to no other host: the headers are for this one.
func (s *server) client(tripper *headerTripper) *http.Client {
	return &http.Client{
		Transport: tripper,
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) > 5 || req.URL.Host != via[0].URL.Host || via[0].URL.Scheme == "https" && req.URL.Scheme != "https" {
				return fmt.Errorf("the server redirects to %s://%s, which is another one; write that address into the entry if you trust it", req.URL.Scheme, req.URL.Host)
			}
			return nil
		},
	}
}

func origin(u *url.URL) string {
	return strings.ToLower(u.Scheme) + "://" + withPort(strings.ToLower(u.Host), strings.ToLower(u.Scheme))
}

func (s *server) tripper(c Config) *headerTripper {
	t := &headerTripper{next: s.set.transport(c), static: c.Headers}
	if u, err := url.Parse(c.URL); err == nil {
		t.origin = origin(u)
	}
	if c.HeadersHelper != "" {
		t.helper = func(ctx context.Context) (map[string]string, error) { return s.runHelper(ctx, c) }
	}
	return t
}

// transport makes connections. A reply's first byte may take a minute, or as long as a call may.
func (s *Set) transport(c Config) http.RoundTripper {
	if s.deps.HTTP != nil {
		return s.deps.HTTP
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = max(firstByte, c.Timeout(), s.milliseconds("MCP_TOOL_TIMEOUT", 0))
	return t
}

// runHelper runs the command that prints headers as a JSON object.
func (s *server) runHelper(ctx context.Context, c Config) (map[string]string, error) {
	env := s.set.deps.Environ()
	if c.Scope == Project || c.Scope == Plugin { // others wrote the command
		env = withoutCredentials(env)
	}
	var out, errs limited
	exit, err := s.set.deps.Procs.Run(ctx, proc.Spec{
		Args: shellCommand(c.HeadersHelper), Dir: s.set.deps.Dir, Out: &out, Err: &errs, Timeout: helperTime,
		Env: append(env, "CLAUDE_CODE_MCP_SERVER_NAME="+c.Name, "CLAUDE_CODE_MCP_SERVER_URL="+c.URL, "CLAUDE_PROJECT_DIR="+s.set.deps.Project),
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("its headersHelper: %w", err)
	case exit.TimedOut:
		return nil, fmt.Errorf("its headersHelper took longer than %s", helperTime)
	case exit.Code != 0:
		return nil, fmt.Errorf("its headersHelper failed with exit code %d: %s", exit.Code, short(string(errs.data), 200))
	}
	var headers map[string]string
	if err := json.Unmarshal(out.data, &headers); err != nil {
		return nil, errors.New(`its headersHelper must print a JSON object of texts, such as {"Authorization": "Bearer …"}`)
	}
	return headers, nil
}

// limited keeps the first 64 KB of what is written.
type limited struct{ data []byte }

func (l *limited) Write(p []byte) (int, error) {
	l.data = append(l.data, p[:min(len(p), 64<<10-len(l.data))]...)
	return len(p), nil
}

func withoutCredentials(env []string) []string {
	var out []string
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !credential(name) {
			out = append(out, kv)
		}
	}
	return out
}
