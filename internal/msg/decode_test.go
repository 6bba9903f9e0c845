package msg

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plainDecode is the decoder without its fast path: encoding/json for everything.
func plainDecode(data []byte) (Block, error) {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		var other struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(data, &other) != nil || other.Type == "" || modelled[other.Type] != nil {
			return Block{}, err
		}
		b := Block{Type: other.Type}
		return b, b.keepUnknown(data)
	}
	if w.Type == "" {
		return Block{}, errors.New("no type")
	}
	b := Block{
		Type: w.Type, Text: w.Text, Signature: w.Signature, Data: w.Data, ID: w.ID, Name: w.Name,
		ToolUseID: w.ToolUseID, IsError: w.IsError, Source: w.Source,
	}
	if w.Type == TypeThinking {
		b.Text = w.Thinking
	}
	if w.Type == TypeToolUse {
		if b.Input = Compact(w.Input); len(b.Input) == 0 || bytes.Equal(b.Input, []byte("null")) {
			b.Input = json.RawMessage("{}")
		}
	}
	if w.Type == TypeToolResult && len(w.Content) > 0 {
		content, err := plainContent(w.Content)
		if err != nil {
			return Block{}, err
		}
		b.Content = content
	}
	return b, b.keepUnknown(data)
}

func plainContent(data []byte) ([]Block, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || bytes.Equal(data, []byte("null")) {
		return nil, nil
	}
	if data[0] == '"' {
		var s string
		err := json.Unmarshal(data, &s)
		return []Block{Text(s)}, err
	}
	var raws []json.RawMessage
	if err := json.Unmarshal(data, &raws); err != nil {
		return nil, err
	}
	out := []Block{}
	for _, r := range raws {
		b, err := plainDecode(r)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

var blockSeeds = []string{
	`{"type":"text","text":"a\n\"b\" \u00e9 \ud83d\ude00 \ud83d x é"}`,
	`{"text":"type last","type":"text"}`,
	`{"type":"text","text":"marked","cache_control":{"type":"ephemeral"}}`,
	`{"type":"text","text":"cited","citations":null}`,
	`{"type":"text","Text":"case"}`, `{"type":"text","text":null}`, `{"type":"text","text":"a","text":"b"}`,
	`{"type":"thinking","thinking":"","signature":"s=="}`,
	`{"type":"redacted_thinking","data":"abc"}`,
	`{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/a<b>&","n":[1,-2.5e+3,0.1,true,null]}}`,
	`{"type":"tool_use","id":"t","name":"Read","input":{ "a" : 1 }}`, `{"type":"tool_use","id":"t","name":"R","input":null}`,
	`{"type":"tool_use","id":"t","name":"R"}`, `{"type":"tool_use","id":"t","name":"R","input":"{\"a"}`,
	`{"type":"tool_result","tool_use_id":"t","content":"x"}`, `{"type":"tool_result","tool_use_id":"t","content":null,"is_error":true}`,
	`{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}},{"type":"odd","x":1}]}`,
	`{"type":"tool_result","tool_use_id":"t","content":[],"is_error":false}`, `{"type":"tool_result","content":[null]}`,
	`{"type":"document","source":{"type":"url","url":"https://example.com"},"title":"t"}`, `{"type":"image","source":{}}`,
	`{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`,
	` { "type" : "text" , "text" : "spaced" } `, `{"type":"text","text":"` + "\xff\xc3" + `"}`, `{"type":"text","text":"\x"}`,
	`{"type":"search_result","source":"text","content":[]}`, `{"tYpe":"tool_result","Content":[{"tYpe":"0","sourCe":0}]}`,
	`{}`, `null`, `[]`, `{"type":1}`, `{"type":"text","text":"a"} x`, `{"type":"text","text":01}`, "{\"type\":\"text\",\"text\":\"a\x01\"}",
}

func agree(t *testing.T, data []byte) {
	t.Helper()
	var got Block
	gotErr := json.Unmarshal(data, &got)
	want, wantErr := Block{}, json.Unmarshal(data, new(any))
	if wantErr == nil {
		want, wantErr = plainDecode(data)
	}
	if (gotErr == nil) != (wantErr == nil) {
		t.Fatalf("%q: error %v, encoding/json says %v", data, gotErr, wantErr)
	}
	if gotErr == nil {
		if !reflect.DeepEqual(want, got) { // go-cmp takes exponential time on deep nesting
			t.Fatalf("%q: encoding/json gives %+v, fast %+v", data, want, got)
		}
	}
	gotList, gotErr := DecodeContent(data)
	wantList, wantErr := plainContent(data)
	if (gotErr == nil) != (wantErr == nil) || gotErr == nil && !reflect.DeepEqual(gotList, wantList) {
		t.Fatalf("%q as content: %v %v, encoding/json says %v %v", data, gotList, gotErr, wantList, wantErr)
	}
	if valid := json.Valid(data); valid != (SkipSpace(data, max(SkipValue(data, SkipSpace(data, 0)), 0)) == len(data) && SkipValue(data, SkipSpace(data, 0)) > 0) {
		t.Fatalf("%q: json.Valid says %v", data, valid)
	}
}

func FuzzDecodeBlock(f *testing.F) {
	for _, s := range blockSeeds {
		f.Add([]byte(s))
		f.Add([]byte(`[` + s + `,` + s + `]`))
	}
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, data) })
}

