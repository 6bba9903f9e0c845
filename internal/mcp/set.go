package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lathe/internal/proc"
)

// Limits, with the documented variables that change them.
const (
	startTime   = 30 * time.Second               // to connect: MCP_TIMEOUT
	callTime    = 100_000_000 * time.Millisecond // of a call: MCP_TOOL_TIMEOUT
	idleRemote  = 5 * time.Minute                // of a call, without a sign of life: CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT
	idleLocal   = 30 * time.Minute
	lateTime    = 10 * time.Second // for a call to a server that still connects
	manyLocal   = 3                // servers that connect beside each other: MCP_SERVER_CONNECTION_BATCH_SIZE
	manyRemote  = 20               // MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE
	retries     = 5                // to connect again to a remote server that was lost
	firstTries  = 3                // to connect to a remote server
	retryDelay  = time.Second      // before the second try; doubled each time
	maxTools    = 2000             // of a server
	describeMax = 4096             // characters of a description: CLAUDE_CODE_MAX_MCP_DESCRIPTION_LENGTH
)

// Deps is what the connections need of their session. Functions may be called from any goroutine.
type Deps struct {
	Procs   *proc.Group
	Environ func() []string // the environment of the session's children
	Getenv  func(string) string
	Dir     string // where stdio servers start
	Project string // CLAUDE_PROJECT_DIR
	Version string // of the program

	Roots []string // the working directories
	// Exchange reaches servers in the host's process. Nil: there are none.
	Exchange Exchange
	// Elicit asks a person for what a server wants to know. Nil, or an error: the server is told that nobody answers.
	Elicit func(ctx context.Context, e Elicitation) (Elicited, error)
	// Visited is told that the person has done at an address what the server wanted. Nil: nobody is.
	Visited func(server string)
	// Spill keeps content that is too large or of no kind that a model can read, and returns its path.
	Spill func(name string, data []byte) (string, error)
	// Changed is told that a server's state or lists have changed.
	Changed func(server string)
	Tokens  *Tokens // sign-ins; nil: there are none
	Known   *Known  // what the project's servers said before; nil: it may change
	// Programs tells the content of the project's own programs that a command names, "" for none. Nil: they are not looked at.
	Programs func(command string, args []string) string
	HTTP     http.RoundTripper // nil: the usual transport

	retryDelay time.Duration // for tests
}

// State is how it is with a server.
type State string

// The states, in the documented words.
const (
	Pending   State = "pending"
	Connected State = "connected"
	Failed    State = "failed"
	NeedsAuth State = "needs-auth"
	Disabled  State = "disabled"
)

// Status is a server as people see it.
type Status struct {
	Config
	State        State
	Error        string // why it is not connected, and what to do
	Log          string // the end of what it wrote on standard error
	Server       string // name and version that it gives itself
	Version      string
	Protocol     string // protocol version
	Instructions string
	Tools        []Tool
	Prompts      []Prompt
	Resources    bool // it has resources
	// Withheld are tools, and perhaps the instructions, of which the server says something else than when the user
	// trusted it. They are not among Tools, and not in Instructions.
	Withheld []string
	// Unproven says that it was not started, since a program that its entry names is not the one that the user trusted.
	Unproven bool
}

// Tool is a tool of a connected server.
type Tool struct {
	Server      string // of the entry
	Name        string // by which the server knows it
	FullName    string // by which the model knows it
	Title       string
	Description string
	Schema      json.RawMessage // of the input: an object at the root, and no alternatives there
	Annotations json.RawMessage // as the server gives them, nil without
	Trusted     bool            // what the server says of it may be relied on
	ReadOnly    bool            // it says that it changes nothing
	AlwaysLoad  bool            // its schema is never deferred
	NeverLoad   bool            // it is always deferred
	Interactive bool            // a person must agree to each call
	MaxResult   int             // characters that its result may have; 0: the usual limit
}

// Set is the servers of a session. Its methods are safe for concurrent use.
type Set struct {
	deps Deps
	ctx  context.Context // ends with the set
	stop context.CancelFunc
	wg   sync.WaitGroup

	local, remote chan struct{} // slots for connecting

	mu      sync.Mutex
	servers map[string]*server
	roots   []string
	started bool
	closed  bool
}

// spawn runs f in a goroutine that Close waits for. After Close nothing is run.
func (s *Set) spawn(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.wg.Go(f)
	}
}

