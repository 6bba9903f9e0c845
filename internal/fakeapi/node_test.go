package fakeapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func FuzzParseNode(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e3,"x\"\u00e9",true,false,null,{}],"b":{}}`, ` [ ] `, `"x"`, `{"a":1,"a":2}`, `{`, `{"\u0061":1,"a":2}`, "\n8e8888"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := parseNode(data)
		if err != nil {
			return
		}
		if !bytes.Equal(bytes.TrimSpace(data), n.raw) {
			t.Fatalf("raw %q of %q", n.raw, data)
		}
		var v any
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber() // a number may be too large for a float
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if s, ok := v.(string); ok && s != n.text() {
			t.Fatalf("text %q, want %q", n.text(), s)
		}
		n.canon(&bytes.Buffer{})
	})
}

// FuzzRules: whatever a client sends, the judge must not panic.
func FuzzRules(f *testing.F) {
	for _, o := range []obj{nil, msgs(user(text("x")), assistant(use("t", "A")), user(result("t", "r"))), {"tools": []any{tool("A")}, "system": "s", "thinking": obj{"type": "adaptive"}}} {
		data, _ := json.Marshal(base(o))
		f.Add(data)
	}
	for _, s := range []string{`{"messages":[[],{"content":[1,{"content":[[]]}]}],"tools":[1],"system":[[]],"thinking":1}`, `{"messages":{"content":{}}}`} {
		f.Add([]byte(s))
	}
	m, _ := findModel(Models(), "claude-opus-5-5")
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := parseNode(data)
		if err != nil {
			return
		}
		c := &checker{body: n, header: http.Header{}, model: m}
		c.run()
		st := c.checkThinkingBlocks(Models(), func(string) (handed, bool) { return handed{}, false }, false)
		c.flatten(st)
	})
}

// What does not count in the canonical form, and what does.
func TestCanon(t *testing.T) {
	canon := func(s string) string {
		n, err := parseNode([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		n.canon(&b)
		return b.String()
	}
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{`{"type":"text","text":"é"}`, `{ "text":"\u00e9", "type":"text", "cache_control":{"type":"ephemeral"} }`, true},
		{`{"type":"tool_result","content":"x","is_error":false}`, `{"type":"tool_result","content":[{"type":"text","text":"x"}]}`, true},
		{`{"type":"text","text":"x","citations":null}`, `{"type":"text","text":"x"}`, true},
		{`{"text":"a\u0022\u005c\u000a\u0009\/\u0001b"}`, `{"text":"a\"\\\n\t/\u0001b"}`, true},
		{`{"text":"\\u0041"}`, `{"text":"A"}`, false},
		{`{"text":"\n"}`, `{"text":"\\n"}`, false},
		{`{"input":{"a":1,"b":2}}`, `{"input":{"b":2,"a":1}}`, false},
		{`{"input":{"a":1}}`, `{"input":{"a":1.0}}`, false},
		{`{"text":"x "}`, `{"text":"x"}`, false},
		{`{"type":"tool_result","content":"x","is_error":true}`, `{"type":"tool_result","content":"x"}`, false},
	} {
		if (canon(tc.a) == canon(tc.b)) != tc.same {
			t.Errorf("%s and %s: same is not %v", tc.a, tc.b, tc.same)
		}
	}
}
