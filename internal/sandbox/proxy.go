package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"lathe/internal/perm"
)

const (
	maxConns     = 256              // connections that one command may hold
	helloLimit   = 30 * time.Second // for a client to say what it wants
	dialLimit    = 20 * time.Second
	maxHeader    = 64 << 10
	shownRefused = 20 // hosts named in a note
)

// proxy is the only way from a command to the network: HTTP (CONNECT and plain requests) and SOCKS5 on the same
// port, told apart by the first byte. It decides by host, and resolves names itself.
type proxy struct {
	network Network
	lookup  func(context.Context, string) ([]net.IP, error)
	ask     func(host string) bool
	own     int // when set, everything goes to the user's own proxy at this port, which decides

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	slots  chan struct{}

	mu      sync.Mutex
	closers map[io.Closer]struct{}
	closed  bool
	refused []string
}

func newProxy(n Network, o *Options) *proxy {
	p := &proxy{
		network: n, lookup: o.Lookup, ask: o.AskHost, own: o.Settings.ProxyPort,
		slots: make(chan struct{}, maxConns), closers: map[io.Closer]struct{}{},
	}
	if p.lookup == nil {
		p.lookup = func(ctx context.Context, host string) ([]net.IP, error) {
			return net.DefaultResolver.LookupIP(ctx, "ip", host)
		}
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// track has a closer closed with the proxy; it reports false when that has happened.
func (p *proxy) track(c io.Closer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return false
	}
	p.closers[c] = struct{}{}
	return true
}

func (p *proxy) untrack(c io.Closer) {
	p.mu.Lock()
	delete(p.closers, c)
	p.mu.Unlock()
	_ = c.Close()
}

// spawn runs f in a goroutine that close waits for.
func (p *proxy) spawn(f func()) { p.wg.Go(f) }

// close ends every connection, waits for all goroutines and returns the hosts that were refused.
func (p *proxy) close() []string {
	p.mu.Lock()
	p.closed = true
	for c := range p.closers {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.cancel()
	p.wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

// serve takes connections until the listener is closed.
func (p *proxy) serve(l net.Listener) {
	if !p.track(l) {
		return
	}
	defer p.untrack(l)
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		select {
		case p.slots <- struct{}{}:
		default:
			_ = c.Close() // too many
			continue
		}
		if !p.track(c) {
			return
		}
		p.spawn(func() {
			defer func() { <-p.slots }()
			defer p.untrack(c)
			p.handle(c)
		})
	}
}

func (p *proxy) handle(c net.Conn) {
	if p.own > 0 {
		up, err := (&net.Dialer{Timeout: dialLimit}).DialContext(p.ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.own)))
		if err == nil {
			p.splice(c, c, up)
		}
		return
	}
	_ = c.SetReadDeadline(time.Now().Add(helloLimit))
	r := bufio.NewReaderSize(c, 4<<10)
	first, err := r.Peek(1)
	if err != nil {
		return
	}
	if first[0] == 5 {
		p.socks(c, r)
		return
	}
	p.http(c, r)
}

func (p *proxy) refuse(host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.refused, host) && len(p.refused) < shownRefused {
		p.refused = append(p.refused, host)
	}
}

// errRefused says that the policy has no place for a host.
var errRefused = errors.New("the sandbox refuses this host")

