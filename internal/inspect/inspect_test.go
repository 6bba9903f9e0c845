package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/msg"
	"lathe/internal/trace"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// attack is what a page must show and never run.
const attack = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`

// record writes a trace of two requests, the second with a tool call that was denied.
func record(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "trace")
	f, err := trace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	ref := func(id, kind, source, text string) trace.Ref {
		b := msg.AppendBlocks(nil, []msg.Block{msg.Text(text)})
		return trace.Ref{ID: id, Kind: kind, Source: source, Hash: f.Blob(b), Bytes: len(b), Tokens: len(b) / 4}
	}
	lists := func(name string, list []trace.Ref) trace.View {
		return trace.View{Items: map[string][]trace.Ref{name: list}}
	}
	asked := ref("m1", "user", "", "please "+attack)
	all := []trace.Ref{asked, ref("m2", "attachment", "memory", strings.Repeat("be kind ", 100))}
	f.Record(trace.Record{Turn: "t", Stage: "input", Before: lists(trace.Messages, nil), After: lists(trace.Messages, all[:1])})
	usage := []msg.Usage{{CacheWrite: 9000, Output: 5}, {CacheWrite: 9500, Output: 6}}
	for step := 1; step <= 2; step++ {
		f.Record(trace.Record{Turn: "t", Stage: "compact", Step: step, Start: noon, After: lists(trace.Seen, all), Notes: []trace.Note{{Text: "kept " + attack}}})
		f.Record(trace.Record{
			Turn: "t", Stage: "call", Parent: "model", Step: step, Start: noon.Add(time.Duration(step) * time.Second), Dur: time.Second,
			After: lists(trace.Sent, all),
			Call: &trace.Call{
				Model: "m", Head: f.Blob([]byte(`{"model":"m","messages":[]}`)), Attempt: 1, Usage: &usage[step-1], Cost: 0.5,
				APIID: "a" + string(rune('0'+step)), Stop: "end_turn", Bytes: 100, Headers: map[string]string{"X-Api-Key": "(not shown)"},
			},
		})
		all = append(all, ref("m3", "assistant", "", "answer"), ref("m4", "result", "", "result"))
	}
	f.Record(trace.Record{Turn: "t", Stage: "call", Parent: "tools", Step: 2, Dur: time.Millisecond, Tool: &trace.Tool{
		ID: "c", Name: "Bash", Summary: "rm -rf / " + attack, Input: json.RawMessage(`{"command":"rm"}`),
		Decision: trace.Decision{
			Verdict: "deny", Reason: "it is critical", By: trace.By{Kind: "rule", Rule: "Bash(rm:*)", File: "settings.json", Line: 7},
			Parts: []trace.Part{{Text: "rm -rf /", Verdict: "deny", By: trace.By{Kind: "critical"}}},
		},
	}})
	if f.Close() != 0 {
		t.Fatal("the trace could not be written")
	}
	return dir
}

func load(t *testing.T, dir string) (*Session, error) {
	t.Helper()
	tr, err := trace.Read(dir)
	if err != nil {
		return nil, err
	}
	return Build(Input{
		ID: "id", Title: "A title " + attack, Trace: tr, Messages: transcript(),
		Cost:   func(string, msg.Usage) float64 { return 0.25 },
		Count:  func(_ string, m msg.Message) int { return len(m.Text()) / 4 },
		Missed: func(prev, next msg.Usage) bool { return next.CacheRead < prev.CacheWrite },
		Explain: func(prev, next func() Sent) *Miss {
			return &Miss{Cause: "message", Text: "messages[0] changed", Lost: prev().Usage.CacheWrite, Cost: 0.125}
		},
	}), nil
}

// transcript has an answer that the trace has too, and an earlier one that it has not.
func transcript() []msg.Message {
	return []msg.Message{
		{Kind: msg.KindUser, Blocks: []msg.Block{msg.Text("an earlier question")}},
		{Kind: msg.KindAttachment, Source: "date", Blocks: []msg.Block{msg.Text("today is the first")}},
		{Kind: msg.KindAssistant, Time: noon.Add(-time.Hour), APIID: "a0", Model: "m", StopReason: "end_turn", Usage: &msg.Usage{Input: 100, Output: 3}, Blocks: []msg.Block{msg.Text("yes")}},
		{Kind: msg.KindAssistant, Time: noon, APIID: "a1", Model: "m", Usage: &msg.Usage{Input: 1}, Blocks: []msg.Block{msg.Text("x")}},
	}
}

// What the trace has is taken from it; what only the transcript has is told as far as that goes.
func TestBuild(t *testing.T) {
	s, err := load(t, record(t))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	type row struct {
		N      int
		Traced bool
		Prompt string
		Cost   float64
		Shares []string
		Stages int
		Missed int
	}
	var got []row
	for _, r := range s.Requests {
		g := row{N: r.N, Traced: r.Traced, Prompt: r.Prompt, Cost: r.Cost, Stages: len(r.Stages)}
		for _, x := range r.Shares {
			g.Shares = append(g.Shares, x.Name)
		}
		if r.Miss != nil {
			g.Missed = r.Miss.Lost
		}
		got = append(got, g)
	}
	want := []row{
		{1, false, "an earlier question", 0.25, []string{"context: date", "user"}, 0, 0},
		{2, true, short("please " + attack), 0.5, []string{"context: memory", "user"}, 2, 0},
		{3, true, "", 0.5, []string{"context: memory", "user", "answers", "tool results"}, 1, 9000},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if s.Cost != 1.25 || s.Lost != 9000 || len(s.Notes) != 1 {
		t.Errorf("cost %v, lost %d, notes %q", s.Cost, s.Lost, s.Notes)
	}
	var out bytes.Buffer
	s.Text(&out)
	s.Requests[2].Text(&out)
	for _, want := range []string{"! cache: 9000 tokens missed", "deny by rule Bash(rm:*) of settings.json:7", "part    rm -rf /: deny by critical", "+ [2] assistant"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the text does not say %q:\n%s", want, out.String())
		}
	}
}

// serve starts a server and returns the address of its page.
func serve(t *testing.T) string {
	t.Helper()
	dir := record(t)
	return serveThat(t, func() (*Session, error) { return load(t, dir) })
}

func serveThat(t *testing.T, load func() (*Session, error)) string {
	t.Helper()
	s := &Server{Load: load}
	ln, address, err := s.Listen(0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return address
}

func TestServer(t *testing.T) {
	address := serve(t)
	base := address[:strings.Index(address[7:], "/")+7]
	cases := []struct {
		name, method, url string
		change            func(r *http.Request)
		code              int
		has               string
	}{
		{name: "page", url: address, code: 200, has: "app.js"},
		{name: "script", url: address + "app.js", code: 200, has: "use strict"},
		{name: "session", url: address + "api/session", code: 200, has: `"traced":true`},
		{name: "request", url: address + "api/request/3", code: 200, has: "it is critical"},
		{name: "body", url: address + "api/body/2", code: 200, has: `{"model":"m","messages":[{"role":"user"`},
		{name: "no body", url: address + "api/body/1", code: 404},
		{name: "no request", url: address + "api/request/4", code: 404},
		{name: "no content", url: address + "api/blob/2/..%2f..%2fx", code: 404},
		{name: "no file", url: address + "..%2fserver.go", code: 404},
		{name: "no secret", url: base + "/", code: 404},
		{name: "wrong secret", url: base + "/AAAAAAAAAAAAAAAAAAAAAAAAAA/api/session", code: 404},
		{name: "a part of the secret", url: address[:len(address)-4] + "/", code: 404},
		{name: "another host", url: address, change: func(r *http.Request) { r.Host = "evil.example" }, code: 404},
		{name: "another origin", url: address, change: func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, code: 404},
		{name: "its own origin", url: address, change: func(r *http.Request) { r.Header.Set("Origin", base) }, code: 200},
		{name: "another site", url: address, change: func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, code: 404},
		{name: "writing", method: "POST", url: address, code: 405},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			req, err := http.NewRequest(c.method, c.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.change != nil {
				c.change(req)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != c.code || !strings.Contains(string(body), c.has) {
				t.Errorf("%d %s", resp.StatusCode, body)
			}
			if csp := resp.Header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'") {
				t.Errorf("policy %q", csp)
			}
		})
	}
}

// browse opens a page in a real browser and returns what it holds then.
func browse(t *testing.T, address string) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("SKIPPED: the page is tested in a browser only where chromium is installed")
	}
	if testing.Short() {
		t.Skip("SKIPPED: a browser takes seconds")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	profile, err := os.MkdirTemp("", "browser")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(profile)
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--no-first-run", "--user-data-dir="+profile, "--window-size=400,900",
		"--virtual-time-budget=10000", "--dump-dom", address)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		t.Skipf("SKIPPED: chromium does not run here: %v", err)
	}
	return string(out)
}

// A real browser shows the session, the chosen request and the picture, and runs nothing that stands in the content.
func TestBrowser(t *testing.T) {
	dom := browse(t, serve(t)+"#3")
	for _, want := range []string{
		`data-ready="yes"`, "<title>Lathe: A title &lt;img", ">Request 3</h2>", "The prompt cache missed 9000 of",
		`data-n="3" aria-label="Request 3: 9500 tokens`, "context: memory", "deny by rule Bash(rm:*) settings.json:7", "compact", "Against the request before",
	} {
		if !strings.Contains(dom, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	if strings.Contains(dom, "owned</title>") || strings.Contains(dom, "<img") {
		t.Error("content became a part of the page")
	}
	if t.Failed() {
		t.Log(dom)
	}
}

// A long session is shown whole: each request has its column and its row, sub-agents their bands, the legend each kind of
// content once.
func TestBrowserShowsALongSession(t *testing.T) {
	s := long(1000)
	dom := browse(t, serveThat(t, func() (*Session, error) { return long(1000), nil })+"#a1.2")
	for what, want := range map[string]int{
		`class="bar"`: len(s.Order), `<button aria-pressed=`: len(s.Order), `class="lane"`: len(s.Agents), `aria-pressed="true"`: 2,
		`class="compacted"`: 24, `<h2 id="chosen" aria-live="polite">Request a1.2 of sub-agent reviewer</h2>`: 1, `<strong>a1 reviewer</strong>`: 1,
		`<span>added context</span>`: 1, `<span>tool results</span>`: 1, `class="m0"`: 2,
	} {
		if n := strings.Count(dom, what); n != want {
			t.Errorf("%s stands there %d times, want %d", what, n, want)
		}
	}
}