// New returns a set. Nothing is connected yet. The entries must be merged, expanded and allowed.
func New(d Deps, configs []Config) *Set {
	s := &Set{deps: d, servers: map[string]*server{}, roots: d.Roots}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.local = make(chan struct{}, s.number("MCP_SERVER_CONNECTION_BATCH_SIZE", manyLocal))
	s.remote = make(chan struct{}, s.number("MCP_REMOTE_SERVER_CONNECTION_BATCH_SIZE", manyRemote))
	if s.deps.retryDelay == 0 {
		s.deps.retryDelay = retryDelay
	}
	for _, c := range configs {
		s.servers[c.Name] = newServer(s, c)
	}
	return s
}

// Disable keeps a server from being connected until Toggle. It must be called before Start.
func (s *Set) Disable(name string) {
	if sv := s.find(name); sv != nil {
		sv.state, sv.problem = Disabled, disabledText(name)
		sv.settle()
	}
}

func disabledText(name string) string {
	return "it is switched off; /mcp enable " + name + " switches it on"
}

// Start begins to connect to every server. It returns at once; the second call does nothing.
func (s *Set) Start() {
	s.mu.Lock()
	again := s.started
	s.started = true
	s.mu.Unlock()
	if again {
		return
	}
	for _, sv := range s.all() {
		sv.begin()
	}
}

// Wait returns when each of the servers for which want is true has connected or failed, or when ctx ends. It returns
// the names of those that are still connecting.
func (s *Set) Wait(ctx context.Context, want func(Config) bool) (late []string) {
	for _, sv := range s.all() {
		if !want(sv.cfg) {
			continue
		}
		settled := sv.settledChan()
		select {
		case <-settled:
			continue
		default:
		}
		select {
		case <-settled:
		case <-s.ctx.Done():
			return late
		case <-ctx.Done():
			late = append(late, sv.cfg.Name)
		}
	}
	return late
}

// Len is the number of servers.
func (s *Set) Len() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.servers) }

// Status lists the servers by name.
func (s *Set) Status() []Status {
	var out []Status
	for _, sv := range s.all() {
		out = append(out, sv.status())
	}
	return out
}

