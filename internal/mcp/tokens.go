package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"

	"lathe/internal/file"
)

// Tokens keeps the sign-ins to remote servers in a file that only the user can read. It is safe for concurrent use, also by
// several processes where directories can be locked (see file.Lock): a change takes in what others have changed, and of those
// that find a sign-in ended only one renews it.
type Tokens struct {
	file string
	mu   sync.Mutex
}

// NewTokens returns the sign-ins kept below a state directory.
func NewTokens(state string) *Tokens { return &Tokens{file: filepath.Join(state, "mcp-tokens.json")} }

// grant is one sign-in: what a server gave, and how to renew it.
type grant struct {
	ClientID     string    `json:"client_id"`
	ClientSecret string    `json:"client_secret,omitempty"`
	TokenURL     string    `json:"token_url"`
	AuthStyle    int       `json:"auth_style,omitempty"`
	Scopes       []string  `json:"scopes,omitempty"`
	Access       string    `json:"access_token"`
	Refresh      string    `json:"refresh_token,omitempty"`
	Type         string    `json:"token_type,omitempty"`
	Expiry       time.Time `json:"expiry,omitzero"`
}

// key separates the sign-ins of entries that name different servers.
func (t *Tokens) key(c Config) string { return c.Name + " " + c.URL }

func (t *Tokens) read() (map[string]grant, error) {
	var out map[string]grant
	b, err := os.ReadFile(t.file)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]grant{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the sign-ins to MCP servers: %w", err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w. Remove it and sign in again with lathe mcp login", t.file, err)
	}
	if out == nil { // it says null
		out = map[string]grant{}
	}
	return out, nil
}

func (t *Tokens) get(c Config) (grant, bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all, err := t.read()
	if err != nil {
		return grant{}, false, err
	}
	g, ok := all[t.key(c)]
	return g, ok, nil
}

// put keeps a sign-in; nil forgets it.
func (t *Tokens) put(c Config, g *grant) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(t.file), 0o700); err != nil {
		return fmt.Errorf("keep the sign-in to %s: %w", c.Name, err)
	}
	defer file.Lock(context.Background(), t.file)()
	all, err := t.read()
	if err != nil {
		return err
	}
	if g == nil {
		delete(all, t.key(c))
	} else {
		all[t.key(c)] = *g
	}
	b, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = replaceFile(t.file, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep the sign-in to %s: %w", c.Name, err)
	}
	return nil
}

// renewing keeps others from renewing sign-ins until the returned function is called. It is no lock on the state directory,
// because the network takes its time.
func (t *Tokens) renewing() (done func()) {
	dir := t.file + ".lock"
	if os.MkdirAll(dir, 0o700) != nil {
		return func() {}
	}
	return file.Lock(context.Background(), filepath.Join(dir, "renewing"))
}

// replaceFile writes a file of the user's own (0600) in one step. Where it is a link, what that leads to is written.
func replaceFile(file string, data []byte) error {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".mcp-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(data)
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	return err
}

// Forget signs out of a server. It reports whether there was a sign-in.
func (t *Tokens) Forget(c Config) (bool, error) {
	_, ok, err := t.get(c)
	if err != nil || !ok {
		return false, err
	}
	return true, t.put(c, nil)
}

// keeper gives a sign-in, renews it when it has run out, and keeps what it is given.
type keeper struct {
	tokens *Tokens
	cfg    Config
	client *http.Client

	mu   sync.Mutex
	have grant
}

// errSignedOut says that there is no sign-in any more: the user has taken it back, or it has run out for good.
var errSignedOut = errors.New("the sign-in has ended")

// Token implements oauth2.TokenSource.
func (k *keeper) Token() (*oauth2.Token, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if tok := k.have.token(); tok.Valid() {
		return tok, nil
	}
	return k.renew(k.have.Access)
}

// refused is told that the server does not take an access token. It reports whether there is another one now.
func (k *keeper) refused(access string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.have.Access != access && k.have.token().Valid() { // meanwhile
		return true
	}
	_, err := k.renew(access)
	return err == nil
}

// renew takes the sign-in that another process has renewed, or renews it. old is the access token that is of no use any more.
func (k *keeper) renew(old string) (*oauth2.Token, error) {
	defer k.tokens.renewing()()
	g, err := k.kept()
	if err != nil {
		return nil, err
	}
	if g.Access != old && g.token().Valid() {
		k.have = g
		return g.token(), nil
	}
	fresh, err := g.renewed(k.client)
	if err != nil {
		// Where directories cannot be locked another process may have been faster.
		if now, kerr := k.kept(); kerr == nil && now.Access != g.Access && now.token().Valid() {
			k.have = now
			return now.token(), nil
		}
		return nil, err
	}
	k.have = fresh
	if err := k.tokens.put(k.cfg, &fresh); err != nil {
		return nil, err
	}
	return fresh.token(), nil
}

