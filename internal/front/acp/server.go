package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// Options are the parts of a server.
type Options struct {
	Agent   Agent
	Version string
	NewID   func() string
	Now     func() time.Time
	Warn    func(string) // told what a person who reads the log should know
}

// Serve speaks the protocol until the input ends or ctx does, then ends every session. Its error wraps ErrOutput when
// nobody reads what is written.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &server{o: o, ctx: ctx, sessions: map[string]*session{}, holds: map[string]*hold{}}
	s.wire = newWire(in, out, o.Warn)
	s.wire.handle = s.take
	ended := make(chan error, 1)
	go func() { ended <- s.wire.serve() }()
	var err error
	select {
	case err = <-ended:
		stop(errGone)
	case <-ctx.Done(): // the reader ends with the process: standard input cannot be interrupted
	}
	s.end()
	if failed := s.wire.failed(); failed != nil {
		return failed
	}
	return err
}

// server is one editor.
type server struct {
	o    Options
	ctx  context.Context
	wire *wire
	work sync.WaitGroup // requests that take long

	mu       sync.Mutex
	client   clientCapabilities
	sessions map[string]*session
	holds    map[string]*hold // of ids that are being opened or closed
}

// hold is the right to open and close the session of one id.
type hold struct {
	sync.Mutex
	wanted int // by how many; guarded by the server's mutex
}

// hold waits until nobody else opens or closes the session.
func (s *server) hold(id string) (release func()) {
	s.mu.Lock()
	h := s.holds[id]
	if h == nil {
		h = &hold{}
		s.holds[id] = h
	}
	h.wanted++
	s.mu.Unlock()
	h.Lock()
	return func() {
		h.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		if h.wanted--; h.wanted == 0 {
			delete(s.holds, id)
		}
	}
}

// end closes every session and waits for what was begun.
func (s *server) end() {
	s.work.Wait()
	s.mu.Lock()
	open := make([]*session, 0, len(s.sessions))
	for id, sess := range s.sessions {
		delete(s.sessions, id)
		open = append(open, sess)
	}
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, sess := range open {
		wg.Go(sess.end)
	}
	wg.Wait()
}

// take acts on a request or notification. It must not wait.
func (s *server) take(method string, params json.RawMessage, id string, r reply) {
	if r == nil {
		s.notified(method, params)
		return
	}
	if method == "initialize" {
		r(s.initialize(params))
		return
	}
	var p sessionParams
	if len(params) > 0 {
		if err := json.Unmarshal(params, &p); err != nil {
			r(nil, fault(codeParams, "%s: %v", method, err))
			return
		}
	}
	switch method {
	case "session/prompt":
		s.prompt(p, id, r)
	case "authenticate":
		s.later(r, func() (any, error) { return obj{}, s.o.Agent.Authenticate(s.ctx) })
	case "session/new", "session/load", "session/resume":
		s.work.Go(func() { s.open(method, p, r) })
	case "session/list":
		s.later(r, func() (any, error) { return s.list(p) })
	case "session/close":
		s.later(r, func() (any, error) {
			defer s.hold(p.SessionID)()
			return obj{}, s.close(p.SessionID)
		})
	case "session/delete":
		s.later(r, func() (any, error) {
			defer s.hold(p.SessionID)()
			_ = s.close(p.SessionID) // it need not be open
			return obj{}, s.o.Agent.Delete(s.ctx, p.SessionID)
		})
	case "session/set_mode":
		s.within(p, r, func(sess *session) (any, error) { return obj{}, sess.setMode(p.ModeID) })
	case "session/set_config_option":
		s.within(p, r, func(sess *session) (any, error) { return sess.setOption(p.ConfigID, p.Value) })
	default:
		r(nil, fault(codeMethod, "there is no method %s", method))
	}
}

func (s *server) notified(method string, params json.RawMessage) {
	var p struct {
		SessionID string          `json:"sessionId"`
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	switch method {
	case "session/cancel":
		if sess := s.session(p.SessionID); sess != nil {
			sess.interrupt()
		}
	case "$/cancel_request":
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, sess := range s.sessions {
			if sess.asked(string(p.RequestID)) {
				sess.interrupt()
			}
		}
	}
}

// later answers a request from a goroutine.
func (s *server) later(r reply, do func() (any, error)) {
	s.work.Go(func() {
		result, err := do()
		r(result, coded(err))
	})
}

// within does the same with a session.
func (s *server) within(p sessionParams, r reply, do func(*session) (any, error)) {
	sess := s.session(p.SessionID)
	if sess == nil {
		r(nil, unknown(p.SessionID))
		return
	}
	s.later(r, func() (any, error) { return do(sess) })
}

func (s *server) session(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[id]
}

func unknown(id string) error { return fault(codeNotFound, "no session %q is open", id) }

// coded gives an error the code that the protocol has for it.
func coded(err error) error {
	switch {
	case errors.Is(err, ErrAuth):
		return &rpcError{Code: codeAuth, Message: err.Error()}
	case errors.Is(err, ErrNotFound):
		return &rpcError{Code: codeNotFound, Message: err.Error()}
	}
	return err
}

func (s *server) initialize(params json.RawMessage) (any, error) {
	var p initializeParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, fault(codeParams, "initialize: %v", err)
	}
	s.mu.Lock()
	s.client = p.ClientCapabilities
	s.mu.Unlock()
	return obj{
		"protocolVersion": protocolVersion, // the one that we speak; an editor that speaks none but others leaves
		"agentInfo":       obj{"name": "lathe", "title": "Lathe", "version": s.o.Version},
		"agentCapabilities": obj{
			"loadSession":        true,
			"promptCapabilities": obj{"image": true, "audio": false, "embeddedContext": true},
			"mcpCapabilities":    obj{"http": true, "sse": false},
			"sessionCapabilities": obj{
				"list": obj{}, "delete": obj{}, "resume": obj{}, "close": obj{}, "additionalDirectories": obj{},
			},
		},
		"authMethods": []obj{{
			"id": "environment", "name": "API key",
			"description": "Set ANTHROPIC_API_KEY (or apiKeyHelper in settings.json) for the program that starts Lathe, then choose this.",
		}},
	}, nil
}

