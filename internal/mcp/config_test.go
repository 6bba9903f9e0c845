package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	configs, problems, err := Parse([]byte(`{"mcpServers":{
		"local":{"command":"run","args":["a"],"env":{"K":"v"},"timeout":500},
		"web":{"type":"streamable-http","url":"https://x.test/mcp","headers":{"A":"b"}},
		"bare":{"url":"https://x.test"},"odd":{"type":"carrier-pigeon"},"empty":{},"broken":7,"ide":{"command":"x"},
		"ws":{"type":"ws","url":"ws://x"},"file":{"type":"http","url":"file:///etc/passwd"},"host":{"type":"sdk"}}}`), User, "f.json")
	if err != nil {
		t.Fatal(err)
	}
	want := []Config{
		{Name: "local", Scope: User, File: "f.json", Type: Stdio, Command: "run", Args: []string{"a"}, Env: map[string]string{"K": "v"}, TimeoutMS: 500, Written: []string{"run", "a"}},
		{Name: "web", Scope: User, File: "f.json", Type: HTTP, URL: "https://x.test/mcp", Headers: map[string]string{"A": "b"}, Written: []string{""}},
	}
	if diff := cmp.Diff(want, configs); diff != "" {
		t.Error(diff)
	}
	got := map[string]string{}
	for _, p := range problems {
		got[p.Name] = p.Kind
	}
	if diff := cmp.Diff(map[string]string{
		"bare": "url_missing_type", "odd": "unknown_type", "empty": "invalid_config", "broken": "invalid_config", "ide": "reserved_name", "ws": "unknown_type", "file": "invalid_config", "host": "invalid_config",
	}, got); diff != "" {
		t.Error(diff)
	}
	if configs[0].Timeout() != 0 {
		t.Error("a timeout below a second counts")
	}
	for _, bad := range []string{"", "[]", "{}", `{"mcpServers":[]}`, "{"} {
		if _, _, err := Parse([]byte(bad), User, ""); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"mcpServers":{"a":{"command":"x","args":["${A:-b}"]},"b":{"type":"http","url":"https://x/*"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		configs, problems, err := Parse([]byte(text), Project, "f")
		if err != nil {
			return
		}
		for _, c := range configs {
			if c.Type == Stdio && c.Command == "" || c.Remote() && c.URL == "" {
				t.Errorf("%+v connects to nothing", c)
			}
			e, _ := c.Expand(func(string) string { return "v" })
			_ = Policy{Allowed: []Match{{URL: e.URL}, {Name: e.Name}}}.Refuses(e)
			if n := FullName(c.Name, text); len(n) > maxName || normalize(n) != n {
				t.Errorf("name %q", n)
			}
		}
		_ = problems
	})
}

func TestExpand(t *testing.T) {
	env := map[string]string{"A": "one", "TOKEN": "t", "ANTHROPIC_API_KEY": "secret", "ANTHROPIC_BASE_URL": "https://b.test"}
	c := Config{
		Name: "s", Command: "${A}", Args: []string{"${B:-two}", "${C}", "$A"}, Env: map[string]string{"KEY": "${ANTHROPIC_API_KEY}"},
		URL: "${ANTHROPIC_BASE_URL}/${ANTHROPIC_API_KEY:-x}", Headers: map[string]string{"Authorization": "Bearer ${TOKEN}", "X": "${NPM_TOKEN}"},
	}
	got, problems := c.Expand(func(k string) string { return env[k] })
	want := Config{
		Name: "s", Command: "one", Args: []string{"two", "${C}", "$A"}, Env: map[string]string{"KEY": "secret"},
		URL: "https://b.test/", Headers: map[string]string{"Authorization": "Bearer t", "X": ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Text)
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"${C} is not set", "${ANTHROPIC_API_KEY} is a credential", "${NPM_TOKEN} is a credential"} {
		if !strings.Contains(all, want) {
			t.Errorf("the problems do not name %q: %s", want, all)
		}
	}
	if c.Args[0] != "${B:-two}" {
		t.Error("the entry itself was changed")
	}
}

func TestMerge(t *testing.T) {
	got, problems := Merge(
		[]Config{{Name: "a", Scope: User, Command: "user"}, {Name: "b", Scope: User, Command: "b"}},
		[]Config{{Name: "a", Scope: Local, Command: "local"}, {Name: "a", Scope: Project, Command: "project"}},
		[]Config{{Name: "p:x", Scope: Plugin, Command: "b"}, {Name: "p:y", Scope: Plugin, Command: "y"}},
		[]Config{{Name: "p_y", Scope: User, Command: "z"}},
	)
	var names []string
	for _, c := range got {
		names = append(names, c.Name+"="+c.Command)
	}
	if s := strings.Join(names, " "); s != "a=local b=b p_y=z" {
		t.Error(s)
	}
	if len(problems) != 1 || problems[0].Name != "p:y" {
		t.Errorf("%+v", problems)
	}
}

