package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lathe/internal/app/entries"
	"lathe/internal/event"
	"lathe/internal/mcp"
	"lathe/internal/msg"
	"lathe/internal/perm"
	"lathe/internal/sys"
	"lathe/internal/token"
	"lathe/internal/tool"
	"lathe/internal/tool/mcptool"
	"lathe/internal/turn"
)

// How long the first turn waits for servers, with the documented variables that change it.
const (
	connectWait = 5 * time.Second  // MCP_CONNECT_TIMEOUT_MS
	flagWait    = 30 * time.Second // for servers of --mcp-config in a run without a person: MCP_TIMEOUT
)

// servers is the session's MCP servers, and what is said of them.
type servers struct {
	r   *run // the session itself
	set *mcp.Set

	offer    sync.Once
	searched bool // ToolSearch and CallTool are among the definitions

	mu   sync.Mutex
	news map[string]bool   // servers whose state changed since it was told
	told map[string]string // what was told of each
	said map[string]string // what each tool's definition was when it was last looked at, by full name
}

// openServers reads the entries of MCP servers. Nothing is started yet; where there are no servers nothing is built.
func (r *run) openServers() error {
	r.tools.registry.Beside(r.serverToolNames, func(name string) (tool.Tool, bool) { return r.serverTool(name, r) })
	configs, err := r.serverEntries()
	if err != nil || len(configs) == 0 && !r.canCall("mcp_message") { // a host may name servers later
		return err
	}
	s := &servers{r: r}
	dirs := r.place.Sys.Dirs
	deps := mcp.Deps{
		Procs: &r.procs, Environ: r.place.Sys.Environ, Getenv: r.place.Sys.Getenv, Dir: dirs.Work, Project: first(r.place.Root, dirs.Work), Version: sys.Version,
		Roots: r.tools.workspace.Roots(), Elicit: r.elicit, Visited: r.visited, Spill: r.spillServer, Changed: s.changed, Tokens: mcp.NewTokens(dirs.State),
		Known: r.knownServers(), Programs: r.place.Programs(),
	}
	if r.canCall("mcp_message") {
		deps.Exchange = r.exchange
	}
	s.set = mcp.New(deps, configs)
	for _, name := range r.place.ServerStore().Load(entries.Keys(r.place)...).Disabled {
		s.set.Disable(name)
	}
	r.servers = s
	return nil
}

// serverEntries reads the entries that count here. The demo starts nothing of the user's.
func (r *run) serverEntries() ([]mcp.Config, error) {
	if r.o.Recording != nil {
		return nil, nil
	}
	in := entries.In{Place: r.place, Flag: r.o.Servers, Plugins: r.pluginServers, Only: r.o.StrictServers || r.o.Bare}
	if r.o.Host != nil {
		in.Hosted = r.o.Host.SDKServers
	}
	configs, skipped, err := entries.Read(in)
	for _, p := range skipped {
		r.skippedServers = append(r.skippedServers, event.ServerError{Name: p.Name, Type: p.Kind, Message: p.Text})
	}
	return configs, err
}

// startServers begins to connect, once somebody is there to be asked. It returns at once.
func (r *run) startServers() {
	if r.servers != nil {
		r.servers.set.Start()
	}
}

