package fakeapi

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

const maxBody = 32 << 20

// exchange is one request on its way through the server.
type exchange struct {
	s   *Server
	in  *session
	w   http.ResponseWriter
	r   *http.Request
	rec *Request
	c   *checker
}

func (x *exchange) finish() {
	x.s.update(func() {
		x.rec.Took, x.rec.Done = x.s.now().Sub(x.rec.Time), true
		x.rec.Gone = x.r.Context().Err() != nil
		x.s.active--
		if x.s.opts.Forget {
			x.rec.Body, x.rec.body = nil, nil
		}
	})
}

func (x *exchange) requestID() string { return fmt.Sprintf("req_fake_%06d", x.rec.N) }

func (x *exchange) serve() {
	if x.in == nil {
		x.refuse(Violation{Rule: "path", Path: x.r.URL.Path, Status: http.StatusNotFound, Type: "not_found_error", Message: "no script of this name"})
		return
	}
	x.c = &checker{header: x.r.Header}
	path := x.rec.Path
	switch {
	case path == "/v1/messages" && x.r.Method == http.MethodPost:
		x.messages()
	case path == "/v1/messages/count_tokens" && x.r.Method == http.MethodPost:
		x.countTokens()
	case path == "/v1/models" && x.r.Method == http.MethodGet:
		x.listModels()
	case strings.HasPrefix(path, "/v1/models/") && x.r.Method == http.MethodGet:
		x.oneModel(strings.TrimPrefix(path, "/v1/models/"))
	case path == "/api/hello" || path == "/" && x.r.Method == http.MethodHead:
		x.writeJSON(http.StatusOK, object("message", "hello"))
	case path == "/v1/messages" || path == "/v1/messages/count_tokens" || path == "/v1/models":
		x.refuse(Violation{Rule: "path", Path: path, Status: http.StatusMethodNotAllowed, Type: "invalid_request_error", Message: "method " + x.r.Method + " is not allowed"})
	default:
		x.refuse(Violation{Rule: "path", Path: path, Status: http.StatusNotFound, Type: "not_found_error", Message: "Not Found"})
	}
}

// refuse records the violations and answers with the first.
func (x *exchange) refuse(bad ...Violation) {
	for i := range bad {
		bad[i].Request, bad[i].Key = x.rec.N, x.rec.Key
	}
	x.s.update(func() {
		x.rec.Violations, x.rec.Error = bad, bad[0].String()
	})
	x.writeJSON(bad[0].Status, errorBody(bad[0].Type, bad[0].String(), x.requestID()))
}

func (x *exchange) writeJSON(status int, body []byte) {
	x.w.Header().Set("Content-Type", "application/json")
	x.w.Header().Set("Request-Id", x.requestID())
	x.s.update(func() { x.rec.Status = status })
	x.w.WriteHeader(status)
	_, _ = x.w.Write(body)
}

// admit reads and checks a request with a body; false means that it was refused.
func (x *exchange) admit(counts bool) (thinkingState, bool) {
	c := x.c
	c.counts = counts
	body, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, maxBody))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		x.refuse(Violation{Rule: "size", Status: http.StatusRequestEntityTooLarge, Type: "request_too_large", Message: "Request exceeds the maximum size"})
		return thinkingState{}, false
	}
	if err != nil {
		x.s.update(func() { x.rec.Error = err.Error() })
		return thinkingState{}, false
	}
	c.checkAuth(x.in.script.Keys)
	c.checkVersion()
	c.checkContentType()
	c.checkBetas(x.in.script.Betas)
	root, err := parseNode(body)
	if err != nil {
		c.fail("json", "", "%v", err)
		root = &node{kind: '0'}
	}
	c.body = root
	x.s.update(func() {
		x.rec.Body, x.rec.body = body, root
		x.rec.Model, x.rec.Stream = root.str("model"), root.get("stream").isTrue()
	})
	if err != nil {
		x.refuse(c.bad...)
		return thinkingState{}, false
	}
	var st thinkingState
	if x.findModel() { // without a model there are no rules to check
		c.run()
		st = x.checkThinking()
	}
	if len(c.bad) > 0 {
		x.refuse(c.bad...)
		return st, false
	}
	return st, true
}

func (x *exchange) findModel() bool {
	id := x.c.body.get("model")
	if id.text() == "" {
		x.c.fail("field", "model", "Field required")
		return false
	}
	m, ok := findModel(x.in.models, id.text())
	if !ok {
		x.c.failAs(http.StatusNotFound, "not_found_error", "model", "", "model: %s", id.text())
		return false
	}
	x.c.model = m
	return true
}

func (x *exchange) checkThinking() thinkingState {
	x.in.mu.Lock()
	mayStrip := x.in.refused
	x.in.mu.Unlock()
	st := x.c.checkThinkingBlocks(x.in.models, func(id string) (handed, bool) {
		x.in.mu.Lock()
		defer x.in.mu.Unlock()
		h, ok := x.in.handed[id]
		return h, ok
	}, mayStrip)
	if slices.ContainsFunc(x.c.bad, func(v Violation) bool { return v.Rule == "binding" || v.Rule == "thinking" }) {
		x.in.mu.Lock()
		x.in.refused = true
		x.in.mu.Unlock()
	}
	return st
}

// price runs the cache simulation for the request and refuses a prompt that is over the window.
func (x *exchange) price(st thinkingState) (plan, bool) {
	pos := x.c.flatten(st)
	workspace := cmp.Or(apiKey(x.r.Header), "-")
	x.s.mu.Lock()
	p := x.s.cache.plan(workspace, pos, x.c.model.MinCache, x.rec.Time)
	x.s.mu.Unlock()
	x.s.update(func() {
		r := x.rec
		r.Usage, r.Tokens, r.Hit, r.Dropped = p.usage, p.total, p.hit, st.paths
		r.Units = p.usage.units(x.c.model.ReadPrice)
		for i, b := range pos {
			r.Prefix = append(r.Prefix, b.state.id())
			if b.ttl != "" {
				r.Marks = append(r.Marks, i)
			}
		}
	})
	if p.total > x.c.model.Context {
		x.refuse(Violation{
			Rule: "window", Status: http.StatusBadRequest, Type: "invalid_request_error",
			Message: fmt.Sprintf("prompt is too long: %d tokens > %d maximum", p.total, x.c.model.Context),
		})
		return p, false
	}
	return p, true
}
