package webfetch

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

func noEnv(string) string { return "" }

func call(t *testing.T, tl *Tool, input string) (string, tool.Result, error) {
	t.Helper()
	canonical, err := tool.Canonical(tl, json.RawMessage(input))
	if err != nil {
		return "", tool.Result{}, err
	}
	plan, err := tl.Plan(t.Context(), tool.Call{Input: canonical})
	if err != nil {
		return "", tool.Result{}, err
	}
	if !plan.Parallel || plan.ReadOnly {
		t.Error("WebFetch must be parallel, and is not read-only: it reaches the outside")
	}
	res, err := plan.Run(t.Context(), nil)
	if err != nil {
		return "", tool.Result{}, err
	}
	return msg.JoinText(res.Blocks), res, nil
}

// site is a server with one page of each kind.
func site(t *testing.T) (*httptest.Server, *int) {
	hits := 0
	mux := http.NewServeMux()
	page := func(path, kind, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			hits++
			if kind != "" {
				w.Header().Set("Content-Type", kind)
			}
			fmt.Fprint(w, body)
		})
	}
	page("/html", "text/html; charset=utf-8", `<html><head><title>The  title</title><style>p{}</style></head><body><script>x()</script>`+
		`<h1>Head</h1><p>One <b>two</b> <a href="/x?a=1">link</a></p><table><tr><th>a</th></tr><tr><td>1</td></tr></table></body></html>`)
	page("/plain", "text/plain", "just text")
	page("/json", "application/vnd.api+json", `{"a":1}`)
	page("/none", "", "<!doctype html><p>sniffed</p>")
	page("/latin", "text/plain; charset=ISO-8859-1", "caf\xe9 \x80")
	page("/utf16", "text/plain", "\xff\xfeh\x00i\x00")
	page("/image", "image/png", "\x89PNG")
	page("/empty", "text/html", "")
	page("/long", "text/plain", strings.Repeat("é", maxText)+"tail")
	page("/deep", "text/html", strings.Repeat("<div>", 100000)+"deep")
	page("/big", "text/plain", strings.Repeat("0123456789", maxBody/10+1))
	mux.HandleFunc("/missing", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not here", http.StatusNotFound) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/plain", http.StatusMovedPermanently)
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	mux.HandleFunc("/zip", func(w http.ResponseWriter, _ *http.Request) { // 64 MB of zeros in 64 KB
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "text/plain")
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		for range 64 {
			_, _ = z.Write(make([]byte, 1<<20))
		}
		_ = z.Close()
		_, _ = w.Write(b.Bytes())
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s, &hits
}

