package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lathe/internal/proc"
)

const (
	// legacy is the newest version that begins with a handshake. Servers of later versions are asked what they speak.
	legacy       = "2025-11-25"
	discoverTime = 3 * time.Second // for a process to say whether it speaks a later version
)

// connection is one session with a server.
type connection struct {
	sv      *server
	session *sdk.ClientSession
	client  *sdk.Client
	link    *link
	child   *child        // of a stdio server
	hosted  *hosted       // of a server in the host's process
	ready   chan struct{} // closed when the handshake has ended, well or not

	name, version, protocol, instructions string
	changed                               bool // the instructions are not those of before

	mu        sync.Mutex
	tools     []Tool
	withheld  []string // full names of others; see Status
	prompts   []Prompt
	resources bool
	offers    offers
	token     int64
	progress  map[string]func(text string)

	closing sync.Once
	noticed chan struct{} // closed when the server knows that the connection is gone; set before it is used
}

// link remembers the connection that a transport makes, so that it is closed whatever becomes of the handshake.
type link struct {
	sdk.Transport
	conn sdk.Connection
}

func (l *link) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := l.Transport.Connect(ctx)
	l.conn = c
	return c, err
}

func (l *link) close() {
	if l.conn != nil {
		_ = l.conn.Close()
	}
}

// open connects to the server and learns what it offers.
func (sv *server) open(ctx context.Context) (*connection, error) {
	if err := sv.proven(); err != nil {
		return nil, err
	}
	switch sv.cfg.Type {
	case Stdio:
		c, err := sv.openChild(ctx, sv.version())
		if err != nil && sv.version() != legacy && c.child.ended() != "" && ctx.Err() == nil {
			c, err = sv.openChild(ctx, legacy) // some old servers end at a first message that they do not know
		}
		if err != nil {
			return nil, err
		}
		return c, nil
	case Host:
		if sv.set.deps.Exchange == nil {
			return nil, errors.New("its process is not connected: servers of type sdk need a host")
		}
		h := &hosted{name: sv.cfg.Name, exchange: sv.set.deps.Exchange}
		return sv.handshake(ctx, &connection{sv: sv, link: &link{Transport: h}, hosted: h}, legacy)
	}
	return sv.openRemote(ctx)
}

// version is the protocol version to ask for first; "" is the newest.
func (sv *server) version() string {
	if sv.set.deps.Getenv("MCP_PROTOCOL_NEGOTIATION") == "legacy" || sv.set.deps.Getenv("MCP_SDK_GENERATION") == "v1" {
		return legacy
	}
	return ""
}

// openChild starts the process and connects to it. The connection is returned with an error too.
func (sv *server) openChild(ctx context.Context, version string) (*connection, error) {
	d := sv.set.deps
	env := append(d.Environ(), "CLAUDE_PROJECT_DIR="+d.Project)
	for k, v := range sv.cfg.Env {
		env = append(env, k+"="+v)
	}
	notes := &tail{}
	sv.mu.Lock()
	sv.notes = notes
	sv.mu.Unlock()
	args := append([]string{sv.cfg.Command}, sv.cfg.Args...)
	if prefix := strings.Fields(d.Getenv("CLAUDE_CODE_SHELL_PREFIX")); len(prefix) > 0 {
		args = append(prefix, args...)
	}
	ch := &child{group: d.Procs, notes: notes, spec: proc.Spec{Args: args, Dir: d.Dir, Env: env}}
	c := &connection{sv: sv, link: &link{Transport: ch}, child: ch}
	_, err := sv.handshake(ctx, c, version)
	if err == nil {
		return c, nil
	}
	text := err.Error()
	if ended := ch.ended(); ended != "" {
		text = ended
	}
	if said := notes.last(); said != "" {
		text += "; it wrote: " + said
	}
	return c, errors.New(text)
}

