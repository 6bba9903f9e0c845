package hook_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/hook"
)

func TestHTTP(t *testing.T) {
	t.Setenv("HOOK_TOKEN", "tok")
	t.Setenv("HOOK_OTHER", "other")
	var got http.Header
	var body string
	mux := http.NewServeMux()
	answer := func(path string, code int, text string) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			got, body = r.Header, string(b)
			w.WriteHeader(code)
			_, _ = io.WriteString(w, text)
		})
	}
	answer("/deny", 200, `{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}}`)
	answer("/empty", 204, "")
	answer("/text", 200, "hello")
	answer("/bad", 200, `{"decision": "x"}`)
	answer("/fail", 500, `{"decision": "block"}`)
	mux.HandleFunc("POST /away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/deny", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("POST /slow", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // or the server does not notice that the client has gone
		<-r.Context().Done()
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	for _, tt := range []struct {
		url, more string
		want      said
	}{
		{s.URL + "/deny", "", said{Verdict: "deny", Reason: "no"}},
		{s.URL + "/empty", "", said{}},
		{s.URL + "/text", "", said{Problem: "the server's answer is not a JSON object"}},
		{s.URL + "/bad", "", said{Problem: "its JSON is not valid"}},
		{s.URL + "/fail", "", said{Problem: "the server answered 500 Internal Server Error"}},
		{s.URL + "/fail", `, "onFailure": "block"`, said{Verdict: "deny", Reason: "the hook failed: the server answered 500 Internal Server Error", Problem: "the server answered 500 Internal Server Error"}},
		{s.URL + "/away", "", said{Problem: "the server answered 307 Temporary Redirect"}},
		{s.URL + "/slow", `, "timeout": 0.05`, said{Problem: "it took too long and was stopped"}},
		{"file:///etc/passwd", "", said{Problem: `"file:///etc/passwd" is not an http or https URL`}},
		{strings.Replace(s.URL, "http://", "http://x@", 1) + "/deny", "", said{Problem: "the URL is not covered by allowedHttpHookUrls"}},
		{"http://127.0.0.1.example.com/deny", "", said{Problem: "the URL is not covered by allowedHttpHookUrls"}},
	} {
		config := fmt.Sprintf(`{"PreToolUse": [{"hooks": [{"type": "http", "url": %q, "headers": {"X-A": "Bearer $HOOK_TOKEN ${HOOK_OTHER}!", "X-B": "$HOOK_UNLISTED"}, "allowedEnvVars": ["HOOK_TOKEN", "HOOK_OTHER"]%s}]}]}`, tt.url, tt.more)
		r := newRig(t, config, func(d *hook.Deps) {
			d.URLs, d.HeaderVars = []string{"http://127.0.0.1:*/*"}, []string{"HOOK_TOKEN"}
		})
		if diff := cmp.Diff(tt.want, short(r.Fire(t.Context(), bash("ls")))); diff != "" {
			t.Errorf("%s:\n%s", tt.url, diff)
		}
	}
	if a, b := got.Get("X-A"), got.Get("X-B"); a != "Bearer tok !" || b != "" {
		t.Errorf("headers %q %q", a, b)
	}
	if !strings.Contains(body, `"hook_event_name":"PreToolUse"`) || got.Get("Content-Type") != "application/json" {
		t.Errorf("body %s", body)
	}
}
