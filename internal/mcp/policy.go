package mcp

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
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
		if m.fits(c) {
			return "the settings deny it (deniedMcpServers)"
		}
	}
	if p.Allowed == nil || c.Type == Host {
		return ""
	}
	if slices.ContainsFunc(p.Allowed, func(m Match) bool { return m.fits(c) && !p.tooWeak(m, c) }) {
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

func (m Match) fits(c Config) bool {
	switch {
	case m.Name != "":
		return m.Name == c.Name
	case len(m.Command) > 0:
		return c.Type == Stdio && slices.Equal(m.Command, append([]string{c.Command}, c.Args...))
	}
	return c.Remote() && urlFits(m.URL, c.URL)
}

// urlFits compares an address with a pattern. A pattern without a port means the scheme's own.
func urlFits(pattern, address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	u.Host = withPort(strings.ToLower(u.Host), u.Scheme)
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	scheme, rest, ok := strings.Cut(pattern, "://")
	if !ok {
		return false
	}
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	if scheme == "*" {
		scheme = u.Scheme
	}
	if path == "" && (u.Path == "/" || u.Path == "") && u.RawQuery == "" {
		u.Path = ""
	}
	return wild(scheme, u.Scheme) && wild(withPort(strings.ToLower(host), scheme), u.Host) && wild(path, afterHost(u))
}

// afterHost is path and query of an address.
func afterHost(u *url.URL) string {
	if u.RawQuery != "" {
		return u.EscapedPath() + "?" + u.RawQuery
	}
	return u.EscapedPath()
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
	ok, err := regexp.MatchString("^"+strings.Join(parts, ".*")+"$", text)
	return err == nil && ok
}
