package anthropic

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/provider"
)

func env(pairs ...string) func(string) string {
	return func(k string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == k {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestClientCertificates(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, startEvent, stopEvent)
	}))
	defer server.Close()
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"} {
		h, err := NewClient(env(name, ca))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := collect(t.Context(), client(t, Options{BaseURL: server.URL, Client: h}), request()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	junk := filepath.Join(dir, "junk.pem")
	if err := os.WriteFile(junk, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	bad := []struct {
		env  func(string) string
		says string
	}{
		{env("SSL_CERT_FILE", filepath.Join(dir, "none")), "SSL_CERT_FILE: open"},
		{env("NODE_EXTRA_CA_CERTS", junk), "NODE_EXTRA_CA_CERTS: no certificate in"},
		{env("CLAUDE_CODE_CLIENT_CERT", ca), "set both or none"},
		{env("CLAUDE_CODE_CLIENT_CERT", ca, "CLAUDE_CODE_CLIENT_KEY", junk), "load the client certificate"},
	}
	for _, tt := range bad {
		if _, err := NewClient(tt.env); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("error %v, want %q", err, tt.says)
		}
	}
}

func TestProxy(t *testing.T) {
	var seen []string
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.String())
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, startEvent, stopEvent)
	})
	for _, e := range []func(string) string{env("HTTP_PROXY", proxy), env("http_proxy", proxy, "NO_PROXY", "other.example")} {
		h, err := NewClient(e)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := collect(t.Context(), client(t, Options{BaseURL: "http://api.example", Client: h}), request()); err != nil {
			t.Error(err)
		}
	}
	h, err := NewClient(env("HTTP_PROXY", proxy, "NO_PROXY", "api.example"))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := h.Transport.(*http.Transport).Proxy(mustRequest(t, "http://api.example/")); p != nil || err != nil {
		t.Errorf("NO_PROXY is not heeded: %v, %v", p, err)
	}
	if len(seen) != 2 || seen[0] != "http://api.example/v1/messages" {
		t.Errorf("the proxy saw %v", seen)
	}
	var _ provider.Provider = (*Client)(nil)
}

func mustRequest(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Authorities of the environment are parsed for a plain server, too, where the way there is a proxy that speaks TLS.
func TestLateRoots(t *testing.T) {
	for proxy, want := range map[string]bool{"": false, "http://proxy.example": false, "https://proxy.example": true} {
		secure := false
		l := &lateRoots{
			plain:  &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, io.ErrUnexpectedEOF }},
			secure: func() (http.RoundTripper, error) { secure = true; return nil, io.ErrClosedPipe },
		}
		if proxy != "" {
			u, err := url.Parse(proxy)
			if err != nil {
				t.Fatal(err)
			}
			l.plain.Proxy = http.ProxyURL(u)
		}
		if _, err := l.RoundTrip(mustRequest(t, "http://api.example/")); err == nil || secure != want {
			t.Errorf("proxy %q: authorities parsed: %v, %v", proxy, secure, err)
		}
		secure = false
		if _, err := l.RoundTrip(mustRequest(t, "https://api.example/")); err == nil || !secure {
			t.Errorf("proxy %q: TLS without the authorities, %v", proxy, err)
		}
	}
}
