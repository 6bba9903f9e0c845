package anthropic

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"lathe/internal/provider"
)

// Only an address that the user set, where surely no server is and nobody answered before, is given up soon.
func TestAbsent(t *testing.T) {
	dial := func(ip string, err error) error {
		return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.ParseIP(ip), Port: 1}, Err: os.NewSyscallError("connect", err)}
	}
	viaProxy := func(err error) error { return &net.OpError{Op: "proxyconnect", Net: "tcp", Err: err} }
	noName := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "gate.example", IsNotFound: true}}
	noServer := &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "server misbehaving", Name: "gate.example", IsTemporary: true}}
	for name, c := range map[string]struct {
		base, proxy string
		answered    bool
		err         error
		want        provider.Kind
		says        string
	}{
		"a port of this machine": {base: "http://localhost:1", err: dial("127.0.0.1", syscall.ECONNREFUSED), want: provider.Absent, says: "localhost:1 (ANTHROPIC_BASE_URL): connection refused"},
		"its other address":      {base: "http://localhost:1", err: dial("::1", syscall.ECONNREFUSED), want: provider.Absent},
		"one that answered":      {base: "http://localhost:1", answered: true, err: dial("127.0.0.1", syscall.ECONNREFUSED), want: provider.Network},
		"no route":               {base: "http://localhost:1", err: dial("127.0.0.1", syscall.ENETUNREACH), want: provider.Network},
		"another machine":        {base: "http://gate.example", err: dial("192.0.2.1", syscall.ECONNREFUSED), want: provider.Network},
		"a name of the user's":   {base: "https://gate.example", err: noName, want: provider.Absent, says: "gate.example (ANTHROPIC_BASE_URL): no address"},
		"no name server":         {base: "https://gate.example", err: noServer, want: provider.Network},
		"the API's own name":     {err: noName, want: provider.Network, says: "cannot connect to api.anthropic.com: "},
		"the API refuses":        {err: dial("127.0.0.1", syscall.ECONNREFUSED), want: provider.Network},
		"a proxy":                {proxy: "http://localhost:2", err: viaProxy(dial("127.0.0.1", syscall.ECONNREFUSED)), want: provider.Absent, says: "the proxy localhost:2 (HTTPS_PROXY): connection refused"},
		"a proxy elsewhere":      {proxy: "http://gate.example:2", err: viaProxy(dial("192.0.2.1", syscall.ECONNREFUSED)), want: provider.Network, says: "the proxy gate.example:2 (HTTPS_PROXY)"},
	} {
		h, err := NewClient(env("HTTPS_PROXY", c.proxy))
		if err != nil {
			t.Fatal(err)
		}
		client, err := New(Options{BaseURL: c.base, Client: h})
		if err != nil {
			t.Fatal(err)
		}
		client.answered.Store(c.answered)
		target, err := url.Parse(client.url)
		if err != nil {
			t.Fatal(err)
		}
		e := client.networkError(&url.Error{Op: "Post", URL: client.url, Err: c.err}, target)
		if e.Kind != c.want || !strings.Contains(e.Message, c.says) || !errors.Is(e, c.err) {
			t.Errorf("%s: %s %q, want %s that says %q", name, e.Kind, e.Message, c.want, c.says)
		}
	}
}

// Whatever the server answers, it is there.
func TestAnswered(t *testing.T) {
	base := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) })
	c := client(t, Options{BaseURL: base})
	if _, _, err := collect(t.Context(), c, request()); err == nil || !c.answered.Load() {
		t.Errorf("a 503 is no answer: %v", err)
	}
}