func TestFetch(t *testing.T) {
	s, _ := site(t)
	tl := New(Deps{AllowLoopback: true, Getenv: noEnv})
	cases := []struct {
		path, want string
		failed     bool
	}{
		{"/html", "Title: The title\n\n# Head\n\nOne **two** [link](" + s.URL + "/x?a=1)\n\n| a |\n|---|\n| 1 |", false},
		{"/plain#part", "just text", false},
		{"/json", `{"a":1}`, false},
		{"/none", "sniffed", false},
		{"/latin", "café €", false},
		{"/utf16", "hi", false},
		{"/empty", "The page is empty (200 OK, 0 bytes).", false},
		{"/missing", "The server answered 404 Not Found.\n\nnot here", true},
		{"/moved", "just text", false},
		{"/away?to=https://example.com/x", "The server redirects (302 Found) to another host: https://example.com/x\nCall WebFetch with that URL if it is wanted.", false},
		{"/away?to=http://127.0.0.1:1/x", "The server redirects (302 Found) to another host: http://127.0.0.1:1/x\nCall WebFetch with that URL if it is wanted.", false},
		{"/away?to=file:///etc/passwd", "The server redirects (302 Found) to another host: file:///etc/passwd\nCall WebFetch with that URL if it is wanted.", false},
	}
	for _, c := range cases {
		got, res, err := call(t, tl, `{"url":"`+s.URL+c.path+`","prompt":"what?"}`)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		if d := cmp.Diff(c.want, got); d != "" || res.IsError != c.failed {
			t.Errorf("%s: failed %v %s", c.path, res.IsError, d)
		}
	}
	for path, want := range map[string]string{
		"/image": "the content is image/png, not text; use Bash (curl -o) to save it if it is needed",
		"/loop":  "more than 10 redirects",
	} {
		if _, _, err := call(t, tl, `{"url":"`+s.URL+path+`"}`); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestLimits(t *testing.T) {
	s, _ := site(t)
	tl := New(Deps{AllowLoopback: true, Getenv: noEnv})
	got, res, err := call(t, tl, `{"url":"`+s.URL+`/long"}`)
	want := strings.Repeat("é", maxText) + "\n\n[Looked at characters 0-100000 of 100004. Go on with offset 100000.]"
	if err != nil || got != want {
		t.Errorf("%v %d", err, len(got))
	}
	if out := res.Output.(Output); out.Bytes != 2*maxText+4 || out.Code != 200 || out.CodeText != "OK" || out.URL != s.URL+"/long" {
		t.Errorf("%+v", Output{Bytes: out.Bytes, Code: out.Code, CodeText: out.CodeText, URL: out.URL})
	}
	if got, _, err = call(t, tl, `{"url":"`+s.URL+`/long","offset":100000}`); err != nil || got != "tail" {
		t.Error(got, err)
	}
	if got, res, err = call(t, tl, `{"url":"`+s.URL+`/long","offset":200000}`); err != nil || !res.IsError {
		t.Error(got, err)
	}
	for _, path := range []string{"/big", "/zip"} {
		got, res, err = call(t, tl, `{"url":"`+s.URL+path+`","offset":100}`)
		if err != nil || !strings.HasSuffix(got, "[The page was cut off after 10485760 bytes.]") || res.Output.(Output).Bytes != maxBody {
			t.Errorf("%s: %v %s", path, err, got[max(0, len(got)-100):])
		}
	}
	if _, _, err := call(t, tl, `{"url":"`+s.URL+`/deep"}`); err != nil {
		t.Log("deeply nested page:", err) // an error is an answer as well; a crash is not
	}
}

func TestAskAndCache(t *testing.T) {
	s, hits := site(t)
	now := time.Unix(1_000_000, 0)
	fail := false
	tl := New(Deps{AllowLoopback: true, Getenv: noEnv, Now: func() time.Time { return now }, Ask: func(_ context.Context, prompt, page string) (string, error) {
		if fail {
			return "", errors.New("overloaded")
		}
		return prompt + "/" + page, nil
	}})
	in := `{"url":"` + s.URL + `/plain","question":"q"}`
	for range 2 {
		if got, _, err := call(t, tl, in); err != nil || got != "q/just text" {
			t.Error(got, err)
		}
	}
	if *hits != 1 {
		t.Errorf("%d requests instead of one", *hits)
	}
	now = now.Add(15 * time.Minute)
	fail = true
	got, _, err := call(t, tl, in)
	if want := "just text\n\n[The prompt could not be answered (overloaded); this is the page itself.]"; err != nil || got != want || *hits != 2 {
		t.Error(got, err, *hits)
	}
}

func TestNothingIsKept(t *testing.T) {
	s, hits := site(t)
	now := time.Unix(1_000_000, 0)
	tl := New(Deps{AllowLoopback: true, Getenv: noEnv, CacheFor: -1, Now: func() time.Time { return now }})
	for range 2 {
		if got, _, err := call(t, tl, `{"url":"`+s.URL+`/plain"}`); err != nil || got != "just text" {
			t.Error(got, err)
		}
	}
	if *hits != 2 || tl.cache.size != 0 {
		t.Errorf("%d requests, %d bytes kept", *hits, tl.cache.size)
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := cache{life: time.Hour}
	for i := range 100 {
		c.put(page{url: fmt.Sprint(i), text: strings.Repeat("x", 1<<20), at: time.Unix(int64(i), 0)})
	}
	if c.size > cacheSize || len(c.pages) != cacheSize>>20 {
		t.Error(c.size, len(c.pages))
	}
	if _, ok := c.get("99", time.Unix(100, 0)); !ok {
		t.Error("the newest page is gone")
	}
}

func TestParseURL(t *testing.T) {
	for in, want := range map[string]string{
		"http://Example.com/a?b#c":  "https://Example.com/a?b",
		"http://example.com:80/":    "https://example.com/",
		"example.com/x":             "https://example.com/x",
		"https://example.com:8443/": "https://example.com:8443/",
		"https://8.8.8.8/":          "https://8.8.8.8/",
	} {
		u, err := parseURL(in, false)
		if err != nil || u.String() != want {
			t.Errorf("%s: %v %v", in, u, err)
		}
	}
	for _, in := range []string{
		"file:///etc/passwd", "ftp://example.com", "javascript:alert(1)", "https://u:p@example.com", "https://", "", "/etc/passwd",
		"https://example.com:0/", "https://example.com:99999/", "http://localhost/", "http://a.localhost/", "http://127.0.0.1/", "http://[::1]/",
		"http://2130706433/", "http://0x7f000001/", "http://0x7f.1/", "http://127.1/", "http://0177.0.0.1/", "http://10.0.0.1/",
		"http://192.168.1.1/", "http://172.16.0.1/", "http://169.254.169.254/latest/meta-data/", "http://100.100.100.200/", "http://192.0.0.192/",
		"http://168.63.129.16/", "http://0.0.0.0/", "http://[::]/", "http://[::ffff:10.0.0.1]/", "http://[fe80::1]/", "http://[fd00:ec2::254]/",
		"http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://metadata.google.internal/", "http://printer.local/", "http://intranet/",
		"http://localhost./", "http://224.0.0.1/", "http://255.255.255.255/", "http://[fe80::1%25eth0]/", "http://exa mple.com/",
	} {
		if u, err := parseURL(in, false); err == nil {
			t.Errorf("%s was let through as %s", in, u)
		}
	}
}

// TestPinning: a host is resolved once, and all of its addresses must be public.
func TestPinning(t *testing.T) {
	s, _ := site(t)
	su, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	answers := [][]netip.Addr{}
	asked := 0
	lookup := func(context.Context, string) ([]netip.Addr, error) {
		a := answers[min(asked, len(answers)-1)]
		asked++
		return a, nil
	}
	public, local, private := netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.1.2.3")
	for _, c := range [][]netip.Addr{{private}, {public, private}, {local}, {netip.MustParseAddr("::ffff:169.254.169.254")}} {
		answers, asked = [][]netip.Addr{c}, 0
		tl := New(Deps{Getenv: noEnv, Lookup: lookup})
		if _, _, err := call(t, tl, `{"url":"https://rebind.example.com/"}`); err == nil || !strings.Contains(err.Error(), "is not a public host") {
			t.Errorf("%v: %v", c, err)
		}
	}
	// The second answer would be an internal one: it is never asked for.
	d := &dialer{allowLoopback: true, lookup: lookup}
	answers, asked = [][]netip.Addr{{local}, {private}}, 0
	for range 2 {
		conn, err := d.dial(t.Context(), "tcp", "rebind.example.com:"+su.Port())
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	if asked != 1 {
		t.Errorf("resolved %d times", asked)
	}
}

// TestProxy: with a proxy set, the proxy is asked, and hosts that are internal by name are still refused.
func TestProxy(t *testing.T) {
	var seen []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.Host)
		w.WriteHeader(http.StatusForbidden)
	}))
	defer proxy.Close()
	env := map[string]string{"https_proxy": proxy.URL}
	tl := New(Deps{Getenv: func(k string) string { return env[k] }, Lookup: func(context.Context, string) ([]netip.Addr, error) {
		t.Error("resolved although a proxy is set")
		return nil, errors.New("no")
	}})
	if _, _, err := call(t, tl, `{"url":"http://example.com/"}`); err == nil {
		t.Error("the proxy refuses, and no error came")
	}
	if d := cmp.Diff([]string{"CONNECT example.com:443"}, seen); d != "" {
		t.Error(d)
	}
	if _, _, err := call(t, tl, `{"url":"http://10.0.0.1/"}`); err == nil {
		t.Error("an internal address went to the proxy")
	}
}

