package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var errFull = errors.New("no space left")

// faulty is a file on a disk that has room for some bytes more.
type faulty struct {
	file
	room int // -1: for all
}

func (f *faulty) Write(b []byte) (int, error) {
	if f.room < 0 || len(b) <= f.room {
		return f.file.Write(b)
	}
	n, err := f.file.Write(b[:f.room])
	f.room = 0
	return n, errors.Join(errFull, err)
}

// Whatever a full disk takes of a trace, what is read afterwards is right: lists, fields and contents.
func TestLostWritesProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f, dir := begun(rt)
		disk := [2]*faulty{{f.blobs, -1}, {f.records, -1}}
		f.blobs, f.records = disk[0], disk[1]
		type moment struct {
			list  []Ref
			model string
		}
		var want []moment
		lost, written := 0, map[int]bool{}
		for i := range rapid.IntRange(1, 12).Draw(rt, "records") {
			for k := range disk {
				disk[k].room = -1
				if rapid.Bool().Draw(rt, "full") {
					disk[k].room = rapid.IntRange(0, 600).Draw(rt, "room")
				}
			}
			m := moment{[]Ref{}, rapid.SampledFrom([]string{"m", "n"}).Draw(rt, "model")}
			for _, text := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 6).Draw(rt, "list") {
				m.list = append(m.list, ref(f, text, strings.Repeat(text, 40)))
			}
			f.Record(Record{Turn: "t", Stage: "compact", Step: i, After: View{Items: map[string][]Ref{Seen: m.list}, Fields: map[string]any{"model": m.model}}})
			f.Flush()
			want = append(want, m)
			if f.Lost() == lost {
				written[i] = true
			}
			lost = f.Lost()
		}
		f.Close()
		tr, err := Read(dir)
		if err != nil {
			rt.Fatal(err)
		}
		defer tr.Close()
		for _, r := range tr.Records {
			w := want[r.Step]
			if d := cmp.Diff(w.list, append([]Ref{}, r.After.Items[Seen]...)); d != "" || r.After.Fields["model"] != w.model {
				rt.Fatalf("record %d: %v %s", r.Step, r.After.Fields, d)
			}
			for _, ref := range r.After.Items[Seen] {
				if written[r.Step] && tr.Blob(ref.Hash) == nil {
					rt.Fatalf("record %d: the content of %s is missing", r.Step, ref.ID)
				}
			}
			delete(written, r.Step)
		}
		if len(written) > 0 {
			rt.Fatalf("records that were written are not there: %v", written)
		}
	})
}

// A content that a crash tore is not taken for one that is there.
func TestTornContent(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	a := ref(f, "a", "a long content")
	f.Close()
	name := filepath.Join(dir, blobsFile)
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, info.Size()-5); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first one ends the torn line
		open(t, dir).Close()
	}
	f = open(t, dir)
	ref(f, "a", "a long content")
	f.Record(Record{Turn: "t", Stage: "input", After: View{Items: map[string][]Ref{Messages: {a}}}})
	f.Close()
	if got := string(read(t, dir).Blob(a.Hash)); got != `"a long content"` {
		t.Errorf("the content: %q", got)
	}
}

// A list that grows by a record costs what it adds, in time and memory.
func TestLongTrace(t *testing.T) {
	const passes = 2000
	dir := t.TempDir()
	var b strings.Builder
	for i := range passes {
		r, err := json.Marshal(line{
			Record: Record{Turn: "t", Stage: "tools", Step: i},
			After:  &deltas{Items: map[string]delta{Messages: {Keep: i, Add: []Ref{{ID: fmt.Sprint(i), Kind: "user", Hash: Stored("x")}}}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(r, '\n'))
	}
	if err := os.WriteFile(filepath.Join(dir, recordsFile), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tr := read(t, dir)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 50<<20 { // all lists apart: 190 MB
		t.Errorf("%d MB for %d records", used>>20, passes)
	}
	for i, r := range tr.Records {
		if list := r.After.Items[Messages]; len(list) != i+1 || cap(list) != i+1 || list[i].ID != fmt.Sprint(i) || len(r.Before.Items[Messages]) != i {
			t.Fatalf("record %d has %d messages, room for %d", i, len(list), cap(list))
		}
	}
}

// Headers that a write has lost are written again with the next call, though they are the same.
func TestLostHeaders(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	disk := &faulty{f.records, -1}
	f.records = disk
	for i, room := range []int{-1, 0, -1} {
		headers := map[string]string{"x": "same"}
		if i == 0 {
			headers["x"] = "other"
		}
		disk.room = room
		f.Record(Record{Turn: "t", Stage: "model", Parent: "model", Step: i, Call: &Call{Model: "m", Attempt: 1, Headers: headers}})
		f.Flush()
	}
	f.Close()
	tr, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	last := tr.Records[len(tr.Records)-1]
	if last.Step != 2 || last.Call.Headers["x"] != "same" {
		t.Errorf("%+v", last.Call)
	}
}
