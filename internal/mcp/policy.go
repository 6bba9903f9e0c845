package mcp

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	pathpkg "path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// Policy says which servers may be connected. Denied wins.
type Policy struct {
	Allowed []Match // nil: every server
	Denied  []Match
}

// Match is one entry of a policy list; exactly one field is set.
type Match struct {
	Name    string   `json:"serverName,omitempty"`
	Command []string `json:"serverCommand,omitempty"` // the program and all of its arguments
	URL     string   `json:"serverUrl,omitempty"`     // * stands for any text
}

// ParseMatches reads a policy list. What cannot be read is named; a broken entry of a list matches nothing.
func ParseMatches(raw json.RawMessage) ([]Match, error) {
	var list []Match
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf(`must be a list such as [{"serverName": "…"}]: %w`, err)
	}
	for _, m := range list {
		n := 0
		for _, set := range []bool{m.Name != "", len(m.Command) > 0, m.URL != ""} {
			if set {
				n++
			}
		}
		if n != 1 {
			return nil, fmt.Errorf("each entry must have exactly one of serverName, serverCommand and serverUrl")
		}
	}
	if list == nil {
		list = []Match{}
	}
	return list, nil
}

// Refuses says why a server may not be connected; "" when it may. The entry must be expanded.
func (p Policy) Refuses(c Config) string {
	for _, m := range p.Denied {
		if m.fits(c, true) {
			return "the settings deny it (deniedMcpServers)"
		}
	}
	if p.Allowed == nil || c.Type == Host {
		return ""
	}
	if slices.ContainsFunc(p.Allowed, func(m Match) bool { return m.fits(c, false) && !p.tooWeak(m, c) }) {
		return ""
	}
	return "the settings allow only other servers (allowedMcpServers)"
}

// tooWeak reports that a name is not enough: where the list says which commands or addresses are allowed, a server
// must be one of them, since anybody can give an entry a name.
func (p Policy) tooWeak(m Match, c Config) bool {
	return m.Name != "" && slices.ContainsFunc(p.Allowed, func(o Match) bool {
		return c.Type == Stdio && len(o.Command) > 0 || c.Remote() && o.URL != ""
	})
}

// fits reports whether an entry is one of those that are meant. To deny it is enough that it may be one; see urlFits.
func (m Match) fits(c Config, deny bool) bool {
	switch {
	case m.Name != "":
		return m.Name == c.Name
	case len(m.Command) > 0:
		return c.Type == Stdio && slices.Equal(m.Command, append([]string{c.Command}, c.Args...))
	}
	return c.Remote() && urlFits(m.URL, c.URL, deny)
}

// urlFits compares an address with a pattern, both in one spelling: of what leads to the same server nothing may fit that
// another spelling of it does not. A pattern without a scheme means any, one without a port the scheme's own, one without a
// path the root. A path fits as it is written and with its dots resolved, as a server may take it either way: to deny one of
// them is enough, and a query does not help where the pattern has none; to allow takes both, and the query.
func urlFits(pattern, address string, deny bool) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false // and nothing can connect to it
	}
	scheme, rest, ok := strings.Cut(pattern, "://")
	if !ok {
		scheme, rest = "*", pattern
	}
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	if pattern == "*" {
		host, path = u.Host, "*"
	}
	host, port := splitPort(host)
	if !wild(strings.ToLower(scheme), u.Scheme) || !wild(hostName(host), hostName(u.Hostname())) || !wild(portOf(port, u.Scheme), portOf(u.Port(), u.Scheme)) {
		return false
	}
	path, query, asked := strings.Cut(path, "?")
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	path = or(path, "/")
	fits := func(p string) bool {
		switch {
		case deny && !asked && wild(path, p):
			return true
		case asked:
			return wild(path+"?"+query, p+"?"+u.RawQuery)
		case u.RawQuery != "":
			return wild(path, p+"?"+u.RawQuery)
		}
		return wild(path, p)
	}
	written, resolved := fits(or(u.Path, "/")), fits(resolvedPath(u.Path))
	return written && resolved || deny && (written || resolved)
}

// resolvedPath is a path without . and .. and empty parts.
func resolvedPath(p string) string {
	clean := pathpkg.Clean("/" + p)
	if strings.HasSuffix(p, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

// hostName is the one spelling of a host's name, or of a pattern for names: as it is looked up, in lower case, without the
// dot that ends a full name.
func hostName(h string) string {
	h = strings.Trim(h, "[]")
	if ascii, err := idna.Lookup.ToASCII(h); err == nil { // what the HTTP client looks up for a name of other letters
		h = ascii
	} else { // a pattern, say
		parts := strings.Split(h, ".")
		for i, p := range parts {
			if ascii, err := idna.Lookup.ToASCII(p); err == nil {
				parts[i] = ascii
			}
		}
		h = strings.Join(parts, ".")
	}
	if ip, err := netip.ParseAddr(h); err == nil {
		return ip.Unmap().WithZone("").String()
	}
	return strings.TrimRight(strings.ToLower(h), ".")
}

// splitPort takes the port from the end of a host, which may be an address in brackets.
func splitPort(host string) (name, port string) {
	if i := strings.LastIndex(host, ":"); i >= 0 && !strings.HasSuffix(host, "]") {
		return host[:i], host[i+1:]
	}
	return host, ""
}

// portOf is a port as a number without zeros before it; of none it is the scheme's own.
func portOf(port, scheme string) string {
	port = strings.TrimLeft(port, "0")
	switch {
	case port != "":
	case scheme == "http":
		return "80"
	case scheme == "https":
		return "443"
	}
	return port
}

func withPort(host, scheme string) string {
	if i := strings.LastIndex(host, ":"); i >= 0 && !strings.HasSuffix(host, "]") {
		return host
	}
	switch scheme {
	case "http":
		return host + ":80"
	case "https":
		return host + ":443"
	}
	return host
}

// wild compares a text with a pattern in which * stands for any text.
func wild(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	ok, err := regexp.MatchString("(?s)^"+strings.Join(parts, ".*")+"$", text)
	return err == nil && ok
}