func (k *keeper) kept() (grant, error) {
	g, ok, err := k.tokens.get(k.cfg)
	if err == nil && !ok {
		err = errSignedOut
	}
	return g, err
}

func (g grant) token() *oauth2.Token {
	return &oauth2.Token{AccessToken: g.Access, RefreshToken: g.Refresh, TokenType: g.Type, Expiry: g.Expiry}
}

// renewed asks for a new access token.
func (g grant) renewed(client *http.Client) (grant, error) {
	if g.Refresh == "" {
		return grant{}, errSignedOut
	}
	conf := &oauth2.Config{
		ClientID: g.ClientID, ClientSecret: g.ClientSecret, Scopes: g.Scopes,
		Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: oauth2.AuthStyle(g.AuthStyle)},
	}
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, client)
	tok, err := conf.TokenSource(ctx, &oauth2.Token{RefreshToken: g.Refresh}).Token()
	if err != nil {
		return grant{}, err
	}
	return *grantOf(conf, tok), nil
}

func grantOf(conf *oauth2.Config, tok *oauth2.Token) *grant {
	return &grant{
		ClientID: conf.ClientID, ClientSecret: conf.ClientSecret, TokenURL: conf.Endpoint.TokenURL, AuthStyle: int(conf.Endpoint.AuthStyle),
		Scopes: conf.Scopes, Access: tok.AccessToken, Refresh: tok.RefreshToken, Type: tok.TokenType, Expiry: tok.Expiry,
	}
}

// source gives a kept sign-in; nil when there is none.
func (t *Tokens) source(c Config, transport http.RoundTripper) (*keeper, error) {
	if t == nil {
		return nil, nil
	}
	g, ok, err := t.get(c)
	if err != nil || !ok {
		return nil, err
	}
	return &keeper{tokens: t, cfg: c, client: &http.Client{Transport: transport, Timeout: renewTime}, have: g}, nil
}

// renewTime is how long the authorization server may take.
const renewTime = 30 * time.Second

// signedIn sends the kept sign-in with each request, and renews it where that is refused.
type signedIn struct {
	source *keeper // nil: there is none
	err    error
}

var _ auth.OAuthHandler = (*signedIn)(nil)

func (s *Set) signIn(c Config, client *http.Client) auth.OAuthHandler {
	src, err := s.deps.Tokens.source(c, client.Transport.(*headerTripper).next)
	return &signedIn{source: src, err: err}
}

// TokenSource implements auth.OAuthHandler. A sign-in that cannot be renewed is none.
func (h *signedIn) TokenSource(context.Context) (oauth2.TokenSource, error) {
	if h.source == nil || h.err != nil {
		return nil, h.err
	}
	return optional{h.source}, nil
}

// optional sends no sign-in where it has ended: the server's refusal is the plainer message.
type optional struct{ oauth2.TokenSource }

func (o optional) Token() (*oauth2.Token, error) {
	tok, err := o.TokenSource.Token()
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) || errors.Is(err, errSignedOut) {
		return nil, nil
	}
	return tok, err
}

// Authorize implements auth.OAuthHandler. A sign-in that another process has renewed, or that can be renewed, goes on; else
// only a person can sign in, with lathe mcp login.
func (h *signedIn) Authorize(_ context.Context, req *http.Request, resp *http.Response) error {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	_ = resp.Body.Close()
	used, sent := strings.CutPrefix(req.Header.Get("Authorization"), "Bearer ")
	if sent && h.source != nil && resp.StatusCode == http.StatusUnauthorized && h.source.refused(used) {
		return nil
	}
	return errNeedsAuth
}

// bearer puts the kept sign-in on the requests of the older transport, which knows no sign-ins.
func (s *Set) bearer(c Config, t *headerTripper) error {
	src, err := s.deps.Tokens.source(c, t.next)
	if err != nil || src == nil {
		return err
	}
	last := ""
	t.helper = func(context.Context) (map[string]string, error) { // at first, and when a request was refused
		tok, err := src.Token()
		if err == nil && tok.AccessToken == last && src.refused(last) {
			tok, err = src.Token()
		}
		if err != nil {
			return nil, errNeedsAuth
		}
		last = tok.AccessToken
		return map[string]string{"Authorization": "Bearer " + tok.AccessToken}, nil
	}
	return nil
}
