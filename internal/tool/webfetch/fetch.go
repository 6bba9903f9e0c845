package webfetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

const (
	maxBody      = 10 << 20
	maxRedirects = 10
)

// fetch gets one page. The transport lives as long as the fetch, and with it the addresses that it resolved.
func (t *Tool) fetch(ctx context.Context, u *url.URL) (page, error) {
	d := &dialer{lookup: t.d.Lookup, allowLoopback: t.d.AllowLoopback}
	transport := &http.Transport{
		DialContext: d.dial, TLSClientConfig: t.d.TLS.Clone(), ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 20 * time.Second, ResponseHeaderTimeout: 2 * time.Minute, MaxResponseHeaderBytes: 1 << 20,
	}
	defer transport.CloseIdleConnections()
	through, err := t.proxy(u)
	if err != nil {
		return page{}, fmt.Errorf("reading the proxy settings: %w", err)
	}
	if through != nil { // the proxy resolves and connects; its own address is the user's choice
		transport.Proxy = http.ProxyURL(through)
		transport.DialContext = nil
	}
	p := page{url: u.String(), at: t.d.Now()}
	client := &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		return t.redirect(&p, req, via)
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return page{}, err
	}
	req.Header.Set("User-Agent", t.d.UserAgent)
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/plain;q=0.9, */*;q=0.5")
	resp, err := client.Do(req)
	if err != nil {
		return page{}, explain(err)
	}
	defer resp.Body.Close()
	p.code, p.status = resp.StatusCode, resp.Status
	if p.moved != "" {
		return p, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil && (len(body) == 0 || ctx.Err() != nil) {
		return page{}, fmt.Errorf("reading %s: %w", u, err)
	}
	if p.cut = len(body) > maxBody || err != nil; len(body) > maxBody {
		body = body[:maxBody]
	}
	p.size = len(body)
	p.text, err = pageText(ctx, body, resp.Header.Get("Content-Type"), resp.Request.URL.Scheme+"://"+resp.Request.URL.Host)
	return p, err
}

// proxy says which proxy a URL goes through, nil for none.
func (t *Tool) proxy(u *url.URL) (*url.URL, error) {
	env := func(key string) string {
		if v := t.d.Getenv(key); v != "" {
			return v
		}
		return t.d.Getenv(strings.ToLower(key))
	}
	c := httpproxy.Config{HTTPProxy: env("HTTP_PROXY"), HTTPSProxy: env("HTTPS_PROXY"), NoProxy: env("NO_PROXY")}
	return c.ProxyFunc()(u)
}

// redirect follows within the same host and port, where http is not followed down from https, and notes any other
// target instead.
func (t *Tool) redirect(p *page, req *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	to := req.URL
	if len(via) > maxRedirects {
		return fmt.Errorf("more than %d redirects", maxRedirects)
	}
	safe, err := parseURL(to.String(), t.d.AllowLoopback)
	if err != nil || !sameHost(from, safe) {
		p.moved = to.String()
		return http.ErrUseLastResponse
	}
	*req.URL = *safe
	req.Header.Del("Referer")
	return nil
}

func sameHost(a, b *url.URL) bool {
	return strings.EqualFold(strings.TrimSuffix(a.Hostname(), "."), strings.TrimSuffix(b.Hostname(), ".")) && port(a) == port(b)
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// explain takes the method and URL, which the model knows, off an error.
func explain(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("the server did not answer in time")
	}
	return err
}
