package anthropic

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"lathe/internal/provider"
	"lathe/internal/provider/wire"
)

// maxErrorBody is how much of an error body is read.
const maxErrorBody = 64 << 10

// statusError reads a response that is no success.
func statusError(resp *http.Response) *provider.Error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	e := wire.Error(resp.StatusCode, body)
	if id := resp.Header.Get("request-id"); id != "" {
		e.RequestID = id
	}
	e.After = retryAfter(resp.Header.Get("retry-after"), time.Now())
	e.NoRetry = strings.EqualFold(resp.Header.Get("x-should-retry"), "false")
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		e.NoRetry = true
		e.Message = "the server sends us elsewhere (" + location(resp) + "); is the base URL right?"
	}
	if resp.StatusCode < 300 {
		e.Kind = provider.Malformed
	}
	return e
}

func location(resp *http.Response) string {
	u, err := url.Parse(resp.Header.Get("location"))
	if err != nil {
		return "no address"
	}
	return u.Redacted()
}

// retryAfter reads a retry-after header: seconds, or a date.
func retryAfter(v string, now time.Time) time.Duration {
	v = strings.TrimSpace(v)
	if secs, err := strconv.ParseFloat(v, 64); err == nil {
		if !(secs > 0 && secs < 1e9) { // also false for NaN
			return 0
		}
		return time.Duration(secs * float64(time.Second))
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now).Round(time.Second))
	}
	return 0
}

// networkError maps a request that got no response. Whom we could not reach is said with the variable that names it.
func (c *Client) networkError(err error, target *url.URL) *provider.Error {
	e := &provider.Error{Kind: provider.Network, Err: err}
	to, ours := target.Host, target.Host == defaultHost
	if !ours {
		to += " (ANTHROPIC_BASE_URL)"
	}
	if proxy, ok := viaProxy(c.http, err, target); ok {
		to, ours = "the proxy "+proxy.Host+" ("+strings.ToUpper(target.Scheme)+"_PROXY)", false
	}
	e.Message = "cannot connect to " + to + ": " + reason(err)
	if !ours && !c.answered.Load() && nobody(err) {
		e.Kind = provider.Absent
	}
	var certificate *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var header tls.RecordHeaderError
	switch {
	case errors.As(err, &certificate), errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid):
		e.NoRetry = true
		e.Message += "; name the authority that signed it with NODE_EXTRA_CA_CERTS or SSL_CERT_FILE"
	case errors.As(err, &header):
		e.NoRetry = true
	}
	return e
}

// viaProxy is the proxy that could not be reached, if it was one.
func viaProxy(h *http.Client, err error, target *url.URL) (*url.URL, bool) {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "proxyconnect" {
		return nil, false
	}
	var t *http.Transport
	switch rt := h.Transport.(type) {
	case *http.Transport:
		t = rt
	case *lateRoots:
		t = rt.plain
	}
	if t == nil || t.Proxy == nil {
		return nil, false
	}
	proxy, err := t.Proxy(&http.Request{URL: target})
	return proxy, err == nil && proxy != nil
}

// nobody reports whether there is surely no server: nothing listens on this machine's own port, or the name has no
// address. Another machine that refuses may be restarting, and what else fails may be the network.
func nobody(err error) bool {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.IsNotFound
	}
	if !refused(err) {
		return false
	}
	var op *net.OpError
	for errors.As(err, &op) { // the innermost knows the address
		if at, ok := op.Addr.(*net.TCPAddr); ok {
			return at.IP.IsLoopback()
		}
		err = op.Err
	}
	return false
}

// refused reports whether a connection was refused. The second number is the one of Windows.
func refused(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.Errno(10061))
}

// reason is the innermost cause in a few words, without the address, which is said before.
func reason(err error) string {
	switch {
	case refused(err):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		// net.ErrClosed: the transport saw the end and closed our side while the body was still being sent.
		return "the server closed the connection without an answer"
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return "no address for " + dns.Name
	}
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "timed out"
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return err.Error()
}
