package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lathe/internal/fakeapi"
)

// sendTo is a call of the tool SendMessage.
func sendTo(to, text string) fakeapi.Block {
	return fakeapi.Call("SendMessage", map[string]any{"to": to, "message": text, "summary": "more of it"})
}

// idIn finds a sub-agent's id in a text of the program.
func idIn(t *testing.T, text string) string {
	t.Helper()
	for _, before := range []string{", id ", "as task ", "Sub-agent ", "sub-agent "} {
		if _, rest, ok := strings.Cut(text, before); ok && len(rest) >= 17 && rest[0] == 'a' {
			return rest[:17]
		}
	}
	t.Errorf("there is no id in %q", text)
	return ""
}

// isReport reports whether a request tells of a background sub-agent's end.
func isReport(q fakeapi.Request) bool { return strings.Contains(q.LastUserText(), "task-notification") }

// A sub-agent that has ended goes on with a message, in the background: it knows all that it knew, its requests extend
// those before byte for byte, and its transcript goes on. The same holds in a later run of the session, by its name.
func TestSendMessageGoesOn(t *testing.T) {
	t.Parallel()
	var id atomic.Value
	var later atomic.Bool
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("done")
		switch {
		case isWorker(q) && strings.Contains(q.LastUserText(), "and the third"):
			a = fakeapi.Text("Third: green.")
		case isWorker(q) && strings.Contains(q.LastUserText(), "and the second"):
			a = fakeapi.Text("Second: blue.")
		case isWorker(q):
			a = fakeapi.Text("First: red.")
		case isReport(q) || strings.Contains(q.LastToolResult(), "goes on with your message"):
		case later.Load():
			a = answer(sendTo("painter", "and the third?"))
		case first(q):
			a = answer(handOver("worker", "which colours?", "name", "painter", "run_in_background", false))
		default:
			id.Store(idIn(t, q.LastToolResult()))
			a = answer(sendTo(id.Load().(string), "and the second?"))
		}
		return &a
	}})
	res := resultOf(t, r.must("-p", "go", "--agents", worker, "--output-format", "json").out)
	later.Store(true)
	r.must("-p", "more", "--agents", worker, "--resume", res["session_id"].(string))
	var of []fakeapi.Request
	told := 0
	for _, q := range r.api.Requests() {
		if isWorker(q) {
			of = append(of, q)
		}
		if !isWorker(q) && (strings.Contains(string(q.Body), "Second: blue.") || strings.Contains(string(q.Body), "Third: green.")) {
			told++
		}
	}
	if len(of) != 3 || told == 0 {
		t.Fatalf("%d requests of the sub-agent, %d that tell of what it found later", len(of), told)
	}
	for i, want := range []string{"First: red.", "Second: blue."} {
		if !strings.Contains(string(of[i+1].Body), want) {
			t.Errorf("request %d does not know %q", i+1, want)
		}
	}
	extend(t, of)
	text := r.read(filepath.Join(strings.TrimSuffix(r.transcript(), ".jsonl"), "subagents", "agent-"+id.Load().(string)+".jsonl"))
	for _, want := range []string{"which colours?", "and the second?", "and the third?", "Third: green."} {
		if !strings.Contains(text, want) {
			t.Errorf("the transcript lacks %q", want)
		}
	}
	r.legal()
}

// A message reaches a sub-agent that works with its next step; one that comes while it ends makes it go on at once.
func TestSendMessageWhileItWorks(t *testing.T) {
	t.Parallel()
	working, sent := make(chan struct{}), make(chan struct{})
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("All told.")
		switch {
		case isWorker(q) && first(q) && !strings.Contains(string(q.Body), "not the tests"):
			close(working)
			<-sent
			a = answer(fakeapi.Call("Glob", map[string]any{"pattern": "*"}))
		case isWorker(q):
			a = fakeapi.Text("counted")
		case isReport(q):
		case strings.Contains(q.LastToolResult(), "with its next step"):
			close(sent)
			a = fakeapi.Text("Wait for it.")
		case first(q):
			a = answer(handOver("worker", "count", "run_in_background", true))
		default:
			<-working
			a = answer(sendTo(idIn(t, q.LastToolResult()), "not the tests"))
		}
		return &a
	}})
	if o := r.must("-p", "go", "--agents", worker); !strings.Contains(o.out, "All told.") {
		t.Errorf("output %q", o.out)
	}
	n := 0
	for _, q := range r.api.Requests() {
		if isWorker(q) {
			n++
			if has := strings.Contains(string(q.Body), "not the tests"); has != (n == 2) {
				t.Errorf("request %d of the sub-agent: it has the message: %v", n, has)
			}
		}
	}
	if n != 2 {
		t.Errorf("%d requests of the sub-agent, want 2", n)
	}
	r.legal()
}