// Tools lists the tools of the connected servers, by full name. Of two with one name the first counts, and a server has
// none whose name is another's.
func (s *Set) Tools() []Tool {
	var out []Tool
	all := s.all()
	for _, sv := range all {
		for _, t := range sv.toolList() {
			if o := owner(all, t.FullName); o == nil || o == sv {
				out = append(out, t)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Tool) int { return strings.Compare(a.FullName, b.FullName) })
	return slices.CompactFunc(out, func(a, b Tool) bool { return a.FullName == b.FullName })
}

// Tool finds a tool of a connected server by its full name.
func (s *Set) Tool(fullName string) (Tool, bool) {
	if sv := owner(s.all(), fullName); sv != nil {
		for _, t := range sv.toolList() {
			if t.FullName == fullName {
				return t, true
			}
		}
	}
	return Tool{}, false
}

// Owner is the server that a tool's full name belongs to, whether it is connected or not.
func (s *Set) Owner(fullName string) (Status, bool) {
	sv := owner(s.all(), fullName)
	if sv == nil {
		return Status{}, false
	}
	return sv.status(), true
}

// owner is the server whose name a full name begins with: of several the longest, so that the server a cannot have a
// tool b__c in place of the tool c of a__b.
func owner(all []*server, fullName string) (best *server) {
	longest := 0
	for _, sv := range all {
		if p := Prefix(sv.cfg.Name); strings.HasPrefix(fullName, p) && len(p) > longest {
			best, longest = sv, len(p)
		}
	}
	return best
}

// Server returns a server's status.
func (s *Set) Server(name string) (Status, bool) {
	sv := s.find(name)
	if sv == nil {
		return Status{}, false
	}
	return sv.status(), true
}

// Ready waits a while for a server that is still connecting. The error says why it is not connected.
func (s *Set) Ready(ctx context.Context, name string) error {
	sv := s.find(name)
	if sv == nil {
		return s.unknown(name)
	}
	_, err := sv.ready(ctx)
	return err
}

// Reconnect ends a server's connection, if there is one, and connects anew. It returns when that is decided.
func (s *Set) Reconnect(ctx context.Context, name string) error {
	sv := s.find(name)
	if sv == nil {
		return notFound(name)
	}
	if err := sv.restart(ctx, nil); err != nil {
		return fmt.Errorf("MCP server %q: %w", name, err)
	}
	return nil
}

// Accept takes a server of the project at its word as it is now, and connects to it again.
func (s *Set) Accept(ctx context.Context, name string) error {
	if s.deps.Known != nil {
		if err := s.deps.Known.Forget(name); err != nil {
			return err
		}
	}
	return s.Reconnect(ctx, name)
}

// Toggle switches a server off, or on again.
func (s *Set) Toggle(ctx context.Context, name string, on bool) error {
	sv := s.find(name)
	switch {
	case sv == nil:
		return notFound(name)
	case on:
		return sv.restart(ctx, nil)
	}
	sv.end(Disabled, disabledText(name))
	s.changed(name)
	return nil
}

// Replace makes what earlier calls named, and the servers in the host's own process, the given ones: those that are no
// longer named end, new and changed ones connect. Other servers stay as they are until a call names them; only the
// organisation's cannot be named. It returns when that is decided, with the errors of those that failed.
func (s *Set) Replace(ctx context.Context, configs []Config) (added, removed []string, errs map[string]string) {
	want := map[string]Config{}
	for _, c := range configs {
		want[c.Name] = c
	}
	errs = map[string]string{}
	var gone, fresh []*server
	s.mu.Lock()
	for name, sv := range s.servers {
		c, named := want[name]
		switch {
		case named && sv.cfg.Scope == Managed:
			errs[name] = "a server of the organisation's settings has this name"
			delete(want, name)
			continue
		case named && sameEntry(c, sv.cfg):
			sv.named = true
			delete(want, name)
			continue
		case !named && !sv.named && sv.cfg.Scope != SDK:
			continue
		}
		sv.mu.Lock()
		sv.gone = true
		sv.mu.Unlock()
		gone = append(gone, sv)
		delete(s.servers, name)
	}
	for name, c := range want {
		sv := newServer(s, c)
		sv.named = true
		s.servers[name] = sv
		fresh = append(fresh, sv)
	}
	s.started = true
	s.mu.Unlock()
	for _, sv := range gone {
		sv.end(Disabled, "it was taken out of the session")
		if _, again := want[sv.cfg.Name]; !again {
			removed = append(removed, sv.cfg.Name)
		}
	}
	for _, sv := range fresh {
		sv.begin()
		added = append(added, sv.cfg.Name)
	}
	s.Wait(ctx, func(c Config) bool { _, ok := want[c.Name]; return ok })
	for _, sv := range fresh {
		if st := sv.status(); st.State != Connected {
			errs[st.Name] = or(st.Error, "it is still connecting")
		}
	}
	slices.Sort(added)
	slices.Sort(removed)
	return added, removed, errs
}

func sameEntry(a, b Config) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// Close ends every connection and every server process, and waits for that.
func (s *Set) Close() {
	if s == nil {
		return
	}
	s.stop()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, sv := range s.all() {
		wg.Go(func() { sv.end(Disabled, "the session has ended") })
	}
	wg.Wait()
	s.wg.Wait()
}

// all lists the servers by name.
func (s *Set) all() []*server {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*server, 0, len(s.servers))
	for _, sv := range s.servers {
		out = append(out, sv)
	}
	slices.SortFunc(out, func(a, b *server) int { return strings.Compare(a.cfg.Name, b.cfg.Name) })
	return out
}

// find finds a server by its name, or by its name as tools have it.
func (s *Set) find(name string) *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sv := s.servers[name]; sv != nil {
		return sv
	}
	for _, sv := range s.servers {
		if normalize(sv.cfg.Name) == name {
			return sv
		}
	}
	return nil
}

func (s *Set) changed(name string) {
	if s.deps.Changed != nil && s.ctx.Err() == nil {
		s.deps.Changed(name)
	}
}

func (s *Set) number(key string, def int) int {
	if n, err := strconv.Atoi(s.deps.Getenv(key)); err == nil && n > 0 {
		return n
	}
	return def
}

func (s *Set) milliseconds(key string, def time.Duration) time.Duration {
	if n, err := strconv.ParseInt(s.deps.Getenv(key), 10, 64); err == nil && n > 0 {
		return time.Duration(min(n, 1<<40)) * time.Millisecond
	}
	return def
}

func notFound(name string) error {
	return fmt.Errorf("Server not found: %s", name)
}
