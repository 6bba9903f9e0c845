package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func ref(f *File, id, text string) Ref {
	b, _ := json.Marshal(text)
	return Ref{ID: id, Kind: "user", Hash: f.Blob(b), Bytes: len(b)}
}

func open(t *testing.T, dir string) *File {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func read(t *testing.T, dir string) *Trace {
	t.Helper()
	tr, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tr.Close() })
	return tr
}

// What is written in small steps is read whole, content once, over several runs, private to the user.
func TestWriteAndRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "trace")
	f := open(t, dir)
	a, b := ref(f, "a", "one"), ref(f, "b", "two")
	f.Record(Record{Turn: "t", Stage: "input", Before: View{Items: map[string][]Ref{Messages: {a}}}, After: View{Items: map[string][]Ref{Messages: {a, b}}}})
	f.Record(Record{Turn: "t", Stage: "prompt", After: View{Fields: map[string]any{"model": "m"}}})
	if n := f.Close(); n != 0 {
		t.Fatalf("%d pieces failed", n)
	}
	f = open(t, dir)
	f.Record(Record{Turn: "u", Stage: "input", Before: View{Items: map[string][]Ref{Messages: {a, ref(f, "b", "two")}}}})
	f.Close()

	tr := read(t, dir)
	var got [][2]map[string][]Ref
	for _, r := range tr.Records {
		got = append(got, [2]map[string][]Ref{r.Before.Items, r.After.Items})
	}
	want := [][2]map[string][]Ref{
		{{Messages: {a}}, {Messages: {a, b}}},
		{{Messages: {a, b}}, {Messages: {a, b}}},
		{{Messages: {a, b}}, {Messages: {a, b}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if got := string(tr.Blob(b.Hash)); got != `"two"` {
		t.Errorf("content %s", got)
	}
	blobs, _ := os.ReadFile(filepath.Join(dir, blobsFile))
	if n := bytes.Count(blobs, []byte("\n")); n != 2 {
		t.Errorf("%d contents are stored, want 2:\n%s", n, blobs)
	}
	for _, name := range []string{blobsFile, recordsFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
}

// begun opens a trace in a directory that is removed at the end of the run.
func begun(t *rapid.T) (f *File, dir string) {
	dir, err := os.MkdirTemp("", "trace")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if f, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	return f, dir
}

// Lists that shrink, change in their middle or grow are read as they were.
func TestListsProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, dir := begun(rt)
		var want [][]Ref
		for range rapid.IntRange(1, 8).Draw(rt, "records") {
			list := []Ref{}
			for _, text := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 6).Draw(rt, "list") {
				list = append(list, ref(f, text, text))
			}
			f.Record(Record{Turn: "t", Stage: "compact", After: View{Items: map[string][]Ref{Seen: list}}})
			want = append(want, list)
		}
		f.Close()
		tr, err := Read(dir)
		if err != nil {
			rt.Fatal(err)
		}
		defer tr.Close()
		for i, r := range tr.Records {
			got := append([]Ref{}, r.After.Items[Seen]...)
			if d := cmp.Diff(want[i], got); d != "" {
				rt.Fatal(d)
			}
		}
	})
}

// A crash tears the last line of either file: what came before is read, and what a later run adds.
func TestTornLines(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	a := ref(f, "a", "one")
	f.Record(Record{Turn: "t", Stage: "input", After: View{Items: map[string][]Ref{Messages: {a}}}})
	f.Close()
	for _, name := range []string{blobsFile, recordsFile} {
		file, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = file.WriteString(`{"turn":"t","sta`)
		file.Close()
	}
	f = open(t, dir)
	b := ref(f, "b", strings.Repeat("long ", 100_000))
	f.Record(Record{Turn: "t", Stage: "tools", After: View{Items: map[string][]Ref{Messages: {b}}}})
	f.Close()
	tr := read(t, dir)
	if len(tr.Records) != 2 || tr.Skipped != 1 || tr.Blob(a.Hash) == nil || len(tr.Blob(b.Hash)) != b.Bytes {
		t.Errorf("%d records, %d skipped, contents of %d and %d bytes", len(tr.Records), tr.Skipped, len(tr.Blob(a.Hash)), len(tr.Blob(b.Hash)))
	}
}

func TestLimit(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	f.Limit = 2000
	for range 100 {
		f.Record(Record{Turn: "t", Stage: "input"})
	}
	if n := f.Close(); n == 0 {
		t.Error("nothing was left out")
	}
	info, _ := os.Stat(filepath.Join(dir, recordsFile))
	if info.Size() > 2000 {
		t.Errorf("%d bytes", info.Size())
	}
}

func TestNone(t *testing.T) {
	if _, err := Read(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"turn":"t","stage":"s","after":{"items":{"view":{"keep":3,"add":[{"kind":"x","hash":"h"}]}}}}`+"\n"), []byte("0123456789abcdef01234567 {}\n"))
	f.Add([]byte("{}\n\n[]\n"), []byte("\nx\n0123"))
	f.Fuzz(func(t *testing.T, records, blobs []byte) {
		dir := t.TempDir()
		_ = os.WriteFile(filepath.Join(dir, recordsFile), records, 0o600)
		_ = os.WriteFile(filepath.Join(dir, blobsFile), blobs, 0o600)
		tr, err := Read(dir)
		if err != nil {
			return
		}
		defer tr.Close()
		for _, r := range tr.Records {
			_, _, _ = tr.Body(r)
		}
		for hash := range tr.blobs {
			_ = tr.Blob(hash)
		}
	})
}

// Headers are written when they are others than those of the call before, and read for each call.
func TestHeaders(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	given := []map[string]string{{"A": "1"}, {"A": "1"}, nil, nil, {"A": "2"}, {"A": "2"}}
	for _, h := range given {
		f.Record(Record{Session: "s", Stage: "call", Parent: "model", Call: &Call{Model: "m", Headers: h}})
	}
	f.Close()
	raw, _ := os.ReadFile(filepath.Join(dir, recordsFile))
	if n := strings.Count(string(raw), `"headers"`); n != 3 {
		t.Errorf("written %d times", n)
	}
	got, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	for i, r := range got.Records {
		if !maps.Equal(r.Call.Headers, given[i]) {
			t.Errorf("call %d: %v, want %v", i, r.Call.Headers, given[i])
		}
	}
}

// What has no text from outside is not searched for secrets; each place where one can stand is.
func TestTells(t *testing.T) {
	plain := line{After: &deltas{Fields: map[string]any{"done": true, "static": 2}, Items: map[string]delta{Messages: {Add: []Ref{{ID: "u", Kind: "user", Hash: "@u"}}}}}}
	if plain.tells() {
		t.Error("a plain record tells")
	}
	for name, l := range map[string]line{
		"note":  {Record: Record{Notes: []Note{{Text: "x"}}}},
		"error": {Record: Record{Err: "x"}},
		"call":  {Record: Record{Call: &Call{}}},
		"tool":  {Record: Record{Tool: &Tool{}}},
		"field": {Before: &deltas{Fields: map[string]any{"stop": "x"}}},
		"key":   {After: &deltas{Items: map[string]delta{Messages: {Add: []Ref{{Key: "x"}}}}}},
		"name":  {After: &deltas{Items: map[string]delta{Tools: {Add: []Ref{{ID: "x", Kind: "tool"}}}}}},
	} {
		if !l.tells() {
			t.Errorf("%s: does not tell", name)
		}
	}
}
