package webfetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

// forbidden are ranges that are no public host's, besides those that package netip knows: this network, carrier
// NAT, protocol assignments, documentation, benchmarks, reserved, tunnels that carry IPv4 in IPv6, and a cloud's
// address for its own services.
var forbidden = sync.OnceValue(func() []netip.Prefix {
	var out []netip.Prefix
	for _, s := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "168.63.129.16/32",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
		"5f00::/16", "fec0::/10",
	} {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
})

// publicAddr reports whether an address may be dialled.
func publicAddr(a netip.Addr, allowLoopback bool) bool {
	a = a.Unmap()
	if a.IsLoopback() {
		return allowLoopback
	}
	if !a.IsValid() || a.Zone() != "" || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() {
		return false
	}
	for _, p := range forbidden() {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// isLoopbackHost reports whether a host is this machine by its name alone.
func isLoopbackHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// parseURL checks a URL as the model gave it, and turns http into https unless it names this machine.
func parseURL(raw string, allowLoopback bool) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	if !strings.Contains(raw, "://") && !strings.HasPrefix(raw, "/") && strings.Contains(raw, ".") {
		raw = "https://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("bad url: %w", err)
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("url must begin with https:// (got %q); use Read for files", raw)
	}
	if u.User != nil {
		return nil, fmt.Errorf("url must not hold a user name or password; remove the part before @")
	}
	host := u.Hostname()
	if host == "" {
		return nil, fmt.Errorf("url has no host: %q", raw)
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return nil, fmt.Errorf("url has a bad port: %q", p)
		}
	}
	if err := checkHost(host, allowLoopback); err != nil {
		return nil, err
	}
	if u.Scheme == "http" && !isLoopbackHost(host) {
		u.Scheme = "https"
		if u.Port() == "80" {
			u.Host = strings.TrimSuffix(u.Host, ":80")
		}
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// checkHost refuses what can be told from the host as written; it is all the checking there is behind a proxy.
func checkHost(host string, allowLoopback bool) error {
	if a, err := netip.ParseAddr(host); err == nil {
		if !publicAddr(a, allowLoopback) {
			return refused(host)
		}
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if isLoopbackHost(name) {
		if allowLoopback {
			return nil
		}
		return refused(host)
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if last == name || last == "internal" || last == "local" || last == "lan" || last == "home" || last == "intranet" {
		return refused(host)
	}
	if _, err := strconv.ParseUint(last, 0, 64); err == nil || strings.Trim(last, "0123456789") == "" {
		return refused(host) // a number in the last place is an address in an odd spelling, such as 0x7f.1
	}
	return nil
}

func refused(host string) error {
	return fmt.Errorf("%s is not a public host: WebFetch reaches the public web only; use Bash for local or internal services", host)
}

// dialer connects to checked addresses. It resolves each host once; a later answer cannot change where it goes.
type dialer struct {
	lookup        func(ctx context.Context, host string) ([]netip.Addr, error)
	allowLoopback bool

	mu    sync.Mutex
	known map[string][]netip.Addr
}

func (d *dialer) addrs(ctx context.Context, host string) ([]netip.Addr, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a := d.known[host]; a != nil {
		return a, nil
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if !publicAddr(a, d.allowLoopback) {
			return nil, refused(host)
		}
		return []netip.Addr{a}, nil
	}
	list, err := d.lookup(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("resolving %s: %w", host, err)
	}
	for _, a := range list {
		if !publicAddr(a, d.allowLoopback) {
			return nil, fmt.Errorf("%s has the address %s: %w", host, a, refused(host))
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("resolving %s: no address", host)
	}
	if d.known == nil {
		d.known = map[string][]netip.Addr{}
	}
	d.known[host] = list
	return list, nil
}

// dial is for http.Transport.DialContext.
func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	list, err := d.addrs(ctx, host)
	if err != nil {
		return nil, err
	}
	var nd net.Dialer
	for _, a := range list {
		var c net.Conn
		if c, err = nd.DialContext(ctx, network, net.JoinHostPort(a.Unmap().String(), port)); err == nil {
			return c, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

func lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}
