package replay

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A secret of the request, and one that lies across pieces of the answer, do not enter the recording; the same request
// still fits it.
func TestSecretsAreNotRecorded(t *testing.T) {
	events := []string{
		`{"type":"message_start","message":{"id":"m","usage":{}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"it is sec"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ret."}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"Bash","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"command\":\"s"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"ecret\"}"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_stop"}`,
	}
	clean := func(s string) string { return strings.ReplaceAll(s, "secret", "[x]") }
	cleanJSON := func(b []byte) []byte { return []byte(clean(string(b))) }
	var out bytes.Buffer
	rec, err := newRecorder(&out, canned{events: events}, RecordOptions{Clean: clean, CleanJSON: cleanJSON})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := drain(rec, ask("the secret")); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "secret") || strings.Contains(text, "ret.") || strings.Contains(text, `ecret\`) {
		t.Errorf("recorded:\n%s", text)
	}
	p, err := New(bytes.NewReader(out.Bytes()), "r", Options{Clean: cleanJSON})
	if err != nil {
		t.Fatal(err)
	}
	got, err := drain(p, ask("the secret"))
	if err != nil {
		t.Fatal(err)
	}
	want := append([]string(nil), events...)
	want[2] = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"it is [x]."}}`
	want[3] = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""}}`
	want[6] = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"command\":\"[x]\"}"}}`
	want[7] = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
