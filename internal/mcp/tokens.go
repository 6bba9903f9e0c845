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
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"
)

// Tokens keeps the sign-ins to remote servers in a file that only the user can read. It is safe for concurrent use,
// also by several processes: the file is replaced whole.
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
	out := map[string]grant{}
	b, err := os.ReadFile(t.file)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the sign-ins to MCP servers: %w", err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("%s is damaged: %w. Remove it and sign in again with lathe mcp login", t.file, err)
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

// replaceFile writes a file of the user's own (0600) in one step.
func replaceFile(file string, data []byte) error {
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

// keeper renews a sign-in, and keeps what it is given.
type keeper struct {
	tokens *Tokens
	cfg    Config
	conf   *oauth2.Config
	source oauth2.TokenSource

	mu   sync.Mutex
	last string
}

func (k *keeper) Token() (*oauth2.Token, error) {
	tok, err := k.source.Token()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if tok.AccessToken != k.last {
		if err := k.tokens.put(k.cfg, grantOf(k.conf, tok)); err != nil {
			return nil, err
		}
		k.last = tok.AccessToken
	}
	return tok, nil
}

func grantOf(conf *oauth2.Config, tok *oauth2.Token) *grant {
	return &grant{
		ClientID: conf.ClientID, ClientSecret: conf.ClientSecret, TokenURL: conf.Endpoint.TokenURL, AuthStyle: int(conf.Endpoint.AuthStyle),
		Scopes: conf.Scopes, Access: tok.AccessToken, Refresh: tok.RefreshToken, Type: tok.TokenType, Expiry: tok.Expiry,
	}
}

// source renews a kept sign-in by need; nil when there is none.
func (t *Tokens) source(c Config, client *http.Client) (oauth2.TokenSource, error) {
	if t == nil {
		return nil, nil
	}
	g, ok, err := t.get(c)
	if err != nil || !ok {
		return nil, err
	}
	conf := &oauth2.Config{
		ClientID: g.ClientID, ClientSecret: g.ClientSecret, Scopes: g.Scopes,
		Endpoint: oauth2.Endpoint{TokenURL: g.TokenURL, AuthStyle: oauth2.AuthStyle(g.AuthStyle)},
	}
	tok := &oauth2.Token{AccessToken: g.Access, RefreshToken: g.Refresh, TokenType: g.Type, Expiry: g.Expiry}
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, client)
	return &keeper{tokens: t, cfg: c, conf: conf, source: conf.TokenSource(ctx, tok), last: g.Access}, nil
}

// signedIn sends the kept sign-in with each request, and asks for a new one where that is refused.
type signedIn struct {
	source oauth2.TokenSource
	err    error
}

var _ auth.OAuthHandler = (*signedIn)(nil)

func (s *Set) signIn(c Config, client *http.Client) auth.OAuthHandler {
	src, err := s.deps.Tokens.source(c, &http.Client{Transport: client.Transport.(*headerTripper).next})
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
	if errors.As(err, &refused) {
		return nil, nil
	}
	return tok, err
}

// Authorize implements auth.OAuthHandler: only a person can sign in, with lathe mcp login.
func (h *signedIn) Authorize(_ context.Context, _ *http.Request, resp *http.Response) error {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	_ = resp.Body.Close()
	return errNeedsAuth
}

// bearer puts the kept sign-in on the requests of the older transport, which knows no sign-ins.
func (s *Set) bearer(c Config, t *headerTripper) error {
	src, err := s.deps.Tokens.source(c, &http.Client{Transport: t.next})
	if err != nil || src == nil {
		return err
	}
	t.helper = func(context.Context) (map[string]string, error) {
		tok, err := src.Token()
		if err != nil {
			return nil, errNeedsAuth
		}
		return map[string]string{"Authorization": "Bearer " + tok.AccessToken}, nil
	}
	return nil
}