func TestPolicy(t *testing.T) {
	match := func(text string) []Match {
		m, err := ParseMatches(json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	run := Config{Name: "run", Type: Stdio, Command: "npx", Args: []string{"-y", "x"}}
	web := Config{Name: "web", Type: HTTP, URL: "https://api.x.test/mcp"}
	for _, c := range []struct {
		allowed, denied string
		run, web        bool
	}{
		{"", "", true, true},
		{"[]", "", false, false},
		{`[{"serverName":"run"}]`, "", true, false},
		{`[{"serverName":"run"},{"serverCommand":["npx","-y","x"]}]`, "", true, false},
		{`[{"serverName":"run"},{"serverCommand":["npx","-y","y"]}]`, "", false, false},
		{`[{"serverUrl":"https://*.x.test/*"}]`, "", false, true},
		{`[{"serverUrl":"https://api.x.test:8443/*"}]`, "", false, false},
		{`[{"serverUrl":"https://api.x.test:443/mcp"}]`, "", false, true},
		{`[{"serverUrl":"https://x.test/*"}]`, "", false, false},
		{`[{"serverName":"run"},{"serverName":"web"}]`, `[{"serverUrl":"https://api.x.test/*"}]`, true, false},
		{"", `[{"serverName":"run"}]`, false, true},
	} {
		var p Policy
		if c.allowed != "" {
			p.Allowed = match(c.allowed)
		}
		if c.denied != "" {
			p.Denied = match(c.denied)
		}
		if got := p.Refuses(run) == ""; got != c.run {
			t.Errorf("%s, %s: run %v", c.allowed, c.denied, got)
		}
		if got := p.Refuses(web) == ""; got != c.web {
			t.Errorf("%s, %s: web %v", c.allowed, c.denied, got)
		}
	}
	for _, bad := range []string{`{}`, `[{}]`, `[{"serverName":"a","serverUrl":"b"}]`} {
		if _, err := ParseMatches(json.RawMessage(bad)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func TestInputSchema(t *testing.T) {
	for in, want := range map[string]string{
		`null`:              `{"type":"object","properties":{}}`,
		`{"type":"object"}`: `{"properties":{},"type":"object"}`,
		`{"$schema":"x","properties":{"a":{"anyOf":[{"type":"string"}]}}}`: `{"properties":{"a":{"anyOf":[{"type":"string"}]}},"type":"object"}`,
		`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}},"required":["a","c"]},{"properties":{"b":{"type":"number"}},"required":["b","c"]}],"required":["d"]}`: `{"properties":{"a":{"type":"string"},"b":{"type":"number"}},"required":["c","d"],"type":"object"}`,
		`{"allOf":[{"$ref":"#/$defs/x"},{"required":["b"]}],"$defs":{"x":{"properties":{"a":{}},"required":["a"]}}}`:                                                           `{"$defs":{"x":{"properties":{"a":{}},"required":["a"]}},"properties":{"a":{}},"required":["a","b"],"type":"object"}`,
	} {
		var v any
		if err := json.Unmarshal([]byte(in), &v); err != nil {
			t.Fatal(err)
		}
		if got := string(inputSchema(v)); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// Alternatives that refer to each other are not followed without end.
func TestInputSchemaOfManyAlternatives(t *testing.T) {
	defs, refs := map[string]any{}, []any{}
	for i := range 200 {
		refs = append(refs, map[string]any{"$ref": fmt.Sprintf("#/$defs/d%d", i)})
	}
	for i := range 200 {
		defs[fmt.Sprintf("d%d", i)] = map[string]any{"anyOf": refs}
	}
	f := flattener{top: map[string]any{"$defs": defs}, left: maxParts}
	f.flatten(map[string]any{"anyOf": refs}, 0)
	if f.left != -1 {
		t.Errorf("%d more than it may", -f.left)
	}
	if got := string(inputSchema(map[string]any{"anyOf": refs, "$defs": defs})); got != anyObject {
		t.Errorf("%.300s", got)
	}
}

// A server of the host's process is named by the host alone: a project's or a plugin's entry of that type would take the place
// of the user's own.
func TestOnlyHostsNameHostServers(t *testing.T) {
	entry := map[string]json.RawMessage{"github": json.RawMessage(`{"type":"sdk"}`)}
	for scope, want := range map[Scope]int{Flag: 1, SDK: 1, Managed: 0, Local: 0, Project: 0, User: 0, Plugin: 0} {
		got, problems := ParseServers(entry, scope, "f")
		if len(got) != want || len(problems) != 1-want || want == 1 && got[0].Scope != SDK {
			t.Errorf("%s: %+v %+v", scope, got, problems)
		}
	}
}

// What leads to the same server is the same to a policy, however it is written.
func TestPolicyAddresses(t *testing.T) {
	for _, c := range []struct {
		pattern, address string
		denied, allowed  bool
	}{
		{"https://evil.example/*", "https://evil.example./mcp", true, true},
		{"https://evil.example/*", "https://EVIL.Example/mcp", true, true},
		{"https://evil.example/*", "https://evil.example:0443/mcp", true, true},
		{"https://evil.example/*", "https://evil.example:/mcp", true, true},
		{"https://evil.example/*", "https://evil.example?x", true, true},
		{"https://evil.example/*", "https://evil.example", true, true},
		{"https://evil.example/*", "https://user:word@evil.example/mcp#f", true, true},
		{"https://evil.example/*", "https://ｅvil。example/mcp", true, true},
		{"https://evil.example/*", "https://evil.example/a%0ab", true, true},
		{"https://evil.example/*", "https://evil.example.net/mcp", false, false},
		{"https://evil.example/*", "https://evil.example:8443/mcp", false, false},
		{"https://evil.example/*", "http://evil.example/mcp", false, false},
		{"https://EVIL.example.:0443/*", "https://evil.example/mcp", true, true},
		{"HTTPS://evil.example/*", "https://evil.example/mcp", true, true},
		{"http*://evil.example/*", "https://evil.example/mcp", true, true},
		{"*://evil.example:*/*", "http://evil.example:81/mcp", true, true},
		{"evil.example/*", "http://evil.example/mcp", true, true},
		{"*", "http://evil.example:81/mcp?x", true, true},
		{"https://*.bücher.example/*", "https://a.xn--bcher-kva.example/mcp", true, true},
		{"http://[::1]:80/*", "http://[0:0:0:0:0:0:0:1]/mcp", true, true},
		{"http://127.0.0.1/*", "http://[::ffff:127.0.0.1]/mcp", true, true},
		{"https://evil.example/mcp", "https://evil.example/mcp", true, true},
		{"https://evil.example/mcp", "https://evil.example/%6dcp", true, true},
		{"https://evil.example/mcp", "https://evil.example/mcp?", true, true},
		{"https://evil.example/mcp", "https://evil.example/mcp?x", true, false},
		{"https://evil.example/mcp?x", "https://evil.example/mcp", false, false},
		{"https://evil.example/mcp?x*", "https://evil.example/mcp?xy", true, true},
		{"https://evil.example/mcp", "https://evil.example/a/..//mcp", true, false},
		{"https://evil.example/a/*", "https://evil.example/a/../b", true, false},
		{"https://evil.example", "https://evil.example/", true, true},
		{"https://evil.example", "https://evil.example/mcp", false, false},
	} {
		web := Config{Name: "web", Type: HTTP, URL: c.address}
		match := []Match{{URL: c.pattern}}
		if got := (Policy{Denied: match}).Refuses(web) != ""; got != c.denied {
			t.Errorf("deny %s: %s denied %v", c.pattern, c.address, got)
		}
		if got := (Policy{Allowed: match}).Refuses(web) == ""; got != c.allowed {
			t.Errorf("allow %s: %s allowed %v", c.pattern, c.address, got)
		}
	}
}

func TestNames(t *testing.T) {
	if got := FullName("my server", "do.it"); got != "mcp__my_server__do_it" {
		t.Error(got)
	}
	long := FullName("s", strings.Repeat("x", 200))
	if len(long) != 128 || long == FullName("s", strings.Repeat("x", 201)) {
		t.Error(long)
	}
	for name, ok := range map[string]bool{"a-b_1": true, "a b": false, "": false, "ide": false} {
		if (CheckName(name) == nil) != ok {
			t.Error(name)
		}
	}
}

func TestStore(t *testing.T) {
	dir := t.TempDir()
	s := NewStore(dir, "")
	entry := json.RawMessage(`{"command":"x"}`)
	for _, err := range []error{
		s.Put(User, "", "u", entry), s.Put(Local, "/p", "l", entry), s.Switch("/p", "u", false), s.Switch("/p", "l", false), s.Switch("/p", "l", true),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got := s.Load("/p", "")
	if len(got.User) != 1 || len(got.Local) != 1 || got.Local[0].Scope != Local || strings.Join(got.Disabled, " ") != "u" {
		t.Errorf("%+v", got)
	}
	if other := s.Load("/q"); len(other.Local) != 0 || len(other.Disabled) != 0 {
		t.Errorf("%+v", other)
	}
	if err := s.Reset("/p"); err != nil || len(s.Load("/p").Disabled) != 0 {
		t.Error(err)
	}
	if found, err := s.Remove(Local, "/p", "l"); !found || err != nil || len(s.Load("/p").Local) != 0 {
		t.Error(found, err)
	}
	if found, _ := s.Remove(User, "", "none"); found {
		t.Error("removed what is not there")
	}
	file := dir + "/.mcp.json"
	if err := PutFile(file, "a", entry); err != nil {
		t.Fatal(err)
	}
	if found, err := RemoveFile(file, "a"); !found || err != nil {
		t.Error(found, err)
	}
}
