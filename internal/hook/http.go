package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"lathe/internal/perm"
)

// post sends the input to a URL. A redirect is not followed: only what was configured is reached.
func (b *Bus) post(ctx context.Context, h *handler, in []byte) raw {
	if err := b.mayReach(h.URL); err != nil {
		return raw{problem: err.Error()}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(in))
	if err != nil {
		return raw{problem: err.Error()}
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range h.Headers {
		req.Header.Set(k, b.header(h, v))
	}
	client := http.Client{Transport: b.deps.HTTP, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return raw{problem: problemOf(ctx, err), timedOut: errors.Is(ctx.Err(), context.DeadlineExceeded)}
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxOutput))
	if err != nil {
		return raw{problem: problemOf(ctx, err), timedOut: errors.Is(ctx.Err(), context.DeadlineExceeded)}
	}
	r := raw{stdout: body}
	switch {
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		r.problem = "the server answered " + resp.Status
	case len(bytes.TrimSpace(body)) > 0 && !looksJSON(body):
		r.problem = "the server's answer is not a JSON object: " + firstLine(string(body))
	}
	return r
}

func problemOf(ctx context.Context, err error) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return "it took too long and was stopped"
	}
	var ue *url.Error
	if errors.As(err, &ue) { // without the URL, which may hold a secret
		err = ue.Err
	}
	return err.Error()
}

// header puts environment variables into a header's value; those that are not allowed become empty.
func (b *Bus) header(h *handler, value string) string {
	return expand(value, func(name string) (string, bool) {
		if !slices.Contains(h.AllowedEnvVars, name) || b.deps.HeaderVars != nil && !slices.Contains(b.deps.HeaderVars, name) {
			return "", true
		}
		return strings.NewReplacer("\r", "", "\n", "").Replace(b.deps.Getenv(name)), true
	})
}

// mayReach checks a URL against the allowed patterns.
func (b *Bus) mayReach(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%q is not an http or https URL", text)
	}
	if b.deps.URLs == nil {
		return nil
	}
	if u.User == nil {
		for _, p := range b.deps.URLs {
			if urlMatch(p, u) {
				return nil
			}
		}
	}
	return fmt.Errorf("the URL is not covered by allowedHttpHookUrls")
}

// urlMatch compares part by part, so that a star for the host never reaches into the path. A pattern without a path
// means every path.
func urlMatch(pattern string, u *url.URL) bool {
	scheme, rest, ok := strings.Cut(pattern, "://")
	if !ok {
		scheme, rest = "*", pattern
	}
	host, path, hasPath := strings.Cut(rest, "/")
	if !hasPath {
		path = "*"
	}
	have := strings.TrimPrefix(u.RequestURI(), "/")
	return perm.Stars(strings.ToLower(scheme), strings.ToLower(u.Scheme)) && perm.Stars(strings.ToLower(host), strings.ToLower(u.Host)) && perm.Stars(path, have)
}