func TestCancelAndTimeout(t *testing.T) {
	started := make(chan bool, 2)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		started <- true
		<-r.Context().Done()
	}))
	defer s.Close()
	tl := New(Deps{AllowLoopback: true, Getenv: noEnv})
	ctx, cancel := context.WithCancel(t.Context())
	plan, err := tl.Plan(ctx, tool.Call{Input: json.RawMessage(`{"url":"` + s.URL + `"}`)})
	if err != nil {
		t.Fatal(err)
	}
	go func() { <-started; cancel() }()
	if _, err := plan.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	tl = New(Deps{AllowLoopback: true, Getenv: noEnv, Timeout: 20 * time.Millisecond})
	if _, _, err := call(t, tl, `{"url":"`+s.URL+`"}`); err == nil || !strings.HasSuffix(err.Error(), "the server did not answer in time") {
		t.Error(err)
	}
}

func TestDefinitionIsShort(t *testing.T) {
	def := New(Deps{}).Def()
	if n := (len(def.Description) + len(def.InputSchema)) / 4; n > 120 || !json.Valid(def.InputSchema) {
		t.Errorf("%d tokens, or no JSON", n)
	}
}

// TestLargePages: pages on which the converter is slow are cut before it sees them.
func TestLargePages(t *testing.T) {
	units := []string{"a*b_c[", "<b>x</b>"}
	if !testing.Short() {
		units = append(units, "<tr><td>a<td>b") // the parser is slow on this one
	}
	for _, unit := range units {
		text, err := htmlText(t.Context(), strings.Repeat(unit, maxHTML/len(unit)+100), "http://x")
		if err != nil || !strings.HasSuffix(text, "\n\n[The page is very large; the rest of it was left out.]") {
			t.Errorf("%s: %v %.60q", unit, err, text[max(0, len(text)-60):])
		}
	}
}

func FuzzPageText(f *testing.F) {
	f.Add([]byte("<p>a<table><tr><td>b"), "text/html; charset=iso-8859-1")
	f.Add([]byte("\xff\xfeh"), "")
	f.Fuzz(func(t *testing.T, body []byte, kind string) {
		_, _ = pageText(t.Context(), body, kind, "https://example.com") // must not panic
	})
}
