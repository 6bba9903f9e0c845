package anthropic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"

	"lathe/internal/provider"
)

// DefaultVersion is the API version that is asked for when none is set: the one that gateways and compatible
// servers know. Our requests are right under the newer 2026-10-21 too.
const DefaultVersion = "2023-06-01"

// DefaultBaseURL is the public API.
const DefaultBaseURL = "https://" + defaultHost

const defaultHost = "api.anthropic.com"

// Options says where the API is and how to speak to it.
type Options struct {
	BaseURL   string // with or without /v1 and a slash at its end; empty: DefaultBaseURL
	APIKey    string // sent as x-api-key
	AuthToken string // sent as a bearer token; wins over APIKey
	// KeyHelper gives a key when neither APIKey nor AuthToken is set; it is sent both ways. It keeps its own
	// cache, which force passes by.
	KeyHelper func(ctx context.Context, force bool) (string, error)

	Headers   http.Header // further headers; they win over ours
	Version   string      // of the API; empty: DefaultVersion
	Betas     []string
	UserAgent string
	Client    *http.Client // see NewClient; nil: a new one without proxy and certificate settings
}

// Client is a provider. It is safe for concurrent use.
type Client struct {
	opts   Options
	url    string
	http   *http.Client
	bodies buffers

	answered atomic.Bool // anything came back, whatever it was
}

// New returns a client. It fails when the base URL cannot be used.
func New(o Options) (*Client, error) {
	target, err := endpoint(o.BaseURL)
	if err != nil {
		return nil, err
	}
	o.APIKey, o.AuthToken = strings.TrimSpace(o.APIKey), strings.TrimSpace(o.AuthToken) // a line end of the file that it was read from
	c := &Client{opts: o, url: target, http: o.Client}
	if c.http == nil {
		if c.http, err = NewClient(func(string) string { return "" }); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// endpoint makes the address of the messages endpoint out of a base URL.
func endpoint(base string) (string, error) {
	if base == "" {
		base = DefaultBaseURL
	}
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil {
		return "", errors.New("the base URL (ANTHROPIC_BASE_URL) cannot be read: want one such as http://host:port")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("the base URL (ANTHROPIC_BASE_URL) %q: want http:// or https:// and a host", u.Redacted())
	}
	path := strings.TrimRight(u.Path, "/")
	path = strings.TrimSuffix(strings.TrimSuffix(path, "/messages"), "/v1")
	u.Path, u.RawPath = path+"/v1/messages", ""
	return u.String(), nil
}

// CanRefresh reports whether there is a key helper that Refresh can run.
func (c *Client) CanRefresh() bool {
	return c.opts.KeyHelper != nil && c.opts.APIKey == "" && c.opts.AuthToken == ""
}

// Refresh runs the key helper anew. It reports whether there is one.
func (c *Client) Refresh(ctx context.Context) (bool, error) {
	if !c.CanRefresh() {
		return false, nil
	}
	if _, err := c.opts.KeyHelper(ctx, true); err != nil {
		return true, fmt.Errorf("run the key helper: %w", err)
	}
	return true, nil
}

// drain is how long the end of an answer is waited for, so that its connection can be used again.
const drain = 20 * time.Millisecond

// Stream implements provider.Provider.
func (c *Client) Stream(ctx context.Context, req *provider.Request) iter.Seq2[provider.Chunk, error] {
	return func(yield func(provider.Chunk, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		resp, err := c.post(ctx, req)
		if err != nil {
			yield(provider.Chunk{}, err)
			return
		}
		defer resp.Body.Close()
		a := &answer{resp: resp, requestID: resp.Header.Get("request-id"), yield: yield}
		if err := a.read(ctx); err != nil {
			yield(provider.Chunk{}, a.withID(err))
			return
		}
		if a.whole {
			stop := time.AfterFunc(drain, cancel)
			defer stop.Stop()
			finish(resp.Body)
		}
	}
}

func (c *Client) post(ctx context.Context, req *provider.Request) (*http.Response, error) {
	hreq, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, nil)
	if err != nil {
		return nil, &provider.Error{Kind: provider.Invalid, Err: err}
	}
	if err := c.setHeaders(ctx, hreq.Header, req); err != nil {
		return nil, err
	}
	body := c.bodies.encode(req)
	defer body.done()
	body.attach(hreq)
	resp, err := c.http.Do(hreq)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, c.networkError(err, hreq.URL)
	}
	c.answered.Store(true)
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, statusError(resp)
	}
	return resp, nil
}

