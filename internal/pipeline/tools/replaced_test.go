package tools

import (
	"testing"

	"lathe/internal/msg"
)

func TestReplacedOutput(t *testing.T) {
	for _, c := range []struct{ out, want string }{
		{`"plain"`, "plain"},
		{`[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"AAAA"}]`, "a+image/png"},
		{`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "a+b"},
		{`[{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"AAAA"}}]`, "image/jpeg"},
		{`{"stdout":"out","stderr":"err","interrupted":false}`, "out\nerr"},
		{`{"stdout":"","stderr":""}`, ""},
		{`{"type":"text","file":{"filePath":"/a","content":"lines"}}`, "lines"},
		{`[{"type":"resource","uri":"x"}]`, `[{"type":"resource","uri":"x"}]`},
		{`{"filenames":["a"]}`, `{"filenames":["a"]}`},
		{`[]`, `[]`},
		{`7`, `7`},
	} {
		got := ""
		for i, b := range replaced([]byte(c.out)) {
			if i > 0 {
				got += "+"
			}
			if b.Type == msg.TypeImage {
				got += b.Source.MediaType
			}
			got += b.Text
		}
		if got != c.want {
			t.Errorf("%s: %q, not %q", c.out, got, c.want)
		}
	}
}