// beginServers waits for the servers before the first turn, and settles which of their tools the model is told of.
func (r *run) beginServers(ctx context.Context, t *turn.Turn) error {
	s := r.servers
	if s == nil || r.agent != nil {
		return nil
	}
	s.set.Start()
	s.offer.Do(func() {
		s.wait(ctx)
		s.declare()
	})
	for _, text := range s.fresh() {
		if err := t.Emit(event.Notice{Level: "warning", Text: text}); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// wait gives the servers time to connect: those that were asked for on the command line of a run without a person
// more than others.
func (s *servers) wait(ctx context.Context) {
	getenv := s.r.place.Sys.Getenv
	usual := duration(getenv("MCP_CONNECT_TIMEOUT_MS"), connectWait)
	if v := getenv("MCP_CONNECTION_NONBLOCKING"); v != "" && v != "0" && v != "false" {
		usual = 0
	}
	asked := usual
	if s.r.o.Print {
		asked = duration(getenv("CLAUDE_CODE_MCP_STARTUP_WAIT_MS"), duration(getenv("MCP_TIMEOUT"), flagWait))
	}
	var wg sync.WaitGroup
	for limit, want := range map[time.Duration]func(mcp.Config) bool{
		usual: func(c mcp.Config) bool { return !byName(c) },
		asked: func(c mcp.Config) bool { return asked == usual || byName(c) },
	} {
		wg.Go(func() {
			limited, cancel := context.WithTimeout(ctx, limit)
			defer cancel()
			s.set.Wait(limited, want)
		})
	}
	wg.Wait()
}

// byName reports whether the command line or the host has named a server, or its plugin.
func byName(c mcp.Config) bool {
	return c.Scope == mcp.Flag || c.Scope == mcp.SDK || c.Scope == mcp.Plugin
}

func duration(ms string, def time.Duration) time.Duration {
	if n, ok := sys.Int(ms); ok && n >= 0 {
		return time.Duration(min(n, 1<<40)) * time.Millisecond
	}
	return def
}

// declare puts the servers' tools among the definitions, or only the means to find them where they would cost much.
func (s *servers) declare() {
	r := s.r
	all := s.tools()
	whole := s.cost(all) <= s.budget()
	var kept []tool.Tool
	deferred := false
	for _, t := range all {
		if (whole || t.AlwaysLoad) && !(t.NeverLoad && s.budget() < noBudget) {
			kept = append(kept, mcptool.New(t, r.callers(r)))
		} else {
			deferred = true
		}
	}
	resources, unsettled := false, false
	for _, st := range s.set.Status() {
		resources = resources || st.Resources
		unsettled = unsettled || st.State != mcp.Connected && st.State != mcp.Disabled
	}
	if resources {
		for _, t := range mcptool.NewResources(s) {
			if name := t.Def().Name; !r.toolDenied(name) && (r.main == nil || keepsTool(*r.main, name)) {
				kept = append(kept, t)
			}
		}
	}
	if deferred || unsettled {
		s.searched = true
		kept = append(kept, mcptool.NewSearch(s.deferred), mcptool.Caller{})
	}
	r.tools.registry.Add(kept...)
}

const noBudget = 1 << 40

// budget is how many tokens the definitions of the servers' tools may take before they are loaded on demand:
// ENABLE_TOOL_SEARCH is true (none), false (all), or auto:N (percent of the window; 10 when it is not set).
func (s *servers) budget() int {
	v := s.r.place.Sys.Getenv("ENABLE_TOOL_SEARCH")
	percent := 10
	switch {
	case v == "true" || v == "1":
		return -1
	case v == "false" || v == "0":
		return noBudget
	case strings.HasPrefix(v, "auto:"):
		if n, err := strconv.Atoi(v[len("auto:"):]); err == nil && n >= 0 && n <= 100 {
			percent = n
		}
	}
	window := s.r.prices.Info(s.r.session.Model()).Window
	if window <= 0 {
		return noBudget
	}
	return window * percent / 100
}

func (s *servers) cost(list []mcp.Tool) int {
	defs := make([]msg.ToolDef, 0, len(list))
	for _, t := range list {
		defs = append(defs, mcptool.New(t, s.set).Def())
	}
	return token.Counter{New: s.r.prices.Info(s.r.session.Model()).NewTokenizer}.Tools(defs)
}

// tools lists the tools that may be called at this moment.
func (s *servers) tools() []mcp.Tool {
	return slices.DeleteFunc(s.set.Tools(), func(t mcp.Tool) bool { return s.r.serverDenied(t.FullName) })
}

// deferred lists those of them whose schemas are not among the definitions.
func (s *servers) deferred() []mcp.Tool {
	isTold := s.toldNow()
	return slices.DeleteFunc(s.tools(), func(t mcp.Tool) bool { return isTold(t.FullName) })
}

// toldNow reports which tools are among the definitions that are sent: those of the session as it began, where it was
// resumed.
func (s *servers) toldNow() func(name string) bool {
	if f := s.r.session.Frozen(); f != nil {
		names := map[string]bool{}
		for _, d := range f.Tools {
			names[d.Name] = true
		}
		return func(name string) bool { return names[name] }
	}
	return s.r.tools.registry.Told
}

func (r *run) isTold(name string) bool { return (&servers{r: r.root()}).toldNow()(name) }

// serverDenied reports whether a tool is taken out of the session: by a rule that denies it whole, or by the agent
// that the session works by.
func (r *run) serverDenied(name string) bool {
	if r.toolDenied(name) || r.main != nil && r.agent == nil && !keepsTool(*r.main, name) {
		return true
	}
	for _, rule := range r.book.Load().rules {
		if rule.Effect != perm.Deny {
			continue
		}
		if t, _, bare, err := perm.ParseRule(rule.Text); err == nil && bare && strings.HasPrefix(t, "mcp__") && matchesTool(t, name) {
			return true
		}
	}
	return false
}

func (r *run) serverToolNames() []string {
	if r.servers == nil {
		return nil
	}
	var out []string
	for _, t := range r.servers.tools() {
		out = append(out, t.FullName)
	}
	return out
}

const noServer = "its server is not part of this session; the user can add it with lathe mcp add, or --mcp-config"

// serverTool finds a tool that is not among the definitions, for the conversation that calls it. One whose server is away
// says so when it is called.
func (r *run) serverTool(name string, by *run) (tool.Tool, bool) {
	if !mcp.IsFullName(name) || r.serverDenied(name) {
		return nil, false
	}
	if r.servers == nil {
		return mcptool.NewLost(name, noServer), r.isTold(name)
	}
	set, callers := r.servers.set, r.callers(by)
	if t, ok := set.Tool(name); ok {
		return mcptool.New(t, callers), true
	}
	st, known := set.Owner(name)
	switch {
	case !known && !r.isTold(name):
		return nil, false
	case !known:
		return mcptool.NewLost(name, noServer), true
	case slices.Contains(st.Withheld, name):
		return mcptool.NewLost(name, fmt.Sprintf("its server says something else of it than when the project was trusted; %s", agreeHow(st.Name))), true
	case st.State == mcp.Connected:
		return mcptool.NewLost(name, fmt.Sprintf("the MCP server %q has no such tool any more", st.Name)), true
	}
	find := func(ctx context.Context) (tool.Tool, error) {
		if err := set.Ready(ctx, st.Name); err != nil {
			return nil, err
		}
		if t, ok := set.Tool(name); ok {
			return mcptool.New(t, callers), nil
		}
		return nil, fmt.Errorf("the MCP server %q has no such tool", st.Name)
	}
	return mcptool.NewLate(name, find), true
}

// agentServers gives a sub-agent the servers' tools that its definition keeps.
func (r *run) agentServers(ts *toolset) {
	s := r.root().servers
	if s == nil {
		return
	}
	isTold := s.toldNow()
	for _, t := range s.tools() {
		if isTold(t.FullName) && r.agent.keeps(t.FullName) {
			ts.registry.Add(mcptool.New(t, s.set))
		}
	}
	for _, name := range []string{mcptool.ListName, mcptool.ReadName, mcptool.SearchName, mcptool.CallName} {
		if t, ok := r.agent.parent.tools.registry.Get(name); ok && r.agent.keeps(name) {
			ts.registry.Add(t)
		}
	}
	keeps := func(name string) bool { return r.agent.keeps(name) }
	ts.registry.Beside(
		func() []string {
			return slices.DeleteFunc(s.r.serverToolNames(), func(n string) bool { return !keeps(n) })
		},
		func(name string) (tool.Tool, bool) {
			if !keeps(name) {
				return nil, false
			}
			return s.r.serverTool(name, r)
		})
}

// exchange hands a message to a server in the host's process.
func (r *run) exchange(ctx context.Context, server string, message json.RawMessage) (json.RawMessage, error) {
	v, err := r.session.Call(ctx, "mcp_message", "", map[string]any{"server_name": server, "message": message})
	if errors.Is(err, turn.ErrNobody) {
		return nil, errors.New("the host that runs this server has gone")
	}
	if err != nil {
		return nil, err
	}
	var out struct {
		Response json.RawMessage `json:"mcp_response"`
	}
	if err := json.Unmarshal(v, &out); err != nil || len(out.Response) == 0 {
		return nil, errors.New("the host's answer holds no mcp_response")
	}
	return out.Response, nil
}

// spillServer keeps what a server sent and a conversation cannot hold.
func (r *run) spillServer(name string, data []byte) (string, error) {
	ext := filepath.Ext(name)
	return keepIn(filepath.Join(r.resultsDir(), "tool-results"), strings.TrimSuffix(name, ext)+"-*"+ext, data)
}

// tellRoots tells the servers of the working directories of this moment.
func (r *run) tellRoots() {
	if r.servers != nil && r.agent == nil {
		r.servers.set.SetRoots(r.tools.workspace.Roots())
	}
}

// closeServers ends every connection and process.
func (r *run) closeServers() {
	if r.servers != nil {
		r.servers.set.Close()
	}
}

// closed reports whether a rule denies a whole server: then its resources are denied, too.
func (s *servers) closed(server string) error {
	if s.r.serverDenied(mcp.Prefix(server) + "\x00") { // no tool has this name: only rules for all of them mean it
		return fmt.Errorf("a permission rule denies the MCP server %q", server)
	}
	return nil
}

// Resources lists resources, without those of servers that are denied.
func (s *servers) Resources(ctx context.Context, server string) ([]mcp.Resource, error) {
	if server != "" {
		if err := s.closed(server); err != nil {
			return nil, err
		}
	}
	list, err := s.set.Resources(ctx, server)
	return slices.DeleteFunc(list, func(r mcp.Resource) bool { return s.closed(r.Server) != nil }), err
}

// ReadResource reads a resource of a server that is not denied.
func (s *servers) ReadResource(ctx context.Context, server, uri string) ([]msg.Block, json.RawMessage, error) {
	if err := s.closed(server); err != nil {
		return nil, nil, err
	}
	return s.set.ReadResource(ctx, server, uri)
}
