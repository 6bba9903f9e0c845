package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// rotating is an authorization server whose refresh tokens are good for one renewal.
type rotating struct {
	*httptest.Server
	mu       sync.Mutex
	n        int // renewals
	refusals int
}

func newRotating(t *testing.T) *rotating {
	r := &rotating{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		if req.FormValue("refresh_token") != fmt.Sprintf("r%d", r.n) {
			r.refusals++
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":"invalid_grant"}`))
			return
		}
		r.n++
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": fmt.Sprintf("a%d", r.n), "refresh_token": fmt.Sprintf("r%d", r.n), "token_type": "Bearer", "expires_in": 3600})
	}))
	t.Cleanup(r.Close)
	return r
}

// grant is the sign-in of the nth renewal.
func (r *rotating) grant(n int, expiry time.Time) *grant {
	return &grant{ClientID: "c", TokenURL: r.URL, AuthStyle: 1, Access: fmt.Sprintf("a%d", n), Refresh: fmt.Sprintf("r%d", n), Type: "Bearer", Expiry: expiry}
}

var (
	web  = Config{Name: "w", Type: HTTP, URL: "https://w.test/mcp"}
	past = time.Now().Add(-time.Hour)
	soon = time.Now().Add(time.Hour)
)

// keeping is the keeper of a process of its own, with what it has read when it began.
func keeping(t *testing.T, dir string, g *grant) *keeper {
	t.Helper()
	tokens := NewTokens(dir)
	tr := &http.Transport{DisableKeepAlives: true}
	if g != nil {
		if err := tokens.put(web, g); err != nil {
			t.Fatal(err)
		}
	}
	k, err := tokens.source(web, tr)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func access(t *testing.T, k *keeper) string {
	t.Helper()
	tok, err := k.Token()
	if err != nil {
		t.Fatal(err)
	}
	return tok.AccessToken
}

// Of many that find a sign-in run out, in several processes, one renews it and the others take what that one got.
func TestSignInIsRenewedOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: directories cannot be locked here")
	}
	r, dir := newRotating(t), t.TempDir()
	keeping(t, dir, r.grant(0, past))
	var wg sync.WaitGroup
	for range 6 {
		k := keeping(t, dir, nil)
		wg.Go(func() {
			if tok, err := k.Token(); err != nil || tok.AccessToken != "a1" {
				t.Errorf("%+v %v", tok, err)
			}
		})
	}
	wg.Wait()
	if r.n != 1 || r.refusals != 0 {
		t.Errorf("%d renewals, %d refused", r.n, r.refusals)
	}
}

// What another process has done with a sign-in counts.
func TestSignInOfAnotherProcess(t *testing.T) {
	r, dir := newRotating(t), t.TempDir()
	first := keeping(t, dir, r.grant(0, past))
	second := keeping(t, dir, nil)
	if got := access(t, first) + access(t, second); got != "a1a1" || r.n != 1 {
		t.Errorf("run out: %s, %d renewals", got, r.n)
	}
	if !second.refused("a1") || access(t, second) != "a2" || r.n != 2 { // the server has taken the token back before its time
		t.Errorf("refused: %d renewals", r.n)
	}
	if !first.refused("a1") || access(t, first) != "a2" || r.n != 2 {
		t.Errorf("refused, and renewed by another one: %d renewals", r.n)
	}
	if !first.refused("a1") || r.n != 2 {
		t.Error("a late refusal of an old token renews again")
	}
	if err := first.tokens.put(web, r.grant(2, past)); err != nil {
		t.Fatal(err)
	}
	late := keeping(t, dir, nil)
	if found, err := NewTokens(dir).Forget(web); !found || err != nil {
		t.Fatal(found, err)
	}
	if tok, err := late.Token(); !errors.Is(err, errSignedOut) {
		t.Errorf("signed out elsewhere: %+v %v", tok, err)
	}
	if _, ok, _ := late.tokens.get(web); ok {
		t.Error("a sign-in that was taken back is there again")
	}
}

// A server that takes back a token before its time costs no new sign-in.
func TestRefusedTokenIsRenewed(t *testing.T) {
	g, dir := newGranting(t), t.TempDir()
	entry := Config{Name: "w", Type: HTTP, URL: g.URL + "/mcp"}
	tokens := NewTokens(dir)
	if err := tokens.put(entry, &grant{ClientID: "made", TokenURL: g.URL + "/token", AuthStyle: 1, Access: "first", Refresh: "again", Type: "Bearer", Expiry: soon}); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(d *Deps) { d.Tokens = tokens }, entry).up()
	if got := b.call(t.Context(), "mcp__w__echo", `{"text":"1"}`); got != "1 toolu_1" {
		t.Fatal(got)
	}
	g.accepts.Store("another")
	if got := b.call(t.Context(), "mcp__w__echo", `{"text":"2"}`); got != "2 toolu_1" || g.refreshes != 1 {
		t.Errorf("%s, %d renewals", got, g.refreshes)
	}
}

// Changes that several processes make beside each other are all there afterwards.
func TestFilesKeepEveryChange(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: directories cannot be locked here")
	}
	const many = 20
	dir, project := t.TempDir(), filepath.Join(t.TempDir(), ".mcp.json")
	entry := json.RawMessage(`{"command":"x"}`)
	var wg sync.WaitGroup
	for i := range many {
		name := fmt.Sprintf("s%d", i)
		wg.Go(func() {
			for _, err := range []error{
				NewStore(dir, "").Put(User, "", name, entry), NewStore(dir, "").Switch("/p", name, false), PutFile(project, name, entry),
				NewTokens(dir).put(Config{Name: name}, &grant{Access: name}),
			} {
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got := NewStore(dir, "").Load("/p")
	f, err := readStore(project)
	all, terr := NewTokens(dir).read()
	if len(got.User) != many || len(got.Disabled) != many || len(f.Servers) != many || len(all) != many {
		t.Errorf("%d servers, %d switched off, %d of the project %v, %d sign-ins %v", len(got.User), len(got.Disabled), len(f.Servers), err, len(all), terr)
	}
}

// The project's file is replaced whole: what reads it, or a run that is killed, finds the old one or the new one.
func TestProjectFileIsReplaced(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "real.json"), filepath.Join(dir, ".mcp.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers":null,"other":1}`), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	stat := func() fs.FileInfo {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	before := stat()
	if err := PutFile(link, "a", json.RawMessage(`{"command":"x"}`)); err != nil {
		t.Fatal(err)
	}
	after := stat()
	if os.SameFile(before, after) || before.Mode() != after.Mode() {
		t.Errorf("it was written in place, or has another mode: %v, %v", before.Mode(), after.Mode())
	}
	if b, err := os.ReadFile(link); err != nil || !strings.Contains(string(b), `"other": 1`) || !strings.Contains(string(b), `"command": "x"`) {
		t.Errorf("%s %v", b, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info, err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("something was left: %v", entries)
	}
	for _, text := range []string{`null`, `{"mcpServers":null}`} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := PutFile(link, "a", json.RawMessage(`{}`)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	tokens := NewTokens(dir)
	if err := os.WriteFile(tokens.file, []byte(`null`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := tokens.put(web, &grant{}); err != nil {
		t.Error(err)
	}
}

func TestLoadLeavesItsArguments(t *testing.T) {
	keys := []string{"/a", "/a", "/b"}
	NewStore(t.TempDir(), "").Load(keys...)
	if strings.Join(keys, " ") != "/a /a /b" {
		t.Error(keys)
	}
}