// connect dials a host if it may be reached.
func (p *proxy) connect(host string, port uint16) (net.Conn, error) {
	name, ok := canonicalHost(host)
	if !ok {
		return nil, fmt.Errorf("%w: the name is malformed", errRefused)
	}
	allowed, named := p.network.decide(name)
	if !allowed && p.ask != nil && !p.denied(name) {
		allowed = p.ask(name)
	}
	if !allowed {
		p.refuse(name)
		return nil, fmt.Errorf("%w: %s is not allowed", errRefused, name)
	}
	ctx, cancel := context.WithTimeout(p.ctx, dialLimit)
	defer cancel()
	addrs, err := resolve(ctx, p.lookup, name, named)
	if err != nil {
		p.refuse(name)
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	var last error
	for _, a := range addrs {
		up, err := (&net.Dialer{}).DialContext(ctx, "tcp", netip.AddrPortFrom(a, port).String())
		if err == nil {
			return up, nil
		}
		last = err
	}
	return nil, last
}

// denied says that a list names the host as refused, so that nobody is asked.
func (p *proxy) denied(host string) bool {
	return slices.ContainsFunc(p.network.Deny, func(d perm.DomainPattern) bool { return d.Match(host) })
}

func (p *proxy) http(c net.Conn, r *bufio.Reader) {
	limited := &io.LimitedReader{R: r, N: maxHeader}
	head := bufio.NewReader(limited)
	req, err := http.ReadRequest(head)
	if err != nil {
		respond(c, http.StatusBadRequest, "this is the sandbox's proxy: it takes CONNECT and requests with a full URL")
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	limited.N = 1 << 62 // the body may be of any size
	if req.Method == http.MethodConnect {
		p.tunnel(c, head, req)
		return
	}
	p.forward(c, req)
}

// tunnel answers CONNECT.
func (p *proxy) tunnel(c net.Conn, r io.Reader, req *http.Request) {
	host, port, ok := splitPort(req.Host, 443)
	if !ok {
		respond(c, http.StatusBadRequest, "CONNECT needs HOST:PORT")
		return
	}
	up, err := p.connect(host, port)
	if err != nil {
		respondError(c, err)
		return
	}
	if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		_ = up.Close()
		return
	}
	p.splice(c, r, up)
}

// forward passes one plain HTTP request on; the connection is closed afterwards.
func (p *proxy) forward(c net.Conn, req *http.Request) {
	host, port, ok := splitPort(req.URL.Host, 80)
	if req.URL.Scheme != "http" || !ok {
		respond(c, http.StatusBadRequest, "this is the sandbox's proxy: it takes CONNECT and requests for http:// URLs")
		return
	}
	transport := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return p.connect(host, port) },
	}
	defer transport.CloseIdleConnections()
	req.RequestURI = ""
	for _, key := range []string{"Proxy-Connection", "Proxy-Authorization", "Connection", "Keep-Alive", "Upgrade", "Te"} {
		req.Header.Del(key)
	}
	req.Host = req.URL.Host // the host that was judged is the one that is asked for
	res, err := transport.RoundTrip(req.WithContext(p.ctx))
	if err != nil {
		respondError(c, err)
		return
	}
	defer func() { _ = res.Body.Close() }()
	res.Close = true
	_ = res.Write(c) // a client that has gone needs no answer
}

// splice carries bytes both ways until either side ends.
func (p *proxy) splice(c net.Conn, fromClient io.Reader, up net.Conn) {
	if !p.track(up) {
		return
	}
	defer p.untrack(up)
	done := make(chan struct{})
	p.spawn(func() {
		defer close(done)
		_, _ = io.Copy(up, fromClient)
		closeWrite(up)
	})
	_, _ = io.Copy(c, up)
	closeWrite(c)
	_ = c.SetReadDeadline(time.Now().Add(helloLimit)) // a client that says nothing more is let go
	<-done
}

func closeWrite(c net.Conn) {
	if t, ok := c.(interface{ CloseWrite() error }); ok {
		_ = t.CloseWrite()
		return
	}
	_ = c.Close()
}

func splitPort(hostport string, fallback uint16) (host string, port uint16, ok bool) {
	host, text, err := net.SplitHostPort(hostport)
	if err != nil {
		return hostport, fallback, hostport != ""
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return host, uint16(n), err == nil && n > 0
}

func respondError(c io.Writer, err error) {
	if errors.Is(err, errRefused) {
		respond(c, http.StatusForbidden, err.Error())
		return
	}
	respond(c, http.StatusBadGateway, "the sandbox's proxy could not connect: "+err.Error())
}

func respond(c io.Writer, status int, text string) {
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\nX-Proxy-Error: lathe-sandbox\r\n\r\n%s\n",
		status, http.StatusText(status), len(text)+1, text)
}
