package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Scope says where an entry stands. Of entries of one name the first scope in this order wins, whole.
type Scope string

// The scopes, the strongest first.
const (
	Managed Scope = "managed" // an administrator's file; alone where there is one
	SDK     Scope = "sdk"     // a server in the host's own process, which the host or a flag names
	Flag    Scope = "flag"    // --mcp-config, or a host's request
	Local   Scope = "local"   // the user's own, for this project
	Project Scope = "project" // .mcp.json
	User    Scope = "user"
	Plugin  Scope = "plugin"
)

// Name is what lists call the scope.
func (s Scope) Name() string {
	if s == SDK || s == Flag {
		return "dynamic"
	}
	return string(s)
}

// The kinds of connections.
const (
	Stdio = "stdio"
	HTTP  = "http"
	SSE   = "sse"
	Host  = "sdk" // through the host's function
)

// Config is a server's entry. Its texts hold ${VAR} until Expand.
type Config struct {
	Name  string `json:"-"`
	Scope Scope  `json:"-"`
	File  string `json:"-"` // where it stands

	Written []string `json:"-"` // Command and Args before Expand

	Type string `json:"type,omitempty"`

	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`

	URL           string            `json:"url,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
	HeadersHelper string            `json:"headersHelper,omitempty"`
	OAuth         *OAuth            `json:"oauth,omitempty"`

	TimeoutMS  int64 `json:"timeout,omitempty"` // of a call, milliseconds; less than 1000 does not count
	AlwaysLoad *bool `json:"alwaysLoad,omitempty"`
	// BareElicitation announces elicitation as an empty object, for servers that stop at anything else.
	BareElicitation bool `json:"bareElicitationCapability,omitempty"`
}

// OAuth is how to sign in to a server.
type OAuth struct {
	ClientID string `json:"clientId,omitempty"`
	// ClientMetadataURL is a client id metadata document: an https address that tells who the client is, and is its id where
	// the authorization server takes such ones. The user hosts it.
	ClientMetadataURL string `json:"clientMetadataUrl,omitempty"`
	CallbackPort      int    `json:"callbackPort,omitempty"`
	MetadataURL       string `json:"authServerMetadataUrl,omitempty"`
	Scopes            string `json:"scopes,omitempty"` // separated by blanks
}

// Remote reports whether the server is reached over a network.
func (c Config) Remote() bool { return c.Type == HTTP || c.Type == SSE }

// Endpoint names what the entry connects to: two entries with the same one are the same server.
func (c Config) Endpoint() string {
	if c.Remote() {
		return c.URL
	}
	return strings.Join(append([]string{c.Command}, c.Args...), "\x00")
}

// Timeout is the entry's limit of a call; 0: none of its own.
func (c Config) Timeout() time.Duration {
	if c.TimeoutMS < 1000 {
		return 0
	}
	return time.Duration(c.TimeoutMS) * time.Millisecond
}

// runs is what the entry starts, as it is written: the server's process, or the helper that prints headers.
func (c Config) runs() (command string, args []string) {
	if c.Remote() || len(c.Written) == 0 {
		return c.HeadersHelper, nil
	}
	return c.Written[0], c.Written[1:]
}

// Problem is an entry that was skipped, or that is not as it seems.
type Problem struct {
	Name, Kind, Text string // Kind is one of the documented ones: invalid_config, unknown_type, url_missing_type, reserved_name
}

func (p Problem) String() string { return fmt.Sprintf("MCP server %q: %s", p.Name, p.Text) }

// Parse reads {"mcpServers": {name: entry}}. Entries that cannot be used are left out and named; the order is that of
// the names. The error says that the whole is not of this form.
func Parse(data []byte, scope Scope, file string) ([]Config, []Problem, error) {
	var doc struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, nil, fmt.Errorf("%s is not valid: %w", or(file, "the MCP configuration"), err)
	}
	if doc.Servers == nil {
		return nil, nil, fmt.Errorf(`%s has no "mcpServers", such as {"mcpServers": {"name": {"command": "…"}}}`, or(file, "the MCP configuration"))
	}
	configs, problems := ParseServers(doc.Servers, scope, file)
	return configs, problems, nil
}

// ParseServers reads entries by name. Only the host and flags may name servers in the host's process: who else could would
// give a server of his the rank of those, and the trust in them.
func ParseServers(servers map[string]json.RawMessage, scope Scope, file string) (out []Config, problems []Problem) {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		c, p := parseEntry(name, servers[name])
		if p != nil {
			problems = append(problems, *p)
			continue
		}
		c.Name, c.Scope, c.File = name, scope, file
		c.Written = append([]string{c.Command}, c.Args...)
		if c.Type == Host {
			if scope != Flag && scope != SDK {
				problems = append(problems, Problem{name, "invalid_config", "only a host can name a server of type sdk; it is skipped"})
				continue
			}
			c.Scope = SDK
		}
		out = append(out, c)
	}
	return out, problems
}

