package frontmatter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/frontmatter"
)

func TestParse(t *testing.T) {
	type want struct {
		Paths []string
		Name  string
		On    bool
		Body  string
	}
	for name, c := range map[string]struct {
		text string
		want want
	}{
		"none":               {"hello\n---\n", want{Body: "hello\n---\n"}},
		"never closed":       {"---\npaths: a\nbody", want{Body: "---\npaths: a\nbody"}},
		"one text":           {"---\npaths: src/**/*.{ts,tsx}\nname: N\n---\nbody\n", want{Paths: []string{"src/**/*.{ts,tsx}"}, Name: "N", Body: "body\n"}},
		"commas":             {"---\npaths: a/{b,c}.go, d.go\n---\nx", want{Paths: []string{"a/{b,c}.go", "d.go"}, Body: "x"}},
		"list":               {"---\npaths:\n  - \"a\"\n  - b/**\non: Yes\n---\nx", want{Paths: []string{"a", "b/**"}, On: true, Body: "x"}},
		"flow list":          {"---\npaths: ['a', 'b']\n---\nx", want{Paths: []string{"a", "b"}, Body: "x"}},
		"stars unquoted":     {"---\npaths: **/*.go\n---\nx", want{Paths: []string{"**/*.go"}, Body: "x"}},
		"stars in a list":    {"---\nname: n\npaths:\n- *.md\n- **/*.go\n---\nx", want{Name: "n", Paths: []string{"*.md", "**/*.go"}, Body: "x"}},
		"windows line ends":  {"---\r\npaths: a\r\n---\r\nx", want{Paths: []string{"a"}, Body: "x"}},
		"no YAML":            {"---\npaths: [a\n: :\n---\nx", want{Body: "x"}},
		"empty head":         {"---\n---\nx", want{Body: "x"}},
		"numbers and no map": {"---\nname: 12\npaths: 3\n---\nx", want{Name: "12", Paths: []string{"3"}, Body: "x"}},
		"anchors":            {"---\nname: &a x\npaths: [*a, *a]\n---\nx", want{Body: "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			f, body := frontmatter.Parse(c.text)
			got := want{f.List("paths"), f.Text("name"), f.Bool("on", false), body}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\npaths: **/*.go\n---\nx")
	f.Add("---\na: [*x, {b: c}]\n---")
	f.Fuzz(func(t *testing.T, text string) {
		fields, body := frontmatter.Parse(text)
		if len(body) > len(text) {
			t.Error("the body is longer than the text")
		}
		for key := range fields {
			fields.Text(key)
			fields.List(key)
		}
	})
}
