package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"lathe/internal/perm"
)

func patterns(t testing.TB, hosts ...string) (out []perm.DomainPattern) {
	t.Helper()
	for _, h := range hosts {
		p, ok := perm.ParseDomain(h)
		if !ok {
			t.Fatalf("%s is no host", h)
		}
		out = append(out, p)
	}
	return out
}

// speak sends bytes to a proxy of its own and returns what comes back until it closes.
func speak(t testing.TB, n Network, lookup func(context.Context, string) ([]net.IP, error), send []byte) ([]byte, []string) {
	t.Helper()
	p := newProxy(n, &Options{Lookup: lookup})
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	go func() { defer close(done); p.handle(theirs); _ = theirs.Close() }()
	go func() { _, _ = ours.Write(send) }()
	_ = ours.SetReadDeadline(time.Now().Add(time.Minute))
	got, _ := io.ReadAll(ours)
	_ = ours.Close()
	<-done
	return got, p.close()
}

func TestProxyDecidesByHost(t *testing.T) {
	n := Network{Allow: patterns(t, "*.ok.test", "named.test", "10.0.0.1", "*"), Deny: patterns(t, "bad.ok.test")}
	closed := errors.New("dialled")
	lookup := func(_ context.Context, host string) ([]net.IP, error) {
		switch host {
		case "inner.ok.test":
			return []net.IP{net.IPv4(10, 1, 1, 1), net.IPv4(169, 254, 169, 254)}, nil
		case "mapped.ok.test":
			return []net.IP{net.ParseIP("::ffff:127.0.0.1")}, nil
		}
		return nil, closed
	}
	for host, want := range map[string]string{
		"bad.ok.test:443": "403", "BAD.OK.TEST.:443": "403", "inner.ok.test:80": "403", "mapped.ok.test:80": "403", "localhost:80": "403", "127.0.0.1:80": "403", "[::1]:80": "403",
		"0x7f.1:80": "403", "2130706433:80": "403", "169.254.169.254:80": "403", "intranet:80": "403", "a\tb.test:80": "400", "x.ok.test:0": "400", "x.ok.test:99999": "400",
	} {
		got, _ := speak(t, n, lookup, []byte("CONNECT "+host+" HTTP/1.1\r\nHost: "+host+"\r\n\r\n"))
		if !strings.HasPrefix(string(got), "HTTP/1.1 "+want) {
			t.Errorf("%q: %.80q, want %s", host, got, want)
		}
	}
	none, refused := speak(t, Network{}, nil, []byte("CONNECT example.com:443 HTTP/1.1\r\n\r\n"))
	if !strings.HasPrefix(string(none), "HTTP/1.1 403") || len(refused) != 1 || refused[0] != "example.com" {
		t.Errorf("with no hosts allowed: %.80q %q", none, refused)
	}
}

// The request line decides, not a Host header beside it.
func TestPlainRequestsGoWhereTheirUrlSays(t *testing.T) {
	n := Network{Allow: patterns(t, "a.test")}
	got, _ := speak(t, n, nil, []byte("GET http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n"))
	if !strings.HasPrefix(string(got), "HTTP/1.1 403") {
		t.Errorf("%.80q", got)
	}
	for _, line := range []string{"GET / HTTP/1.1", "GET ftp://a.test/ HTTP/1.1", "\x00\x01"} {
		if got, _ := speak(t, n, nil, []byte(line+"\r\nHost: a.test\r\n\r\n")); !strings.HasPrefix(string(got), "HTTP/1.1 400") {
			t.Errorf("%q: %.80q", line, got)
		}
	}
}

func TestSocks(t *testing.T) {
	domain := func(host string) []byte {
		out := []byte{5, 1, 0, 5, 1, 0, 3, byte(len(host))}
		return append(append(out, host...), 0, 80)
	}
	for name, c := range map[string]struct {
		send []byte
		want []byte // the last bytes: version and code
	}{
		"refused host":    {domain("b.test"), []byte{5, 2}},
		"refused address": {[]byte{5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, 0, 80}, []byte{5, 2}},
		"bind":            {[]byte{5, 1, 0, 5, 2, 0, 1, 1, 1, 1, 1, 0, 80}, []byte{5, 7}},
		"udp":             {[]byte{5, 1, 0, 5, 3, 0, 1, 1, 1, 1, 1, 0, 80}, []byte{5, 7}},
		"with a password": {[]byte{5, 1, 2}, []byte{5, 0xff}},
	} {
		got, _ := speak(t, Network{Allow: patterns(t, "a.test")}, nil, c.send)
		got = bytes.TrimPrefix(got, []byte{5, 0})
		if !bytes.HasPrefix(got, c.want) {
			t.Errorf("%s: % x, want % x", name, got, c.want)
		}
	}
}

// Whatever a client says, the proxy neither crashes nor hangs nor connects.
func FuzzProxy(f *testing.F) {
	f.Add([]byte("CONNECT a.test:443 HTTP/1.1\r\n\r\n"))
	f.Add([]byte{5, 1, 0, 5, 1, 0, 3, 1, 'a', 0, 80})
	f.Add([]byte("GET http://a/ HTTP/1.0\r\n\r\n"))
	f.Add([]byte{5})
	f.Fuzz(func(t *testing.T, data []byte) {
		p := newProxy(Network{}, &Options{Lookup: func(context.Context, string) ([]net.IP, error) {
			t.Error("a name was looked up that nobody allowed")
			return nil, errors.New("no")
		}})
		ours, theirs := net.Pipe()
		done := make(chan struct{})
		go func() { defer close(done); p.handle(theirs); _ = theirs.Close() }()
		go func() { _, _ = ours.Write(data); _ = ours.SetReadDeadline(time.Now()); _ = ours.Close() }()
		_, _ = io.Copy(io.Discard, bufio.NewReader(ours))
		<-done
		p.close()
	})
}
