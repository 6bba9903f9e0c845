package perm

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// domainPattern is the compiled host of a WebFetch rule.
type domainPattern struct {
	all    bool
	sub    string // ".h": any depth of subdomain of h
	labels []string
}

func compileDomain(host string) (p domainPattern, why string) {
	host = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(host), "."))
	switch {
	case host == "*":
		return domainPattern{all: true}, ""
	case host == "" || strings.ContainsAny(host, "/@ \t") || strings.Contains(host, ":") && !strings.HasPrefix(host, "["):
		return p, "a domain rule takes a host name alone"
	}
	if rest, ok := strings.CutPrefix(host, "*."); ok && !strings.Contains(rest, "*") {
		return domainPattern{sub: "." + rest}, ""
	}
	return domainPattern{labels: strings.Split(host, ".")}, ""
}

// match compares whole hosts, label by label.
func (p *domainPattern) match(host string) bool {
	if p.all {
		return true
	}
	if p.sub != "" {
		return strings.HasSuffix(host, p.sub) && len(host) > len(p.sub)
	}
	labels := strings.Split(host, ".")
	if len(labels) != len(p.labels) {
		return false
	}
	for i, l := range p.labels {
		if labels[i] == "" || !Stars(l, labels[i]) {
			return false
		}
	}
	return true
}

// exact says that the rule names the host itself, without a star.
func (p *domainPattern) exact(host string) bool {
	return !p.all && p.sub == "" && strings.Join(p.labels, ".") == host
}

// webHost reads the host of a URL. problem says why no rule can speak for it.
func webHost(raw string) (host, problem string) {
	if strings.ContainsAny(raw, "\\ \t\r\n") || hiddenInName(raw) != "" {
		return "", "it has characters that a URL cannot have"
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", "it is no URL"
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", "it is no http or https URL"
	}
	host = strings.ToLower(strings.TrimSuffix(norm.NFKC.String(u.Hostname()), "."))
	host = strings.ReplaceAll(host, "\u3002", ".")
	switch {
	case u.User != nil:
		problem = "it carries a user name, which can look like a host"
	case strings.ContainsAny(u.Host, "%"):
		problem = "its host is encoded"
	case !ascii(u.Host):
		problem = "its host has letters outside ASCII"
	case host == "" || strings.Contains(host, ".."):
		problem = "its host is malformed"
	}
	return host, problem
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// internalHost says whether a host is on this machine or network, in any spelling of an address.
func internalHost(host string) bool {
	if host == "localhost" || !strings.ContainsAny(host, ".:") && !numeric(host) {
		return true
	}
	for _, suffix := range []string{".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet", ".corp"} {
		if strings.HasSuffix(host, suffix) {
			return true
		}
	}
	addr, ok := address(host)
	if !ok {
		return false
	}
	addr = addr.Unmap()
	return addr.IsLoopback() || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsMulticast() ||
		addr.IsUnspecified() || addr.IsInterfaceLocalMulticast() || !addr.IsGlobalUnicast() ||
		netip.MustParsePrefix("100.64.0.0/10").Contains(addr) || netip.MustParsePrefix("0.0.0.0/8").Contains(addr) ||
		addr.Is6() && netip.MustParsePrefix("64:ff9b::/96").Contains(addr)
}

func numeric(host string) bool {
	_, err := strconv.ParseUint(host, 0, 64)
	return err == nil
}

// address reads an IP address as resolvers do: four, three, two or one part, decimal, octal or hexadecimal.
func address(host string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.WithZone(""), true
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var sum uint64
	for i, part := range parts {
		base := 10
		if strings.HasPrefix(part, "0x") {
			part, base = part[2:], 16
		} else if len(part) > 1 && part[0] == '0' {
			part, base = part[1:], 8
		}
		n, err := strconv.ParseUint(part, base, 64)
		if err != nil {
			return netip.Addr{}, false
		}
		if i < len(parts)-1 {
			sum += n << (8 * (3 - i))
		} else {
			sum += n
		}
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}