func TestDecodeDeepNesting(t *testing.T) {
	for _, n := range []int{5, 9, 20, 200} {
		agree(t, []byte(strings.Repeat(`{"type":"tool_result","content":[`, n)+strings.Repeat(`]}`, n)))
	}
	deep := strings.Repeat(`{"type":"tool_result","content":[`, 200_000)
	if err := json.Unmarshal([]byte(deep+strings.Repeat(`]}`, 200_000)), new(Block)); err == nil {
		t.Fatal("nesting beyond all limits was taken")
	}
	if _, err := DecodeContent([]byte(`[` + deep)); err == nil {
		t.Fatal("broken nesting was taken")
	}
}

// A change of any byte of a good block must change nothing about the agreement.
func TestDecodeAgreesOnDamage(t *testing.T) {
	for _, s := range blockSeeds {
		agree(t, []byte(s))
		for i := range s {
			agree(t, []byte(s[:i]))
			for _, c := range []byte{'"', '\\', '{', ',', 0, ' ', 'u', 0x80} {
				damaged := []byte(s)
				damaged[i] = c
				agree(t, damaged)
			}
		}
	}
}

func TestUnquoteProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		std, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range [][]byte{std, AppendString(nil, s)} {
			if got, ok := Unquote(raw); !ok || got != strings.ToValidUTF8(s, "\ufffd") {
				t.Fatalf("%s gives %q, %v", raw, got, ok)
			}
		}
	})
}

func BenchmarkDecodeContent(b *testing.B) {
	text := strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"read: %w\", err)\n\t}\n", 2000)
	data := AppendBlocks(nil, []Block{Text(text), ToolUse("t", "Write", AppendString(nil, text)), ToolResult("t", false, Text(text))})
	b.Run("fast", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := DecodeContent(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			if _, err := plainContent(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestOddFields reads blocks of types that we do not model and whose fields are not what ours of that name are.
func TestOddFields(t *testing.T) {
	const in = `{"type":"search_result","source":"https://a.example","title":"t","content":[{"type":"text","text":"x"}],"id":7}`
	var b Block
	if err := json.Unmarshal([]byte(in), &b); err != nil {
		t.Fatal(err)
	}
	if b.Type != "search_result" || string(b.Raw) != in {
		t.Errorf("%+v", b)
	}
	if err := json.Unmarshal([]byte(`{"type":"image","source":"x"}`), &b); err == nil {
		t.Error("an image with a text for a source was read")
	}
}