// openRemote connects over HTTP; a server that refuses the newer transport is tried by the older one.
func (sv *server) openRemote(ctx context.Context) (*connection, error) {
	t := sv.tripper(sv.cfg)
	client := sv.client(t)
	if sv.cfg.Type == SSE {
		return sv.openSSE(ctx, t, client)
	}
	transport := &sdk.StreamableClientTransport{Endpoint: sv.cfg.URL, HTTPClient: client, MaxRetries: retries, MaxEventSize: maxLine}
	if !sv.cfg.signed() {
		transport.OAuthHandler = sv.set.signIn(sv.cfg, client)
	}
	c, err := sv.handshake(ctx, &connection{sv: sv, link: &link{Transport: transport}}, sv.version())
	if err == nil {
		return c, nil
	}
	status := t.last()
	switch {
	case errors.Is(err, errNeedsAuth) || ctx.Err() != nil:
		return nil, err
	case (status == http.StatusUnauthorized || status == http.StatusForbidden) && !sv.cfg.signed(): // a new token too
		return nil, errNeedsAuth
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status == http.StatusBadRequest || status == http.StatusNotAcceptable:
		if c, serr := sv.openSSE(ctx, t, client); serr == nil {
			return c, nil
		}
	}
	return nil, remoteError(sv.cfg, err, status)
}

// openSSE connects by the transport of 2024-11-05.
func (sv *server) openSSE(ctx context.Context, t *headerTripper, client *http.Client) (*connection, error) {
	if !sv.cfg.signed() {
		if err := sv.set.bearer(sv.cfg, t); err != nil {
			return nil, err
		}
	}
	c, err := sv.handshake(ctx, &connection{sv: sv, link: &link{Transport: &sdk.SSEClientTransport{Endpoint: sv.cfg.URL, HTTPClient: client, MaxEventSize: maxLine}}}, legacy)
	if err == nil {
		return c, nil
	}
	if s := t.last(); (s == http.StatusUnauthorized || s == http.StatusForbidden) && !sv.cfg.signed() {
		return nil, errNeedsAuth
	}
	return nil, remoteError(sv.cfg, err, t.last())
}

// remoteError tells what went wrong in words that help.
func remoteError(c Config, err error, status int) error {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("it refuses the credentials of its entry (%d %s); correct its headers", status, http.StatusText(status))
	case status == http.StatusTooManyRequests || status >= 500:
		return transientError{fmt.Errorf("%s answers with %d %s", c.URL, status, http.StatusText(status))}
	case status == http.StatusNotFound:
		return fmt.Errorf("there is no MCP server at %s (404 Not Found); correct its url", c.URL)
	}
	var u *url.Error
	if errors.As(err, &u) {
		return transientError{fmt.Errorf("%s cannot be reached: %w", c.URL, u.Err)}
	}
	return err
}

