package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// acpSDK is the published library of the Agent Client Protocol, which brings the protocol's JSON schema along.
const acpSDK = "@agentclientprotocol/sdk@2.4.0"

// acpEditor is the client's side of the protocol: it drives lathe acp, and checks every message in both directions
// against the published schema where that can be had.
type acpEditor struct {
	t       *testing.T
	r       *rig
	cmd     *exec.Cmd
	in      io.WriteCloser
	lines   chan []byte
	errs    strings.Builder
	schema  *acpSchema
	nextID  int
	sent    map[string]string // method of each request of ours that is open, by id
	answers map[string]map[string]any
	updates []map[string]any // of session/update, in order
	// serve answers requests of the agent, by method. An error is sent as one.
	serve map[string]func(params map[string]any) (any, error)
}

// acp starts lathe acp and shakes hands. capabilities are the client's, as JSON.
func (r *rig) acp(t *testing.T, capabilities string, args ...string) *acpEditor {
	t.Helper()
	e := &acpEditor{
		t: t, r: r, lines: make(chan []byte, 1<<14), schema: schemaOf(t), sent: map[string]string{}, answers: map[string]map[string]any{},
		serve: map[string]func(map[string]any) (any, error){},
	}
	e.cmd = r.command(append([]string{"acp"}, args...)...)
	var err error
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	e.cmd.Stderr = &e.errs
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.cmd.Process.Kill() })
	go func() {
		defer close(e.lines)
		in := bufio.NewReaderSize(out, 1<<20)
		for {
			line, err := in.ReadBytes('\n')
			if len(line) > 0 {
				e.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	if capabilities == "" {
		capabilities = "{}"
	}
	res := e.call("initialize", `{"protocolVersion":1,"clientCapabilities":`+capabilities+`,"clientInfo":{"name":"test","version":"1"}}`)
	if at(res, "protocolVersion") != 1.0 || at(res, "agentCapabilities.loadSession") != true {
		t.Errorf("initialize: %v", res)
	}
	return e
}

func (e *acpEditor) write(line []byte) {
	e.t.Helper()
	if _, err := e.in.Write(append(line, '\n')); err != nil {
		e.t.Fatalf("write to the program: %v\n%s", err, e.errs.String())
	}
}

// start sends a request without waiting for its answer.
func (e *acpEditor) start(method, params string) (id string) {
	e.t.Helper()
	e.nextID++
	id = fmt.Sprint(e.nextID)
	e.sent[id] = method
	params = strings.ReplaceAll(params, "\n", "") // a message is a line
	e.schema.check(e.t, "agent", method, "Request", []byte(params))
	e.write([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)))
	return id
}

// tell sends a notification.
func (e *acpEditor) tell(method, params string) {
	e.t.Helper()
	e.schema.check(e.t, "agent", method, "Notification", []byte(params))
	e.write([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)))
}

// call sends a request and returns its result.
func (e *acpEditor) call(method, params string) map[string]any {
	e.t.Helper()
	m := e.wait(e.start(method, params))
	if m["error"] != nil {
		e.t.Fatalf("%s: %v\n%s", method, m["error"], e.errs.String())
	}
	return m["result"].(map[string]any)
}

// fails sends a request that must fail, and returns the error.
func (e *acpEditor) fails(method, params string) map[string]any {
	e.t.Helper()
	m := e.wait(e.start(method, params))
	err, ok := m["error"].(map[string]any)
	if !ok {
		e.t.Fatalf("%s did not fail: %v", method, m)
	}
	return err
}

// wait takes messages until the answer to a request.
func (e *acpEditor) wait(id string) map[string]any {
	e.t.Helper()
	e.until("the answer to "+e.sent[id], func() bool { return e.answers[id] != nil })
	return e.answers[id]
}

// until takes messages until a condition holds.
func (e *acpEditor) until(what string, cond func() bool) {
	e.t.Helper()
	limit := time.After(patience)
	for !cond() {
		select {
		case line, ok := <-e.lines:
			if !ok {
				e.t.Fatalf("the program ended before %s\n%s", what, e.errs.String())
			}
			e.take(line)
		case <-limit:
			e.t.Fatalf("no %s in time\n%s", what, e.errs.String())
		}
	}
}

