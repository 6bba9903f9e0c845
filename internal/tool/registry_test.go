package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

type fake struct{ aliases map[string]string }

func (fake) Def() msg.ToolDef {
	return msg.ToolDef{Name: "Fake", InputSchema: json.RawMessage(`{"type":"object","properties":{
		"file_path":{"type":"string"},"limit":{"type":"integer"},"all":{"type":"boolean"},
		"mode":{"type":"string","enum":["a","b"]},"items":{"type":"array","items":{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]}}},
		"required":["file_path"]}`)}
}

func (fake) Plan(context.Context, tool.Call) (tool.Plan, error) { return tool.Plan{}, nil }
func (f fake) Aliases() map[string]string                       { return f.aliases }

func TestCanonical(t *testing.T) {
	f := fake{aliases: map[string]string{"path": "file_path"}}
	for _, tc := range []struct{ name, in, want, err string }{
		{"as documented", `{"file_path":"a","limit":3}`, `{"file_path":"a","limit":3}`, ""},
		{"wrong name", `{"path":"a"}`, `{"file_path":"a"}`, ""},
		{"both names: the documented one counts", `{"path":"b","file_path":"a"}`, `{"file_path":"a"}`, ""},
		{"unknown parameters are dropped", `{"file_path":"a","x":1}`, `{"file_path":"a"}`, ""},
		{"numbers and booleans as texts", `{"file_path":"a","limit":"3","all":"true"}`, `{"all":true,"file_path":"a","limit":3}`, ""},
		{"null is absent", `{"file_path":"a","limit":null}`, `{"file_path":"a"}`, ""},
		{"HTML characters stay", `{"file_path":"<a>&"}`, `{"file_path":"<a>&"}`, ""},
		{"same key twice: one value for everybody", `{"file_path":"a","file_path":"b"}`, `{"file_path":"b"}`, ""},
		{"null where something is required", `{"file_path":null}`, "", "wrong input for Fake: file_path is missing"},
		{"empty", ``, "", "wrong input for Fake: file_path is missing"},
		{"all faults at once", `{"limit":"x","mode":"c"}`, "", "wrong input for Fake: file_path is missing; limit must be a number; mode must be one of a, b"},
		{"nested", `{"file_path":"a","items":[{"n":"x"},{}]}`, "", "wrong input for Fake: items[1].n is missing"},
		{"no object", `[1]`, "", "input of Fake must be a JSON object: json: cannot unmarshal array into Go value of type map[string]json.RawMessage"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := tool.Canonical(f, json.RawMessage(tc.in))
			if tc.err != "" {
				if err == nil || err.Error() != tc.err {
					t.Fatalf("error = %v, want %s", err, tc.err)
				}
				return
			}
			if err != nil || string(got) != tc.want {
				t.Errorf("Canonical = %s, %v, want %s", got, err, tc.want)
			}
		})
	}
}
