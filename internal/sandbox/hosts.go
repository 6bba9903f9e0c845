package sandbox

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"lathe/internal/perm"
)

// decide says whether a host may be reached. named says that a rule is for this very host, so that it may be on
// this machine or network.
func (n *Network) decide(host string) (allowed, named bool) {
	for i := range n.Deny {
		if n.Deny[i].Match(host) {
			return false, false
		}
	}
	for i := range n.Allow {
		if n.Allow[i].Match(host) {
			allowed = true
			named = named || n.Allow[i].Names(host)
		}
	}
	return allowed, named
}

// canonicalHost spells a host as rules do: lower case, no trailing dot, no brackets. ok is false for what no rule
// can speak of.
func canonicalHost(host string) (string, bool) {
	host = strings.TrimSuffix(strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")), ".")
	if host == "" || len(host) > 253 {
		return "", false
	}
	for i := 0; i < len(host); i++ {
		if c := host[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`/\@%?#`, c) >= 0 {
			return "", false
		}
	}
	return host, true
}

// resolve returns the addresses that may be dialled for a host. The caller dials one of these, so that a second
// answer of the name server cannot lead elsewhere.
func resolve(ctx context.Context, lookup func(context.Context, string) ([]net.IP, error), host string, internal bool) ([]netip.Addr, error) {
	if !internal && perm.InternalHost(host) {
		return nil, fmt.Errorf("%s is on this machine or network; only a rule that names it opens it", host)
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	ips, err := lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	var out []netip.Addr
	for _, ip := range ips {
		a, ok := netip.AddrFromSlice(ip)
		if a = a.Unmap(); ok && (internal || !perm.InternalAddr(a)) {
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s leads to this machine or network only; only a rule that names it opens it", host)
	}
	return out, nil
}