func (c *Client) setHeaders(ctx context.Context, h http.Header, req *provider.Request) error {
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "text/event-stream, application/json")
	if req.NoStream {
		h.Set("Accept", "application/json")
	}
	h.Set("User-Agent", "lathe")
	if c.opts.UserAgent != "" {
		h.Set("User-Agent", c.opts.UserAgent)
	}
	h.Set("Anthropic-Version", DefaultVersion)
	if c.opts.Version != "" {
		h.Set("Anthropic-Version", c.opts.Version)
	}
	if betas := c.betas(req); len(betas) > 0 {
		h.Set("Anthropic-Beta", strings.Join(betas, ","))
	}
	switch {
	case c.opts.AuthToken != "":
		h.Set("Authorization", "Bearer "+c.opts.AuthToken)
	case c.opts.APIKey != "":
		h.Set("X-Api-Key", c.opts.APIKey)
	case c.opts.KeyHelper != nil:
		key, err := c.opts.KeyHelper(ctx, false)
		if err != nil {
			return &provider.Error{Kind: provider.Auth, NoRetry: true, Message: "the key helper failed: " + err.Error(), Err: err}
		}
		h.Set("X-Api-Key", key)
		h.Set("Authorization", "Bearer "+key)
	}
	for k, v := range c.opts.Headers {
		h[http.CanonicalHeaderKey(k)] = v
	}
	return checkHeaders(h)
}

// checkHeaders finds what HTTP does not take, which the transport would call a failure of the network. It does not
// show values: one may be a key.
func checkHeaders(h http.Header) error {
	for name, values := range h {
		if !httpguts.ValidHeaderFieldName(name) {
			return &provider.Error{Kind: provider.Invalid, NoRetry: true, Message: fmt.Sprintf("the header name %q is not valid", name)}
		}
		if slices.ContainsFunc(values, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }) {
			e := &provider.Error{Kind: provider.Invalid, NoRetry: true, Message: fmt.Sprintf("the value of the header %s has a line end or another control character in it", name)}
			if name == "X-Api-Key" || name == "Authorization" {
				e.Kind = provider.Auth
			}
			return e
		}
	}
	return nil
}

// Sum is the checksum (CRC-32C, eight hex digits) and the length of the body that a request is sent with.
func (c *Client) Sum(req *provider.Request) (string, int) {
	sum, n := c.bodies.sum(req)
	return fmt.Sprintf("%08x", sum), n
}

// Headers are the headers that a request is sent with, for people to see: values that may be secrets are left out.
func (c *Client) Headers(req *provider.Request) map[string]string {
	const hidden = "(not shown)"
	open := Client{opts: c.opts}
	open.opts.AuthToken, open.opts.APIKey, open.opts.KeyHelper, open.opts.Headers = "", "", nil, nil
	h := http.Header{}
	_ = open.setHeaders(context.Background(), h, req) // only a key helper can fail
	out := map[string]string{}
	for name := range h {
		out[name] = h.Get(name)
	}
	switch {
	case c.opts.AuthToken != "":
		out["Authorization"] = hidden
	case c.opts.APIKey != "":
		out["X-Api-Key"] = hidden
	case c.opts.KeyHelper != nil:
		out["Authorization"], out["X-Api-Key"] = hidden, hidden
	}
	for name := range c.opts.Headers {
		out[http.CanonicalHeaderKey(name)] = hidden
	}
	return out
}

func (c *Client) betas(req *provider.Request) []string {
	var out []string
	add := func(names ...string) {
		for _, n := range names {
			if n = strings.TrimSpace(n); n != "" && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	add(c.opts.Betas...)
	add(req.Betas...)
	if req.Thinking.OnMismatch != "" {
		add("thinking-binding-controls-2026-08-01")
	}
	return out
}
