package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// granting is a server that wants a sign-in, and the authorization server for it.
type granting struct {
	*httptest.Server
	accepts   atomic.Value // string: the access token that is good now
	challenge string       // of the running sign-in
	refreshes int
	resource  string
	documents bool   // client id metadata documents are taken
	client    string // the id that is expected
	made      int    // clients that have registered themselves
}

func newGranting(t *testing.T) *granting {
	g := &granting{client: "made"}
	g.accepts.Store("first")
	mux := http.NewServeMux()
	g.Server = httptest.NewServer(mux)
	s := newServerWith("http")
	protected := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: true})
	reply := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+g.accepts.Load().(string) {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+g.URL+`/.well-known/oauth-protected-resource/mcp"`)
			http.Error(w, "sign in", http.StatusUnauthorized)
			return
		}
		protected.ServeHTTP(w, r)
	})
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"resource": g.URL + "/mcp", "authorization_servers": []string{g.URL}, "scopes_supported": []string{"notes"}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{
			"issuer": g.URL, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token", "registration_endpoint": g.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "scopes_supported": []string{"notes", "offline_access"},
			"token_endpoint_auth_methods_supported": []string{"none"}, "client_id_metadata_document_supported": g.documents,
		})
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, _ *http.Request) {
		g.made++
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"client_id": "made", "token_endpoint_auth_method": "none"})
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		g.challenge, g.resource = q.Get("code_challenge"), q.Get("resource")
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"c1"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		switch r.Form.Get("grant_type") {
		case "authorization_code":
			sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
			if base64.RawURLEncoding.EncodeToString(sum[:]) != g.challenge || r.Form.Get("code") != "c1" || r.Form.Get("client_id") != g.client {
				http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
				return
			}
			reply(w, map[string]any{"access_token": "first", "token_type": "Bearer", "refresh_token": "again", "expires_in": 3600})
		case "refresh_token":
			g.refreshes++
			if r.Form.Get("refresh_token") != "again" {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
				return
			}
			if g.accepts.Load() == "first" {
				g.accepts.Store("second")
			}
			reply(w, map[string]any{"access_token": g.accepts.Load(), "token_type": "Bearer", "refresh_token": "again", "expires_in": 3600})
		}
	})
	t.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close()
		}
		g.Close()
	})
	return g
}

// A sign-in: the person agrees in a browser, the token is kept for the user alone, used, renewed and forgotten.
func TestLogin(t *testing.T) {
	g := newGranting(t)
	dir := t.TempDir()
	tokens := NewTokens(dir)
	entry := Config{Name: "w", Type: HTTP, URL: g.URL + "/mcp"}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var browsed error
	l := Login{
		Config: entry, Tokens: tokens, Getenv: func(string) string { return "" }, Say: func(string) {},
		Open: func(address string) error {
			c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			u, err := url.Parse(address)
			if err != nil {
				return err
			}
			for _, q := range []string{"?code=theirs&state=guessed", "?error=no"} { // what others send ends nothing
				resp, err := c.Get(u.Query().Get("redirect_uri") + q)
				if err != nil {
					return err
				}
				if _ = resp.Body.Close(); resp.StatusCode != http.StatusNotFound {
					return fmt.Errorf("%s: %s", q, resp.Status)
				}
			}
			resp, err := c.Get(address)
			if err != nil {
				return err
			}
			if resp.StatusCode != http.StatusOK {
				browsed = fmt.Errorf("the browser ends at %s: %s", resp.Request.URL, resp.Status)
			}
			return resp.Body.Close()
		},
		HTTP: &http.Transport{DisableKeepAlives: true},
	}
	if err := l.Run(ctx); err != nil || browsed != nil {
		t.Fatal(err, browsed)
	}
	if g.resource != g.URL+"/mcp" {
		t.Errorf("resource %q", g.resource)
	}
	info, err := os.Stat(filepath.Join(dir, "mcp-tokens.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	up := func() *bench { return newBench(t, func(d *Deps) { d.Tokens = tokens }, entry).up() }
	b := up()
	if got := b.call(ctx, "mcp__w__echo", `{"text":"in"}`); got != "in toolu_1" {
		t.Fatal(got)
	}
	kept, _, err := tokens.get(entry)
	if err != nil {
		t.Fatal(err)
	}
	kept.Expiry = time.Now().Add(-time.Hour) // it has run out: it is renewed, and that is kept
	if err := tokens.put(entry, &kept); err != nil {
		t.Fatal(err)
	}
	b = up()
	if got := b.call(ctx, "mcp__w__echo", `{"text":"renewed"}`); got != "renewed toolu_1" {
		t.Fatal(got)
	}
	if now, _, _ := tokens.get(entry); now.Access != "second" || g.refreshes != 1 {
		t.Errorf("%+v, %d renewals", now, g.refreshes)
	}
	kept.Refresh = "bad"
	if err := tokens.put(entry, &kept); err != nil {
		t.Fatal(err)
	}
	if st := up().state("w"); st.State != NeedsAuth || !strings.Contains(st.Error, "lathe mcp login w") {
		t.Errorf("a sign-in that cannot be renewed: %+v", st)
	}
	if found, err := tokens.Forget(entry); !found || err != nil {
		t.Error(found, err)
	}
	if st := up().state("w"); st.State != NeedsAuth {
		t.Errorf("signed out: %+v", st)
	}
	// By hand: the person pastes the address at which the browser ends.
	l.Open = nil
	l.Say = func(text string) {
		_, address, _ := strings.Cut(text, "\n\n  ")
		address, _, _ = strings.Cut(address, "\n")
		c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp, err := c.Get(address)
		if err != nil {
			t.Error(err)
			return
		}
		_ = resp.Body.Close()
		l.In = strings.NewReader(resp.Header.Get("Location") + "\n")
	}
	g.accepts.Store("first")
	if err := l.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

// A client id metadata document is the client's id where the server takes such ones; elsewhere the client registers itself.
func TestClientMetadata(t *testing.T) {
	for _, takes := range []bool{true, false} {
		g := newGranting(t)
		const document = "https://example.com/lathe.json"
		if g.documents = takes; takes {
			g.client = document
		}
		l := Login{
			Config: Config{Name: "w", Type: HTTP, URL: g.URL + "/mcp", OAuth: &OAuth{ClientMetadataURL: document}},
			Tokens: NewTokens(t.TempDir()), Getenv: func(string) string { return "" }, Say: func(string) {},
			Open: func(address string) error {
				resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(address)
				if err != nil {
					return err
				}
				return resp.Body.Close()
			},
			HTTP: &http.Transport{DisableKeepAlives: true},
		}
		if err := l.Run(t.Context()); err != nil || (g.made == 0) != takes {
			t.Errorf("the server takes documents: %v; %d clients registered, %v", takes, g.made, err)
		}
	}
}
