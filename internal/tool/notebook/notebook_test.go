package notebook

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/tool"
)

const sample = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "m1",
   "metadata": {},
   "source": [
    "# <T> é\n",
    "x"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 2,
   "id": "c1",
   "metadata": {
    "n": 1.50
   },
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": []
    }
   ],
   "source": "1"
  }
 ],
 "metadata": {
  "language_info": {
   "name": "julia"
  }
 },
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func run(t *testing.T, before string, input map[string]any) (string, tool.Result, error) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path, files := filepath.Join(dir, "n.ipynb"), tool.NewReadCache()
	if err := os.WriteFile(path, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	files.Put(path, tool.State([]byte(before), nil))
	tl := New(Deps{tool.NewWorkspace(dir, ""), files})
	if input["notebook_path"] == nil {
		input["notebook_path"] = "n.ipynb"
	}
	raw, _ := json.Marshal(input)
	raw, err = tool.Canonical(tl, raw)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := tl.Plan(context.Background(), tool.Call{Input: raw})
	if err != nil {
		return "", tool.Result{}, err
	}
	res, err := plan.Run(context.Background(), nil)
	data, _ := os.ReadFile(path)
	return string(data), res, err
}

func TestCells(t *testing.T) {
	code := sample[strings.Index(sample, "  {\n   \"cell_type\": \"code\""):strings.Index(sample, "\n ],\n \"metadata\"")]
	markdown := sample[strings.Index(sample, "  {\n   \"cell_type\": \"markdown\""):strings.Index(sample, ",\n"+code)]
	added := "  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"ID\",\n   \"metadata\": {},\n   \"source\": [\n    \"a\\n\",\n    \"b\\n\"\n   ]\n  }"
	addedCode := "  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"ID\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": []\n  }"
	cleared := strings.NewReplacer("\"execution_count\": 2", "\"execution_count\": null",
		"[\n    {\n     \"name\": \"stdout\",\n     \"output_type\": \"stream\",\n     \"text\": []\n    }\n   ]", "[]", "\"source\": \"1\"", "\"source\": \"2\\n\"").Replace(code)
	asMarkdown := "  {\n   \"cell_type\": \"markdown\",\n   \"id\": \"c1\",\n   \"metadata\": {\n    \"n\": 1.50\n   },\n   \"source\": \"x\"\n  }"
	tests := []struct {
		name  string
		input map[string]any
		want  string // of the cells
		kind  string
		old   string
	}{
		{"replace", map[string]any{"cell_id": "m1", "new_source": "y & z"}, strings.Replace(markdown, "[\n    \"# <T> é\\n\",\n    \"x\"\n   ]", "[\n    \"y & z\"\n   ]", 1) + ",\n" + code, "markdown", "# <T> é\nx"},
		{"replace code", map[string]any{"cell_id": "cell-1", "new_source": "2\n"}, markdown + ",\n" + cleared, "code", "1"},
		{"change type", map[string]any{"cell_id": "c1", "new_source": "x", "cell_type": "markdown"}, markdown + ",\n" + asMarkdown, "markdown", "1"},
		{"insert first", map[string]any{"edit_mode": "insert", "new_source": "a\nb\n", "cell_type": "markdown"}, added + ",\n" + markdown + ",\n" + code, "markdown", ""},
		{"insert between", map[string]any{"edit_mode": "insert", "cell_id": "m1", "new_source": "", "cell_type": "code"}, markdown + ",\n" + addedCode + ",\n" + code, "code", ""},
		{"insert last", map[string]any{"edit_mode": "insert", "cell_id": "c1", "new_source": "", "cell_type": "code"}, markdown + ",\n" + code + ",\n" + addedCode, "code", ""},
		{"delete first", map[string]any{"edit_mode": "delete", "cell_id": "m1"}, code, "markdown", "# <T> é\nx"},
		{"delete last", map[string]any{"edit_mode": "delete", "cell_id": "c1"}, markdown, "code", "1"},
	}
	fresh := regexp.MustCompile(`"id": "[0-9a-f]{8}"`)
	for _, tc := range tests {
		for _, crlf := range []bool{false, true} {
			before := sample
			if crlf {
				before = strings.ReplaceAll(sample, "\n", "\r\n")
			}
			got, res, err := run(t, before, tc.input)
			if err != nil {
				t.Errorf("%s: %v", tc.name, err)
				continue
			}
			if crlf {
				if strings.Count(got, "\n") != strings.Count(got, "\r\n") {
					t.Errorf("%s: mixed line ends", tc.name)
				}
				got = strings.ReplaceAll(got, "\r\n", "\n")
			}
			want := strings.Replace(sample, markdown+",\n"+code, tc.want, 1)
			if d := cmp.Diff(want, fresh.ReplaceAllString(got, `"id": "ID"`)); d != "" {
				t.Errorf("%s: %s", tc.name, d)
			}
			out := res.Output.(Output)
			if out.Language != "julia" || out.CellType != tc.kind || out.OldSource != tc.old || out.Original != before {
				t.Errorf("%s: output %+v", tc.name, out)
			}
		}
	}
}