// handshake speaks with the server over c.link, and asks for its lists. Whatever goes wrong, nothing is left open.
func (sv *server) handshake(ctx context.Context, c *connection, version string) (*connection, error) {
	c.progress, c.ready = map[string]func(string){}, make(chan struct{})
	defer close(c.ready)
	c.client = sdk.NewClient(&sdk.Implementation{Name: "lathe", Title: "Lathe", Version: sv.set.deps.Version}, c.options())
	c.client.AddSendingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			if method == "server/discover" && c.child != nil { // an old server may keep silent
				limited, cancel := context.WithTimeout(ctx, discoverTime)
				defer cancel()
				ctx = limited
			}
			return caught(method, func() (sdk.Result, error) { return next(ctx, method, req) })
		}
	})
	c.client.AddReceivingMiddleware(survive)
	sv.set.giveRoots(c.client)
	var opts *sdk.ClientSessionOptions
	if version != "" {
		opts = &sdk.ClientSessionOptions{ProtocolVersion: version}
	}
	session, err := c.client.Connect(ctx, c.link, opts)
	if err != nil {
		c.link.close()
		return nil, err
	}
	c.session = session
	if r := session.InitializeResult(); r != nil {
		c.protocol, c.instructions = r.ProtocolVersion, r.Instructions
		if !c.believes(knownInstructions, r.Instructions) {
			c.instructions, c.changed = "", true
		}
		if r.ServerInfo != nil {
			c.name, c.version = r.ServerInfo.Name, r.ServerInfo.Version
		}
	}
	if err := c.learn(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// options are what the client announces and listens to.
func (c *connection) options() *sdk.ClientOptions {
	d := c.sv.set.deps
	caps := withRoots()
	o := &sdk.ClientOptions{
		Capabilities: caps, Logger: slog.New(slog.DiscardHandler),
		ToolListChangedHandler:   func(context.Context, *sdk.ToolListChangedRequest) { c.again(c.learnTools) },
		PromptListChangedHandler: func(context.Context, *sdk.PromptListChangedRequest) { c.again(c.learnPrompts) },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {
			c.again(func(context.Context) error { c.changedOffers(); return nil })
		},
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			c.told(req.Params)
		},
	}
	if d.Elicit != nil {
		caps.Elicitation = &sdk.ElicitationCapabilities{}
		if !c.sv.cfg.BareElicitation {
			caps.Elicitation.Form, caps.Elicitation.URL = &sdk.FormElicitationCapabilities{}, &sdk.URLElicitationCapabilities{}
		}
		o.ElicitationHandler = c.elicit
		if d.Visited != nil {
			o.ElicitationCompleteHandler = func(context.Context, *sdk.ElicitationCompleteNotificationRequest) { d.Visited(c.sv.cfg.Name) }
		}
	}
	return o
}

// again asks for a list anew, beside what else happens. When that fails the old list stays. Servers tell of changes as soon
// as they have been greeted, which may be before there is a session to ask with.
func (c *connection) again(learn func(context.Context) error) {
	c.sv.set.spawn(func() {
		select {
		case <-c.ready:
		case <-c.sv.set.ctx.Done():
			return
		}
		if c.session == nil {
			return
		}
		ctx, cancel := context.WithTimeout(c.sv.set.ctx, startTime)
		defer cancel()
		if learn(ctx) == nil {
			c.remember()
			c.sv.set.changed(c.sv.cfg.Name)
		}
	})
}

// told passes progress on to the call that it belongs to.
func (c *connection) told(p *sdk.ProgressNotificationParams) {
	if p == nil {
		return
	}
	var key string
	switch v := p.ProgressToken.(type) {
	case float64:
		key = strconv.FormatInt(int64(v), 10)
	default:
		key = fmt.Sprint(v)
	}
	text := strings.TrimSpace(p.Message)
	switch {
	case p.Total > 0:
		text = strings.TrimSpace(fmt.Sprintf("%s (%g of %g)", text, p.Progress, p.Total))
	case text == "":
		text = fmt.Sprintf("%g", p.Progress)
	}
	c.mu.Lock()
	tell := c.progress[key]
	c.mu.Unlock()
	if tell != nil {
		tell(text)
	}
}

// listen registers for the progress of a call.
func (c *connection) listen(tell func(string)) (token int64, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token++
	token = c.token
	key := strconv.FormatInt(token, 10)
	c.progress[key] = tell
	return token, func() { c.mu.Lock(); delete(c.progress, key); c.mu.Unlock() }
}

// wait returns when the connection has ended.
func (c *connection) wait() { _ = c.session.Wait() }

func (c *connection) lostText() string {
	if c.child == nil {
		return "the connection was lost"
	}
	select { // the end of the output comes a moment before that of the process
	case <-c.child.p.Done():
	case <-time.After(quitTime):
	}
	text := or(c.child.ended(), "its connection broke")
	if said := c.child.notes.last(); said != "" {
		text += "; it wrote: " + said
	}
	return text
}

// close ends the connection and what belongs to it.
func (c *connection) close() {
	c.closing.Do(func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = c.session.Close()
		}()
		c.link.close()
		<-done
	})
}
