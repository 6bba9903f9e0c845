package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Login signs a person in to a remote server: the server says who grants access, the person agrees there in a
// browser, and what comes back is kept in Tokens. It is the flow of the specification's authorization page of
// 2025-11-25: discovery, PKCE, resource indicators.
type Login struct {
	Config  Config
	Tokens  *Tokens
	Getenv  func(string) string
	Version string
	Say     func(text string)      // to the person
	Open    func(url string) error // opens a browser; nil: the person does, and pastes the address that it ends at
	In      io.Reader              // what the person pastes

	HTTP http.RoundTripper // nil: the usual transport
}

// Run signs in. It returns when the sign-in is kept, or has failed.
func (l *Login) Run(ctx context.Context) error {
	if l.Config.signed() {
		return errors.New("its entry has credentials of its own (an Authorization header or a headersHelper), which are used instead")
	}
	listener, redirect, err := l.listen()
	if err != nil {
		return err
	}
	defer listener.Close()
	client := &http.Client{Transport: l.transport(), Timeout: time.Minute}
	handler, err := auth.NewAuthorizationCodeHandler(l.handler(redirect, client, listener))
	if err != nil {
		return err
	}
	// Connecting is what makes the server ask for a sign-in.
	c := sdk.NewClient(&sdk.Implementation{Name: "lathe", Title: "Lathe", Version: l.Version}, &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
	ln := &link{Transport: &sdk.StreamableClientTransport{
		Endpoint: l.Config.URL, HTTPClient: &http.Client{Transport: l.transport()}, OAuthHandler: handler, DisableStandaloneSSE: true, MaxRetries: -1, MaxEventSize: maxLine,
	}}
	defer ln.close()
	session, err := c.Connect(ctx, ln, &sdk.ClientSessionOptions{ProtocolVersion: legacy})
	if err != nil {
		return err
	}
	_ = session.Close()
	if _, ok, err := l.Tokens.get(l.Config); err != nil || !ok {
		return errors.Join(err, errors.New("the server asked for no sign-in"))
	}
	return nil
}

func (l *Login) handler(redirect string, client *http.Client, listener net.Listener) *auth.AuthorizationCodeHandlerConfig {
	h := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: redirect, Client: client, RequestRefreshToken: true, AcceptUnadvertisedIss: true,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return l.fetch(ctx, args.URL, listener)
		},
		NewTokenSource: func(_ context.Context, conf *oauth2.Config, tok *oauth2.Token) (oauth2.TokenSource, error) {
			g := grantOf(conf, tok)
			if err := l.Tokens.put(l.Config, g); err != nil {
				return nil, err
			}
			return &keeper{tokens: l.Tokens, cfg: l.Config, client: client, have: *g}, nil
		},
	}
	o := l.Config.OAuth
	if o != nil && o.ClientID != "" {
		h.PreregisteredClient = &oauthex.ClientCredentials{ClientID: o.ClientID}
		if secret := l.Getenv("MCP_CLIENT_SECRET"); secret != "" {
			h.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: secret}
		}
	} else {
		h.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Lathe", RedirectURIs: []string{redirect}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}}
		if o != nil && o.ClientMetadataURL != "" { // where the server takes one; else the client registers itself
			h.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: o.ClientMetadataURL}
		}
	}
	if o != nil && o.Scopes != "" {
		h.ScopeFilter = func([]string) []string { return strings.Fields(o.Scopes) }
	}
	return h
}

// listen waits for the browser on this machine.
func (l *Login) listen() (net.Listener, string, error) {
	port := 0
	if l.Config.OAuth != nil {
		port = l.Config.OAuth.CallbackPort
	}
	if n, err := strconv.Atoi(l.Getenv("MCP_OAUTH_CALLBACK_PORT")); err == nil && port == 0 {
		port = n
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, "", fmt.Errorf("wait for the browser on port %d: %w", port, err)
	}
	return listener, fmt.Sprintf("http://localhost:%d/callback", listener.Addr().(*net.TCPAddr).Port), nil
}

// fetch sends the person to the address and waits for what comes back.
func (l *Login) fetch(ctx context.Context, address string, listener net.Listener) (*auth.AuthorizationResult, error) {
	if l.Open == nil {
		l.Say("Open this address in a browser:\n\n  " + address + "\n\nThen paste the address that it ends at (it begins with http://localhost):")
		return l.pasted(ctx)
	}
	state := ""
	if u, err := url.Parse(address); err == nil {
		state = u.Query().Get("state")
	}
	got := make(chan url.Values, 1)
	srv := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/callback" || r.URL.Query().Get("state") != state { // any page and any process can reach this address
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, "Lathe has what it needs. You can close this page.")
		select {
		case got <- r.URL.Query():
		default:
		}
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(listener) }()
	defer func() { _ = srv.Close(); <-done }()
	l.Say("Opening a browser. If none appears, open this address:\n\n  " + address + "\n")
	if err := l.Open(address); err != nil {
		l.Say("No browser could be opened: " + err.Error())
	}
	select {
	case q := <-got:
		return granted(q)
	case <-ctx.Done():
		return nil, fmt.Errorf("nobody agreed in the browser: %w", context.Cause(ctx))
	}
}

func (l *Login) pasted(ctx context.Context) (*auth.AuthorizationResult, error) {
	line := make(chan string, 1)
	go func() { // a read cannot be interrupted; the process ends soon after
		text, _ := bufio.NewReader(l.In).ReadString('\n')
		line <- text
	}()
	select {
	case text := <-line:
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil || u.RawQuery == "" {
			return nil, errors.New("what was pasted is no address with an answer in it")
		}
		return granted(u.Query())
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func granted(q url.Values) (*auth.AuthorizationResult, error) {
	if e := q.Get("error"); e != "" {
		return nil, fmt.Errorf("the server refused: %s", strings.TrimSpace(e+" "+q.Get("error_description")))
	}
	if q.Get("code") == "" {
		return nil, errors.New("the browser brought no code back")
	}
	return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
}

// transport answers, where the entry names the authorization server's metadata itself, the questions by which it
// would be discovered.
func (l *Login) transport() http.RoundTripper {
	next := l.HTTP
	if next == nil {
		next = http.DefaultTransport
	}
	next = bounded{next}
	if l.Config.OAuth == nil || l.Config.OAuth.MetadataURL == "" {
		return next
	}
	return &named{next: next, metadata: l.Config.OAuth.MetadataURL, resource: l.Config.URL}
}

// named takes the place of discovery.
type named struct {
	next               http.RoundTripper
	metadata, resource string
}

func (n *named) RoundTrip(req *http.Request) (*http.Response, error) {
	isResource := strings.Contains(req.URL.Path, "/.well-known/oauth-protected-resource")
	isServer := strings.Contains(req.URL.Path, "/.well-known/oauth-authorization-server") || strings.Contains(req.URL.Path, "/.well-known/openid-configuration")
	if !isResource && (!isServer || req.URL.String() == n.metadata) {
		return n.next.RoundTrip(req)
	}
	ask, err := http.NewRequestWithContext(req.Context(), http.MethodGet, n.metadata, nil)
	if err != nil {
		return nil, err
	}
	resp, err := n.next.RoundTrip(ask)
	if err != nil || isServer {
		return resp, err
	}
	defer resp.Body.Close()
	var meta struct {
		Issuer string `json:"issuer"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&meta); err != nil {
		return nil, fmt.Errorf("%s: %w", n.metadata, err)
	}
	body, err := json.Marshal(map[string]any{"resource": n.resource, "authorization_servers": []string{meta.Issuer}})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(string(body))), ContentLength: int64(len(body)),
	}, nil
}