func TestOtherLayouts(t *testing.T) {
	tests := []struct {
		name, before string
		input        map[string]any
		want         string
	}{
		{"one line", `{"nbformat":4,"nbformat_minor":4,"cells":[{"cell_type":"raw","source":"a"}]}`, map[string]any{"cell_id": "0", "new_source": "b"}, `{"nbformat":4,"nbformat_minor":4,"cells":[{"cell_type":"raw","source":"b"}]}`},
		{"no cells", `{"cells": [], "nbformat": 4 , "nbformat_minor": 2}`, map[string]any{"edit_mode": "insert", "cell_type": "markdown", "new_source": "b"}, `{"cells": [{"cell_type":"markdown","metadata":{},"source":["b"]}], "nbformat": 4 , "nbformat_minor": 2}`},
		{"only cell", "{\n \"cells\": [\n  {\"source\": []}\n ]\n}", map[string]any{"edit_mode": "delete", "cell_id": "cell-0"}, "{\n \"cells\": []\n}"},
	}
	for _, tc := range tests {
		got, _, err := run(t, tc.before, tc.input)
		if d := cmp.Diff(tc.want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", tc.name, err, d)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		before string
		input  map[string]any
		want   string
	}{
		{sample, map[string]any{"cell_id": "zz", "new_source": ""}, "there is no cell"},
		{sample, map[string]any{"cell_id": "cell-2", "new_source": ""}, "there is no cell"},
		{sample, map[string]any{"new_source": "x"}, "cell_id is needed"},
		{sample, map[string]any{"cell_id": "m1"}, "new_source is missing"},
		{sample, map[string]any{"edit_mode": "insert", "new_source": "x"}, "needs cell_type"},
		{sample, map[string]any{"notebook_path": "a.py", "cell_id": "m1", "new_source": "x"}, "not a notebook"},
		{sample, map[string]any{"notebook_path": "no.ipynb", "cell_id": "m1", "new_source": "x"}, "does not exist"},
		{"{\"cells\": [", map[string]any{"cell_id": "m1", "new_source": "x"}, "not valid JSON"},
		{"[]", map[string]any{"cell_id": "m1", "new_source": "x"}, "not a JSON object"},
		{`{"worksheets":[],"nbformat":3}`, map[string]any{"cell_id": "m1", "new_source": "x"}, "nbformat 4"},
	} {
		got, _, err := run(t, tc.before, tc.input)
		if err == nil || !strings.Contains(err.Error(), tc.want) || got != "" && got != tc.before {
			t.Errorf("%v: %v", tc.input, err)
		}
	}
}

func FuzzChange(f *testing.F) {
	f.Add(sample, "m1", "x\ny", uint8(0))
	f.Add(`{"cells":[{"source":"a"}, {"source":["b"]} ]}`, "cell-1", "x", uint8(1))
	f.Add(`{"cells":[],"nbformat":4 }`, "", "", uint8(1))
	f.Fuzz(func(t *testing.T, text, id, source string, mode uint8) {
		in := Input{CellID: id, Source: source, CellType: "code", Mode: []string{"replace", "insert", "delete"}[mode%3]}
		if in.Mode != "insert" && id == "" {
			return
		}
		got, err := change(text, in)
		if err == nil && !json.Valid([]byte(got.text)) {
			t.Fatalf("%q became %q", text, got.text)
		}
	})
}

func TestDefinition(t *testing.T) {
	raw, _ := json.Marshal((&Tool{}).Def())
	if len(raw) > 640 {
		t.Errorf("%d bytes", len(raw))
	}
}