// reserved are names that mean something else to programs that read the same files.
var reserved = []string{"workspace", "claude-in-chrome", "computer-use", "anthropic-skills", "claude-ai", "Claude Preview", "Claude Browser", "ide"}

func parseEntry(name string, raw json.RawMessage) (Config, *Problem) {
	fail := func(kind, format string, args ...any) (Config, *Problem) {
		return Config{}, &Problem{name, kind, fmt.Sprintf(format, args...) + "; it is skipped"}
	}
	if strings.TrimSpace(name) == "" {
		return fail("invalid_config", "it has no name")
	}
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) }) {
		return fail("invalid_config", "a screen would show its name otherwise than it is")
	}
	if slices.Contains(reserved, name) {
		return fail("reserved_name", "this name is reserved")
	}
	var c Config
	if err := json.Unmarshal(raw, &c); err != nil || !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		if err == nil {
			err = fmt.Errorf("it is not an object")
		}
		return fail("invalid_config", "its entry cannot be read: %v", err)
	}
	switch c.Type {
	case "":
		if c.URL != "" && c.Command == "" {
			return fail("url_missing_type", `it has a url and no type; add "type": "http" (or "sse")`)
		}
		c.Type = Stdio
	case "streamable-http", "streamableHttp":
		c.Type = HTTP
	}
	switch c.Type {
	case Stdio:
		if strings.TrimSpace(c.Command) == "" {
			return fail("invalid_config", "it has no command")
		}
	case HTTP, SSE:
		if err := checkURL(c.URL); err != nil {
			return fail("invalid_config", "%v", err)
		}
	case Host:
	case "ws":
		return fail("unknown_type", "connections of type ws are not supported; use http")
	default:
		return fail("unknown_type", "there is no type %q: it is stdio, http, sse or sdk", c.Type)
	}
	if c.OAuth != nil && c.OAuth.MetadataURL != "" && !strings.HasPrefix(c.OAuth.MetadataURL, "https://") && !loopback(c.OAuth.MetadataURL) {
		return fail("invalid_config", "oauth.authServerMetadataUrl must begin with https://")
	}
	if c.OAuth != nil && c.OAuth.ClientMetadataURL != "" && !strings.HasPrefix(c.OAuth.ClientMetadataURL, "https://") {
		return fail("invalid_config", "oauth.clientMetadataUrl must begin with https://")
	}
	return c, nil
}

// checkURL looks at what stands outside ${…}.
func checkURL(text string) error {
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("it has no url")
	}
	if strings.Contains(text, "${") {
		return nil // known only when expanded
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("its url %q is no http or https address", text)
	}
	return nil
}

func loopback(text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	h := u.Hostname()
	return h == "localhost" || h == "127.0.0.1" || h == "::1"
}

var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

// CheckName says whether a new entry may have the name.
func CheckName(name string) error {
	if !plainName().MatchString(name) {
		return fmt.Errorf("the name %q may hold only letters, digits, - and _", name)
	}
	if slices.Contains(reserved, name) {
		return fmt.Errorf("the name %q is reserved", name)
	}
	return nil
}

// Merge joins the entries of all scopes: of one name the strongest whole entry stays, and of entries from plugins
// those that no other entry connects to. Names that look the same to a model (see normalize) count as one.
func Merge(lists ...[]Config) (out []Config, problems []Problem) {
	rank := map[Scope]int{Managed: 0, SDK: 1, Flag: 2, Local: 3, Project: 4, User: 5, Plugin: 6}
	var all []Config
	for _, l := range lists {
		all = append(all, l...)
	}
	slices.SortStableFunc(all, func(a, b Config) int { return rank[a.Scope] - rank[b.Scope] })
	byName, endpoints := map[string]Config{}, map[string]bool{}
	for _, c := range all {
		if c.Scope == Project && ambiguous(c.Name) { // what the user allows one server must not be taken by another's name
			problems = append(problems, Problem{c.Name, "invalid_config", "permission rules could take its tools for those of another server (__ or _ at the end of its name); it is skipped"})
			continue
		}
		key := normalize(c.Name)
		if first, taken := byName[key]; taken {
			if first.Name != c.Name {
				problems = append(problems, Problem{c.Name, "invalid_config", fmt.Sprintf("its tools would be named like those of %q; it is skipped", first.Name)})
			}
			continue
		}
		if c.Scope == Plugin && endpoints[c.Endpoint()] {
			continue
		}
		byName[key], endpoints[c.Endpoint()] = c, true
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Config) int { return strings.Compare(a.Name, b.Name) })
	return out, problems
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
