package structured_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"lathe/internal/tool"
	"lathe/internal/tool/structured"
)

func TestSchema(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string","format":"uri"}}}`: "",
		`{`:                                   "--json-schema is not valid JSON",
		`[]`:                                  "--json-schema must be a JSON object",
		`{}`:                                  "",
		`{"type":"nonsense"}`:                 "--json-schema is not a valid JSON Schema",
		`{"type":"array"}`:                    "--json-schema is not a valid JSON Schema",
		`{"anyOf":[{"type":"object"}]}`:       "--json-schema is not a valid JSON Schema",
		`{"properties":{"a":{"type":"txt"}}}`: "--json-schema is not a valid JSON Schema",
		`{"properties":{"type":{"type":"string","enum":["nope"]}},"required":["type"]}`: "",
		`{"type":7}`:           "--json-schema is not a valid JSON Schema",
		`{"$ref":"#/nowhere"}`: "--json-schema is not a valid JSON Schema",
	} {
		_, err := structured.New(schema)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("New(%s): %v, want %q", schema, err, want)
		}
	}
}

func TestAnswer(t *testing.T) {
	s, err := structured.New(`{"properties":{"n":{"type":"integer"}},"required":["n"]}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Plan(context.Background(), tool.Call{Input: json.RawMessage(`{"n":"x"}`)}); err == nil || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("a wrong answer: %v", err)
	}
	in, err := tool.Canonical(s, json.RawMessage(`{ "n": 7, "more": null }`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Plan(context.Background(), tool.Call{Input: in})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if got := string(s.Take()); got != `{"n":7,"more":null}` {
		t.Errorf("answer = %s", got)
	}
	if s.Take() != nil {
		t.Error("the answer is taken twice")
	}
}

// Whatever the schema, the definition that the model is sent is JSON with an object at its root.
func TestDefinitionIsJSON(t *testing.T) {
	for _, schema := range []string{`{}`, `{ }`, `{"title":"x"}`, `{"type":"object"}`, " {\n\"required\" : [] } "} {
		s, err := structured.New(schema)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(s.Def().InputSchema, &got); err != nil || got["type"] != "object" {
			t.Errorf("%s became %s", schema, s.Def().InputSchema)
		}
	}
}