func (e *acpEditor) take(line []byte) {
	e.t.Helper()
	var m map[string]any
	var raw struct{ ID, Params, Result, Error json.RawMessage }
	if err := json.Unmarshal(line, &m); err != nil {
		e.t.Fatalf("standard output holds something else than the protocol: %s", line)
	}
	_ = json.Unmarshal(line, &raw)
	method, _ := m["method"].(string)
	switch {
	case method != "" && raw.ID != nil:
		e.schema.check(e.t, "client", method, "Request", raw.Params)
		params, _ := m["params"].(map[string]any)
		f := e.serve[method]
		if f == nil {
			e.t.Fatalf("a request that was not expected: %s", line)
		}
		result, err := f(params)
		if err != nil {
			e.write([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%q}}`, raw.ID, err.Error())))
			return
		}
		if result == nil {
			return // stays open
		}
		b, _ := json.Marshal(result)
		e.schema.check(e.t, "client", method, "Response", b)
		e.write([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, raw.ID, b)))
	case method != "":
		e.schema.check(e.t, "client", method, "Notification", raw.Params)
		if method == "session/update" {
			u, _ := at(m, "params.update").(map[string]any)
			u["session"] = at(m, "params.sessionId")
			e.updates = append(e.updates, u)
		}
	default:
		id := string(raw.ID)
		if raw.Error == nil {
			e.schema.check(e.t, "agent", e.sent[id], "Response", raw.Result)
		} else {
			e.schema.of(e.t, "Error", raw.Error)
		}
		e.answers[id] = m
	}
}

// kinds are the updates of one kind.
func (e *acpEditor) kinds(kind string) []map[string]any {
	var out []map[string]any
	for _, u := range e.updates {
		if u["sessionUpdate"] == kind {
			out = append(out, u)
		}
	}
	return out
}

// said joins the text of chunks of one kind.
func (e *acpEditor) said(kind string) string {
	var b strings.Builder
	for _, u := range e.kinds(kind) {
		s, _ := at(u, "content.text").(string)
		b.WriteString(s)
	}
	return b.String()
}

// session begins a session in the rig's directory.
func (e *acpEditor) session() string {
	e.t.Helper()
	res := e.call("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, e.r.dir))
	return res["sessionId"].(string)
}

func (e *acpEditor) prompt(session, words string) map[string]any {
	e.t.Helper()
	return e.call("session/prompt", promptParams(session, words))
}

func promptParams(session, words string) string {
	return fmt.Sprintf(`{"sessionId":%q,"prompt":[{"type":"text","text":%q}]}`, session, words)
}

// end closes the input, takes what is left and returns the exit code.
func (e *acpEditor) end() int {
	e.t.Helper()
	_ = e.in.Close()
	for line := range e.lines {
		e.take(line)
	}
	_ = e.cmd.Wait()
	return e.cmd.ProcessState.ExitCode()
}

// acpSchema is the published schema, by definition. A nil one checks nothing.
type acpSchema struct {
	root     map[string]json.RawMessage // of the document
	names    map[string]string          // "side method Kind" → definition
	mu       sync.Mutex
	resolved map[string]*jsonschema.Resolved
	checked  int
}

var acpOnce struct {
	sync.Mutex
	schema  *acpSchema
	missing bool
}

// schemaOf installs the library once and reads its schema. Without npm the messages are not checked, which is said.
func schemaOf(t *testing.T) *acpSchema {
	t.Helper()
	acpOnce.Lock()
	defer acpOnce.Unlock()
	if acpOnce.schema != nil || acpOnce.missing {
		return acpOnce.schema
	}
	dir := t.TempDir()
	out, err := machine(t, dir, "npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps", "--loglevel=error", acpSDK)
	if err != nil {
		if os.Getenv("LATHE_E2E_ONLINE") != "" {
			t.Fatalf("%s cannot be had: %v\n%s", acpSDK, err, out)
		}
		acpOnce.missing = true
		t.Logf("SKIPPED: messages are not checked against the published schema, since %s cannot be had: %v\n%s", acpSDK, err, out)
		return nil
	}
	b, err := os.ReadFile(filepath.Join(dir, "node_modules", "@agentclientprotocol", "sdk", "schema", "v1", "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	s := &acpSchema{names: map[string]string{}, resolved: map[string]*jsonschema.Resolved{}}
	var doc struct {
		Defs map[string]map[string]any `json:"$defs"`
	}
	if err := errors.Join(json.Unmarshal(b, &s.root), json.Unmarshal(b, &doc)); err != nil {
		t.Fatal(err)
	}
	for name, def := range doc.Defs {
		method, _ := def["x-method"].(string)
		side, _ := def["x-side"].(string)
		for _, kind := range []string{"Request", "Response", "Notification"} {
			if method != "" && strings.HasSuffix(name, kind) {
				s.names[side+" "+method+" "+kind] = name
			}
		}
	}
	if len(s.names) < 20 {
		t.Fatalf("the schema names only %d methods", len(s.names))
	}
	acpOnce.schema = s
	return s
}

func (s *acpSchema) check(t *testing.T, side, method, kind string, value []byte) {
	t.Helper()
	if s == nil || strings.HasPrefix(method, "_") {
		return
	}
	name := s.names[side+" "+method+" "+kind]
	if method == "$/cancel_request" {
		name = "CancelRequestNotification"
	}
	if name == "" {
		t.Errorf("the schema has no %s for %s of the %s", kind, method, side)
		return
	}
	s.of(t, name, value)
}

func (s *acpSchema) of(t *testing.T, name string, value []byte) {
	t.Helper()
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.resolved[name]
	if r == nil {
		b, err := json.Marshal(map[string]any{"$schema": s.root["$schema"], "$defs": s.root["$defs"], "$ref": "#/$defs/" + name})
		if err != nil {
			t.Fatal(err)
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(b, &schema); err != nil {
			t.Fatalf("schema %s: %v", name, err)
		}
		if r, err = schema.Resolve(nil); err != nil {
			t.Fatalf("schema %s: %v", name, err)
		}
		s.resolved[name] = r
	}
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		t.Errorf("%s: %v: %s", name, err, value)
		return
	}
	if err := r.Validate(v); err != nil {
		t.Errorf("%s does not fit the published schema: %v\n%s", name, err, value)
	}
	s.checked++
}