// Without a next step the message starts another turn of the sub-agent, and its report holds both.
func TestSendMessageAtItsEnd(t *testing.T) {
	t.Parallel()
	working, sent := make(chan struct{}), make(chan struct{})
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("All told.")
		switch {
		case isWorker(q) && strings.Contains(q.LastUserText(), "and why"):
			a = fakeapi.Text("because")
		case isWorker(q):
			close(working)
			<-sent
			a = fakeapi.Text("seven")
		case isReport(q):
		case strings.Contains(q.LastToolResult(), "with its next step"):
			close(sent)
			a = fakeapi.Text("Wait for it.")
		case first(q):
			a = answer(handOver("worker", "count", "run_in_background", true))
		default:
			<-working
			a = answer(sendTo(idIn(t, q.LastToolResult()), "and why?"))
		}
		return &a
	}})
	h := r.host(t, "--agents", worker)
	h.user("go")
	var done map[string]any // it may come before the first result or behind it
	for results := 0; done == nil || results < 2; {
		m := h.next("task_notification and two results", func(m map[string]any) bool {
			return m["subtype"] == "task_notification" || m["type"] == "result"
		})
		if m["type"] == "result" {
			results++
		} else {
			done = m
		}
	}
	if text := r.read(done["output_file"].(string)); !strings.Contains(text, "seven") || !strings.Contains(text, "because") {
		t.Errorf("the report: %s", text)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
	started := 0
	for _, m := range h.all {
		if m["subtype"] == "task_started" {
			started++
		}
	}
	if body := string(r.last().Body); started != 1 || !strings.Contains(body, "seven") || !strings.Contains(body, "because") {
		t.Errorf("%d tasks; the model was told: %s", started, body)
	}
	r.legal()
}

// What takes no message is refused with the reason: nobody of the name, two of the name, one that answers once, one that
// the user has stopped.
func TestSendMessageRefused(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	var stopped atomic.Value
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("looked")
		result := q.LastToolResult()
		switch {
		case isWorker(q) && strings.Contains(string(q.Body), "never ends"):
			<-hang
		case isWorker(q), strings.Contains(q.LastUserText(), "look around"):
		case strings.Contains(q.LastUserText(), "send it"):
			a = answer(sendTo(stopped.Load().(string), "go on"))
		case strings.Contains(result, "has stopped"):
			a = fakeapi.Text("It was stopped.")
		case first(q):
			a = answer(sendTo("nobody", "x"))
		case strings.Contains(result, "no sub-agent"):
			a = answer(handOver("worker", "one", "name", "twin", "run_in_background", false), handOver("worker", "two", "name", "twin", "run_in_background", false),
				handOver("Explore", "look around", "name", "once", "run_in_background", false))
		case strings.Contains(result, "looked"):
			a = answer(sendTo("twin", "x"))
		case strings.Contains(result, "were given the name"):
			a = answer(sendTo("once", "x"))
		case strings.Contains(result, "answers once"):
			a = answer(handOver("worker", "never ends", "run_in_background", true))
		default:
			a = fakeapi.Text("Started.")
		}
		return &a
	}})
	t.Cleanup(func() { close(hang) })
	h := r.host(t, "--agents", worker)
	h.user("go")
	started := h.next("task_started", func(m map[string]any) bool { return m["subtype"] == "task_started" })
	stopped.Store(started["task_id"])
	h.typed("result")
	h.say(`{"type":"control_request","request_id":"s","request":{"subtype":"stop_task","task_id":%q}}`, stopped.Load())
	h.next("task_notification", func(m map[string]any) bool { return m["subtype"] == "task_notification" })
	h.user("send it")
	if res := h.typed("result"); res["result"] != "It was stopped." {
		b, _ := json.Marshal(res)
		t.Errorf("result %s", b)
	}
	if code := h.end(); code != 0 {
		t.Errorf("exit code %d\n%s", code, h.errs)
	}
}
