package edit_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/diff"
	"lathe/internal/file"
	"lathe/internal/testkit"
	"lathe/internal/tool"
	"lathe/internal/tool/edit"
)

type corpusInput struct {
	Old   string        `json:"old_string"`
	New   string        `json:"new_string"`
	All   bool          `json:"replace_all"`
	Edits []corpusInput `json:"edits"`
}

type corpusCase struct {
	FileName    string          `json:"file_name"`
	Input       corpusInput     `json:"input"`
	Expect      string          `json:"expect"`
	Error       string          `json:"error"`
	Alternative *string         `json:"alternative"`
	ReadFirst   *bool           `json:"read_first"`
	Between     string          `json:"between_read_and_edit"`
	Mode        string          `json:"mode"`
	Patch       json.RawMessage `json:"structured_patch"`
}

// words are what the error of a kind must say.
var words = map[string]string{
	"not-found": "not found", "no-change": "the same", "several-matches": "found 2 times", "not-read": "not been read",
	"empty-old": "old_string is empty", "binary": "binary", "changed-since-read": "changed on disk", "permission": "read-only",
}

func TestCorpus(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(testkit.Shared(t, "data/edits"), "*", "case.json"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range dirs {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) { runCase(t, dir) })
	}
}

func runCase(t *testing.T, dir string) {
	var c corpusCase
	raw, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	path := filepath.Join(b.dir, filepath.FromSlash(c.FileName))
	before, err := os.ReadFile(filepath.Join(dir, "before"))
	exists := err == nil
	mode := os.FileMode(0o644)
	switch c.Mode {
	case "0755":
		mode = 0o755
	case "0444":
		mode = 0o444
	}
	if exists {
		b.write(c.FileName, before, mode)
		if c.ReadFirst == nil || *c.ReadFirst {
			_, _ = b.read(path) // of binary files it fails
		}
	}
	if c.Between != "" {
		before = append(before, "# by someone else\n"...)
		b.write(c.FileName, before, mode)
	}
	was := b.snapshot()
	edits := c.Input.Edits
	if len(edits) == 0 {
		edits = []corpusInput{c.Input}
	}
	var res tool.Result
	for _, e := range edits {
		if res, err = b.edit(path, e.Old, e.New, e.All); err != nil {
			break
		}
	}
	alt := ""
	if c.Alternative != nil {
		alt = *c.Alternative
	}
	if err != nil {
		if c.Expect != "error" && alt != "error" {
			t.Fatalf("failed: %v", err)
		}
		if w := words[c.Error]; !strings.Contains(err.Error(), w) {
			t.Errorf("the error should say %q: %v", w, err)
		}
		if now := b.snapshot(); now != was {
			t.Errorf("a failed edit changed something:\n%s\nwas:\n%s", now, was)
		}
		return
	}
	if c.Expect == "error" && alt != "ok" {
		t.Fatalf("should fail with %s, but: %s", c.Error, res.Blocks[0].Text)
	}
	after, _ := os.ReadFile(filepath.Join(dir, "after"))
	got := b.content(path)
	if !bytes.Equal(got, after) && (c.Alternative == nil || string(got) != alt) {
		t.Errorf("wrong content:\n%s", diff.Unified("want", "got", diff.Patch(string(after), string(got))))
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != mode {
		t.Errorf("mode is %v, was %v (%v)", info.Mode(), mode, err)
	}
	checkPatch(t, c, res.Output.(edit.Output), bytes.Equal(got, after) && len(c.Input.Edits) == 0)
	if _, err := b.edit(path, "no such text, surely", "x", false); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("an edit right after an edit should be fresh: %v", err)
	}
}

// checkPatch compares the patch with the recorded one, line counts at least.
func checkPatch(t *testing.T, c corpusCase, out edit.Output, asRecorded bool) {
	if c.Patch == nil || !asRecorded {
		return
	}
	var want []diff.Hunk
	if err := json.Unmarshal(c.Patch, &want); err != nil {
		t.Fatal(err)
	}
	wa, wr := diff.Count(want)
	ga, gr := diff.Count(out.StructuredPatch)
	if wa-wr != ga-gr {
		t.Errorf("patch adds %d and removes %d lines, recorded %d and %d", ga, gr, wa, wr)
	}
	if len(want) > 0 && want[0].OldStart != out.StructuredPatch[0].OldStart {
		t.Errorf("patch starts at %d, recorded %d", out.StructuredPatch[0].OldStart, want[0].OldStart)
	}
}

// FuzzEdit checks what no edit may break: bytes outside the match stay, a failed edit changes nothing, and the
// result is again text of the same encoding.
func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\nc", "b\n", "x\ny\n", uint8(0), false)
	f.Add("\tif (x) {\r\n\t\ty();\r\n\t}\r\n", "\tif (x) {\n\t\ty();", "\tif (z) {\n\t\ty();", uint8(1), false)
	f.Add("say(“hello”) it’s", "say(\"hello\") it's", "say(\"bye\") it's", uint8(2), false)
	f.Add("cafe\u0301 \u00a0x  \nb", "café  x\nb", "tea\nb", uint8(3), true)
	f.Add("aaa", "aa", "b", uint8(0), true)
	f.Fuzz(func(t *testing.T, body, old, new string, enc uint8, all bool) {
		if len(body) > 4096 || strings.ContainsRune(body, 0) || strings.HasPrefix(body, "\ufeff") {
			return
		}
		e := file.Encoding(enc % 4)
		body, old, new = strings.ToValidUTF8(body, "?"), strings.ToValidUTF8(old, "?"), strings.ToValidUTF8(new, "?")
		data, err := e.Encode(body)
		if err != nil {
			t.Fatal(err)
		}
		b := newBench(t)
		path := b.write("f.txt", data, 0o644)
		if _, err := b.read(path); err != nil {
			return // judged binary
		}
		was := b.snapshot()
		res, err := b.edit(path, old, new, all)
		got := b.content(path)
		if err != nil {
			if now := b.snapshot(); now != was {
				t.Fatalf("failed edit changed the file: %v\n%s\n%s", err, was, now)
			}
			return
		}
		text, derr := file.Decode(got)
		if derr == nil && text.Enc != e && len(got) > 0 && e != file.UTF8 {
			t.Fatalf("encoding was %v, is %v", e, text.Enc)
		}
		if derr != nil || strings.Contains(res.Blocks[0].Text, "matched but for") {
			return
		}
		view, pieces := file.LF(body), 1
		if all {
			pieces = strings.Count(view, file.LF(old))
		}
		if want := strings.Replace(view, file.LF(old), file.LF(new), pieces); body != "" && file.LF(text.Body) != file.LF(want) {
			t.Fatalf("got %q, want %q", text.Body, want)
		}
		if i := strings.Index(view, file.LF(old)); body != "" && !all && i >= 0 {
			keep := len(body) - len(file.LF(old)) - 2*strings.Count(body, "\r\n") - i
			if !strings.HasPrefix(text.Body, body[:min(i, len(body))]) && !strings.Contains(body[:i], "\r\n") {
				t.Fatalf("bytes before the match changed: %q to %q", body, text.Body)
			}
			if keep > 0 && !strings.HasSuffix(text.Body, body[len(body)-keep:]) {
				t.Fatalf("bytes after the match changed: %q to %q", body, text.Body)
			}
		}
	})
}