// open answers session/new, session/load and session/resume. Of one session there is one at a time: a second request
// for it waits for the first, and then takes its place.
func (s *server) open(method string, p sessionParams, r reply) {
	if method != "session/new" {
		defer s.hold(p.SessionID)()
	}
	sess, err := s.begin(method, p)
	if err != nil {
		r(nil, coded(err))
		return
	}
	about, err := sess.describe()
	if err != nil {
		sess.end()
		r(nil, err)
		return
	}
	if method == "session/load" {
		sess.replay()
	}
	s.mu.Lock()
	was := s.sessions[sess.id]
	s.sessions[sess.id] = sess
	s.mu.Unlock()
	if was != nil { // a new one was asked for by its id before it was there
		was.end()
	}
	result := obj{"modes": modesOf(about), "configOptions": optionsOf(about)}
	if method == "session/new" {
		result["sessionId"] = sess.id
	}
	r(result, nil)
	sess.update(obj{"sessionUpdate": "available_commands_update", "availableCommands": commandsOf(about)})
}

func (s *server) begin(method string, p sessionParams) (*session, error) {
	if !filepath.IsAbs(p.Cwd) {
		return nil, fault(codeParams, "%s: cwd must be an absolute path, not %q", method, p.Cwd)
	}
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	start := Start{Cwd: p.Cwd, Dirs: p.Dirs, Calls: client.answers}
	for _, raw := range p.MCPServers {
		srv, err := serverOf(raw)
		if err != nil {
			return nil, err
		}
		start.Servers = append(start.Servers, srv)
	}
	if method != "session/new" {
		if p.SessionID == "" {
			return nil, fault(codeParams, "%s: sessionId is missing", method)
		}
		start.ID = p.SessionID
		_ = s.close(p.SessionID) // one that is open is begun anew
	}
	opened, err := s.o.Agent.Open(s.ctx, start)
	if err != nil {
		return nil, err
	}
	return newSession(s, opened, p.Cwd, client), nil
}

// serverOf reads an MCP server. One without a type is started and spoken to over its standard streams.
func serverOf(raw json.RawMessage) (Server, error) {
	var in struct {
		Type, Name, Command, URL string
		Args                     []string
		Env, Headers             []Pair
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Server{}, fault(codeParams, "mcpServers: %v", err)
	}
	out := Server{in.Type, in.Name, in.Command, in.Args, in.Env, in.URL, in.Headers}
	switch {
	case in.Type == "":
		out.Type = "stdio"
	case in.Type != "http" && in.Type != "stdio":
		return out, fault(codeParams, "mcpServers: %q cannot be reached: Lathe knows stdio and http, not %s", in.Name, in.Type)
	}
	return out, nil
}

// close ends an open session. The caller holds its id.
func (s *server) close(id string) error {
	s.mu.Lock()
	sess := s.sessions[id]
	delete(s.sessions, id)
	s.mu.Unlock()
	if sess == nil {
		return unknown(id)
	}
	sess.end()
	return nil
}

// page is how many sessions a list holds at once.
const page = 50

func (s *server) list(p sessionParams) (any, error) {
	from := 0
	if p.Cursor != nil {
		n, err := strconv.Atoi(*p.Cursor)
		if err != nil || n < 0 {
			return nil, fault(codeParams, "session/list: the cursor is none of ours")
		}
		from = n
	}
	all, err := s.o.Agent.List(s.ctx, p.Cwd)
	if err != nil {
		return nil, err
	}
	out := []obj{}
	for _, l := range all[min(from, len(all)):min(from+page, len(all))] {
		item := obj{"sessionId": l.ID, "cwd": l.Cwd}
		if l.Title != "" {
			item["title"] = l.Title
		}
		if l.Updated != "" {
			item["updatedAt"] = l.Updated
		}
		out = append(out, item)
	}
	result := obj{"sessions": out}
	if from+page < len(all) {
		result["nextCursor"] = strconv.Itoa(from + page)
	}
	return result, nil
}

// prompt takes a prompt in the order in which it came.
func (s *server) prompt(p sessionParams, id string, r reply) {
	sess := s.session(p.SessionID)
	if sess == nil {
		r(nil, unknown(p.SessionID))
		return
	}
	in, err := promptOf(p.Prompt)
	if err != nil {
		r(nil, err)
		return
	}
	in.ID = s.o.NewID()
	sess.submit(&prompt{request: id, in: in, reply: r})
}
