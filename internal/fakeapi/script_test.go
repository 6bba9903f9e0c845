package fakeapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// say sends one request and returns the text of the answer's first block.
func say(t *testing.T, url string, over obj) string {
	t.Helper()
	g := post(t, url, base(over))
	if g.status != 200 {
		return g.body
	}
	blocks, _, _ := g.message(t)
	s, _ := blocks[0].(obj)["text"].(string)
	return s
}

const exampleScript = `{"vars":{"NAME":"Ann"},"models":[{"id":"tiny","like":"claude-opus-5-5","context":32000}]}
{"text":"Hello ${NAME} from ${CWD}, not ${HOME}"}
{"when":{"user":"title","no_tools":true},"text":"A title"}
{"capture":[{"name":"PID","regexp":"pid (\\d+)"}],"blocks":[{"tool":"Bash","input":{"command":"kill ${PID} # ${last_tool_result}"}}],"usage":{"input_tokens":29000}}
{"text":"again ${PID} ${model} ${call}","times":2}
`

func TestScriptFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "script.jsonl")
	if err := os.WriteFile(path, []byte(exampleScript), 0o600); err != nil {
		t.Fatal(err)
	}
	script, err := LoadScript(path)
	if err != nil {
		t.Fatal(err)
	}
	s, url := start(t, Options{Script: script, Vars: map[string]string{"CWD": "/work"}})
	if got := say(t, url, nil); got != "Hello Ann from /work, not ${HOME}" {
		t.Error(got)
	}
	if got := say(t, url, msgs(user(text("give a title")))); got != "A title" {
		t.Error(got)
	}
	g := post(t, url, base(msgs(user(text("go")), assistant(use("t1", "A")), user(result("t1", "a \"quoted\"\npid 4711")))))
	blocks, _, usage := g.message(t)
	if diff := cmp.Diff(obj{"command": "kill 4711 # a \"quoted\"\npid 4711"}, blocks[0].(obj)["input"]); diff != "" || usage["input_tokens"] != 29000.0 {
		t.Errorf("%s usage %v", diff, usage)
	}
	for _, want := range []string{"again 4711 tiny 4", "again 4711 tiny 5"} {
		if got := say(t, url, obj{"model": "tiny"}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if len(s.Violations()) > 0 {
		t.Error(s.Violations())
	}
	if got := say(t, url, nil); !strings.Contains(got, "no turn left for call 6") || s.Violations()[0].Rule != "script" {
		t.Error(got)
	}
	long := say(t, url, obj{"model": "tiny", "messages": []any{user(text(strings.Repeat("word ", 26000)))}})
	if !strings.Contains(long, "prompt is too long: 32507 tokens > 32000 maximum") {
		t.Error(long)
	}
}

func TestScriptErrors(t *testing.T) {
	for name, text := range map[string]string{
		"not json":      `{"text":`,
		"unknown field": `{"txt":"x"}`,
		"unknown fault": `{"text":"x","faults":[{"kind":"earthquake"}]}`,
		"empty block":   `{"blocks":[{}]}`,
		"input":         `{"blocks":[{"tool":"A","input":[1]}]}`,
		"regexp":        `{"text":"x","capture":[{"name":"A","regexp":"("}]}`,
		"from":          `{"text":"x","capture":[{"name":"A","from":"moon","regexp":"x"}]}`,
		"when":          `{"text":"x","when":{"user_regexp":"("}}`,
		"duration":      `{"text":"x","delay":"soon"}`,
		"nested":        `{"scripts":{"a":{"scripts":{"b":{}}}}}`,
		"null script":   `{"scripts":{"a":null}}`,
	} {
		if _, err := ParseScript([]byte(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, model := range []string{`{}`, `{"id":"x","like":"y"}`, `{"id":"x","windows":3}`} {
		if _, err := New(Options{Script: &Script{Models: []json.RawMessage{json.RawMessage(model)}}}); err == nil {
			t.Errorf("model %s: no error", model)
		}
	}
	if _, err := LoadScript(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("missing file: no error")
	}
}

func TestRawFileOfAScript(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"a.sse": "event: x\ndata: {}\n\n", "s.json": `{"turns":[{"faults":[{"kind":"raw","file":"a.sse"}]}]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script, err := LoadScript(filepath.Join(dir, "s.json"))
	if err != nil {
		t.Fatal(err)
	}
	if _, g := askOnce(t, script.Turns[0].Answer, nil); g.body != "event: x\ndata: {}\n\n" {
		t.Error(g.body)
	}
}

func TestManySessionsOnOneServer(t *testing.T) {
	s, url := start(t, Options{Script: &Script{Default: &Answer{Text: "default"}}})
	const sessions, calls = 8, 10
	for i := range sessions {
		sc := &Script{}
		for c := range calls {
			sc.Turns = append(sc.Turns, Turn{Answer: Text(string(rune('a'+i)) + string(rune('0'+c)))})
		}
		if err := s.AddScript(string(rune('a'+i)), sc); err != nil {
			t.Fatal(err)
		}
	}
	var wg sync.WaitGroup
	for i := range sessions {
		wg.Go(func() {
			key := string(rune('a' + i))
			for c := range calls {
				if got := say(t, s.URLFor(key), nil); got != key+string(rune('0'+c)) {
					t.Errorf("session %s call %d: %s", key, c, got)
				}
			}
		})
	}
	wg.Wait()
	if got := say(t, url, nil); got != "default" {
		t.Error(got)
	}
	g := post(t, url, base(nil), "X-Api-Key", "a")
	if !strings.Contains(g.body, "no turn left") {
		t.Errorf("script by API key: %s", g.body)
	}
	if g := post(t, s.URLFor("nobody"), base(nil)); g.status != 404 {
		t.Errorf("unknown name: %d", g.status)
	}
	if n := len(s.Calls("c")); n != calls {
		t.Errorf("%d calls recorded", n)
	}
}

func TestComputedAnswer(t *testing.T) {
	_, url := start(t, Options{Script: &Script{Func: func(r Request) *Answer {
		if r.LastUserText() == "next" {
			return nil
		}
		a := Text(strings.ToUpper(r.LastUserText()) + " " + strings.Join(r.ToolNames(), ",") + " " + r.SystemText())
		return &a
	}, Default: &Answer{Text: "from the turns"}}})
	if got := say(t, url, obj{"system": "sys", "tools": []any{tool("A"), tool("B")}}); got != "HI A,B sys" {
		t.Error(got)
	}
	if got := say(t, url, msgs(user(text("next")))); got != "from the turns" {
		t.Error(got)
	}
}

func TestRequestView(t *testing.T) {
	s, url := start(t, Options{Script: &Script{Default: &Answer{Text: "ok"}}})
	post(t, url, base(msgs(obj{"role": "user", "content": "hi"}, assistant(use("t1", "A")), user(result("t1", "one"), text("two")))))
	r := s.Requests()[0]
	got := r.Messages()
	for i := range got {
		for j := range got[i].Blocks {
			got[i].Blocks[j].Raw = nil
		}
	}
	want := []Message{
		{"user", []InBlock{{Type: "text", Text: "hi"}}},
		{"assistant", []InBlock{{Type: "tool_use", ID: "t1", Name: "A", Input: json.RawMessage("{}")}}},
		{"user", []InBlock{{Type: "tool_result", ID: "t1", Text: "one"}, {Type: "text", Text: "two"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var body struct{ Model string }
	if err := r.JSON(&body); err != nil || body.Model != "claude-opus-5-5" {
		t.Errorf("%v %v", body, err)
	}
}

func get(t *testing.T, method, url string) got {
	t.Helper()
	req := newRequest(t, "http://x", nil)
	u, err := req.URL.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	req.URL, req.Method, req.Host, req.Body, req.ContentLength = u, method, "", http.NoBody, 0
	return do(t, req)
}

func TestOtherEndpoints(t *testing.T) {
	s, url := start(t, Options{Script: Sequence(Text("x"))})
	count := obj{"model": "claude-opus-5-5", "messages": []any{user(text("hello"))}}
	data, _ := json.Marshal(count)
	req := newRequest(t, url, data)
	req.URL.Path += "/count_tokens"
	if g := do(t, req); g.body != `{"input_tokens":8}` {
		t.Error(g.body)
	}
	count["stream"] = true
	data, _ = json.Marshal(count)
	req = newRequest(t, url, data)
	req.URL.Path += "/count_tokens"
	if g := do(t, req); g.status != 400 || !strings.Contains(g.body, "stream: Extra inputs") {
		t.Error(g.body)
	}
	if g := get(t, "GET", url+"/v1/models?limit=1000"); g.status != 200 || !strings.Contains(g.body, `"id":"claude-opus-5-5"`) || !strings.Contains(g.body, `"max_input_tokens":1000000`) {
		t.Error(g.body)
	}
	if g := get(t, "GET", url+"/v1/models/claude-haiku-4-5-20251001"); g.status != 200 || !strings.Contains(g.body, `"max_tokens":64000`) {
		t.Error(g.body)
	}
	for path, want := range map[string]int{"HEAD /api/hello": 200, "HEAD /": 200, "GET /v1/models/none": 404, "GET /v1/messages": 405, "GET /nothing": 404} {
		method, p, _ := strings.Cut(path, " ")
		if g := get(t, method, url+p); g.status != want {
			t.Errorf("%s: %d", path, g.status)
		}
	}
	for path, part := range map[string]string{"requests": `"path":"/v1/models"`, "bodies": "[]", "violations": `"rule":"field"`, "totals": `"hit_ratio":0`} {
		if g := get(t, "GET", url+"/_fake/"+path); g.status != 200 || !strings.Contains(g.body, part) {
			t.Errorf("%s: %s", path, g.body)
		}
	}
	if g := get(t, "POST", url+"/_fake/release"); g.status != 200 {
		t.Error(g.status)
	}
	if n := len(s.Requests()); n != 9 {
		t.Errorf("%d requests recorded", n)
	}
}

func TestServe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(path, []byte(`{"default":{"text":"ok"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- Serve(ctx, path, "127.0.0.1:0", in)
		_ = in.Close()
	}()
	first := make([]byte, 200)
	n, err := out.Read(first)
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(strings.TrimPrefix(string(first[:n]), "listening on "))
	if got := say(t, url, nil); got != "ok" {
		t.Error(got)
	}
	post(t, url, base(obj{"temperature": 1}))
	cancel()
	var rest bytes.Buffer
	_, _ = rest.ReadFrom(out)
	if err := <-done; err == nil || !strings.Contains(rest.String(), "violation in request 2 (sampling): temperature") {
		t.Errorf("%v: %s", err, rest.String())
	}
}
