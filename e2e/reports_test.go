package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/fakeapi"
)

// The tests of this file and of reports_shell_test.go are public bug reports of like tools, by their numbers in
// the project's list; each looks at the whole kind of its fault, through the real program.

// works runs one session in which the model makes the calls one after the other, and returns their results.
func (r *rig) works(flags []string, calls ...fakeapi.Block) []fakeapi.InBlock {
	r.t.Helper()
	var turns []fakeapi.Answer
	for _, c := range calls {
		turns = append(turns, answer(c))
	}
	r.serve(fakeapi.Sequence(append(turns, fakeapi.Text("done"))...))
	r.must(append([]string{"-p", "first words"}, flags...)...)
	r.legal()
	var out []fakeapi.InBlock
	for _, c := range r.api.Calls("")[1:] {
		out = append(out, c.ToolResults()...)
	}
	if len(out) != len(calls) {
		r.t.Fatalf("%d results of %d calls", len(out), len(calls))
	}
	return out
}

var acceptEdits = []string{"--permission-mode", "acceptEdits"}

func editCall(path, old, text string) fakeapi.Block {
	return fakeapi.Call("Edit", map[string]any{"file_path": path, "old_string": old, "new_string": text})
}

// B018: a text of several lines with LF matches a file with CRLF, and the file keeps its line ends.
func TestLineEndsB018(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, old, text, after string }{
		"CRLF":                {"\tif (x) {\r\n\t\ty();\r\n\t}\r\n", "\tif (x) {\n\t\ty();", "\tif (z) {\n\t\ty();", "\tif (z) {\r\n\t\ty();\r\n\t}\r\n"},
		"more lines":          {"a\r\nb\r\n", "a\nb", "a\nx\ny\nb", "a\r\nx\r\ny\r\nb\r\n"},
		"no last line end":    {"a\r\nb", "a\nb", "c\nd", "c\r\nd"},
		"sent with CRLF":      {"a\r\nb\r\n", "a\r\nb", "c\r\nd", "c\r\nd\r\n"},
		"LF":                  {"a\nb\n", "a\nb", "c\nd", "c\nd\n"},
		"a byte order mark":   {"\ufeffa\r\nb\r\n", "a\nb", "c\nd", "\ufeffc\r\nd\r\n"},
		"mixed, other lines":  {"a\r\nb\nc\r\nd\r\n", "c\nd", "C\nD", "a\r\nb\nC\r\nD\r\n"},
		"B021 dollars":        {"x\n", "x", `'^[sv]d[a-z]$') + "$$" + "$&" + $1 ${x} $'` + " $` \\1 \\n", `'^[sv]d[a-z]$') + "$$" + "$&" + $1 ${x} $'` + " $` \\1 \\n\n"},
		"B021 dollars sought": {"cost: $& (.*)\n", "$& (.*)", "\\0", "cost: \\0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, hello())
			r.file("a.txt", tt.before)
			results := r.works(acceptEdits, readFile("a.txt"), editCall("a.txt", tt.old, tt.text))
			if diff := cmp.Diff(tt.after, r.read(filepath.Join(r.dir, "a.txt"))); diff != "" || results[1].IsError {
				t.Errorf("%s\n(-want +got):\n%s", results[1].Text, diff)
			}
		})
	}
}

// B025: an edit that fails leaves bytes, time and mode as they are, and nothing beside the file.
func TestFailedEditB025(t *testing.T) {
	t.Parallel()
	r := newRig(t, hello())
	r.file("a.txt", "one\none\n")
	path := filepath.Join(r.dir, "a.txt")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	results := r.works(acceptEdits, readFile("a.txt"), editCall("a.txt", "not there", "x"), editCall("a.txt", "one", "x"), editCall("a.txt", "one\none", "one\none"),
		editCall("b.txt", "x", "y"), fakeapi.Call("Edit", map[string]any{"file_path": "a.txt", "old_string": "one"}))
	for _, b := range results[1:] {
		if !b.IsError {
			t.Errorf("no error: %s", b.Text)
		}
	}
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := os.ReadDir(r.dir)
	if r.read(path) != "one\none\n" || after.Mode() != before.Mode() || !after.ModTime().Equal(before.ModTime()) || len(list) != 1 {
		t.Errorf("%q, %v, %v, %v", r.read(path), after.Mode(), after.ModTime(), list)
	}
}

// B028: a letter of several bytes across the end of a sample does not make a file binary.
func TestLetterAtTheEdgeB028(t *testing.T) {
	t.Parallel()
	r := newRig(t, hello())
	var calls []fakeapi.Block
	for _, letter := range []string{"é", "日", "𝄞"} {
		for _, edge := range []int{512, 1024, 4096, 8192, 65536} {
			for off := edge - 3; off < edge+3; off++ {
				name := fmt.Sprintf("%s%d.txt", letter, off)
				r.file(name, strings.Repeat("0123456 ", off)[:off]+letter+"\nend of it\n")
				calls = append(calls, fakeapi.Call("Read", map[string]any{"file_path": name, "offset": 2}))
			}
		}
	}
	calls = append(calls, fakeapi.Call("Grep", map[string]any{"pattern": "^end of it", "output_mode": "count", "head_limit": 0}))
	results := r.works(nil, calls...)
	for _, b := range results[:len(results)-1] {
		if b.IsError || !strings.Contains(b.Text, "end of it") {
			t.Fatalf("%v", b.Text)
		}
	}
	if found := strings.Count(results[len(results)-1].Text, ".txt"); found != 90 {
		t.Errorf("Grep reads %d of 90 files as text", found)
	}
}

// B031: Glob sees through a linked folder that is named, and a loop of links ends.
func TestLinkedFoldersB031(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: links need rights on Windows")
	}
	r := newRig(t, hello())
	r.file("items/foo/deep/x.md", "hidden treasure\n")
	r.file("p/cat/y.md", "y\n")
	for link, target := range map[string]string{"p/cat/foo": "../../items/foo", "p/cat/loop": ".", "p/back": "..", "p/dead": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(r.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	glob := func(pattern, path string) fakeapi.Block {
		return fakeapi.Call("Glob", map[string]any{"pattern": pattern, "path": path})
	}
	results := r.works(nil, glob("cat/foo/**/*.md", "p"), glob("**/*.md", "p/cat/foo"), glob("**/*.md", "."), readFile("p/cat/foo/deep/x.md"),
		fakeapi.Call("Grep", map[string]any{"pattern": "treasure", "path": "p/cat/foo"}), glob("p/cat/loop/loop/loop/*.md", "."))
	for i, want := range []string{"x.md", "x.md", "y.md", "hidden treasure", "x.md", "y.md"} {
		if results[i].IsError || !strings.Contains(results[i].Text, want) {
			t.Errorf("call %d: %s", i+1, results[i].Text)
		}
	}
}

// B054: bad lines in a session file cost themselves alone: what stands behind them is there, the user is told,
// and new records stand on lines of their own.
func TestBadLinesB054(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{strings.Repeat("\x00", 4096), "{\"type\":\"user\",\"mess", "no JSON", "{}", "[1]", strings.Repeat("{", 1000)} {
		r := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "an answer"}})
		r.must("-p", "first words")
		r.must("-c", "-p", "second words")
		path := r.transcript()
		lines := strings.SplitAfter(r.read(path), "\n")
		mid := len(lines) / 2
		text := strings.Join(lines[:mid], "") + bad + "\n" + strings.Join(lines[mid:], "") + bad
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		o := r.must("-c", "-p", "third words")
		holds(t, r.last(), []string{"first words", "an answer", "second words", "an answer", "third words"})
		if bad != "{}" && !strings.Contains(o.err, "2 lines") {
			t.Errorf("%.20q: the user is told %q", bad, o.err)
		}
		after := r.read(path)
		if !strings.HasPrefix(after, text+"\n") {
			t.Errorf("%.20q: what was there was changed", bad)
		}
		for _, line := range strings.Split(strings.TrimSpace(after[len(text):]), "\n") {
			if !json.Valid([]byte(line)) {
				t.Errorf("%.20q: a new record is broken: %s", bad, line)
			}
		}
		r.goesOn("first words", "second words", "third words")
	}
}

// B059: --continue goes on with the newest session of the directory, one of -p too, or fails.
func TestContinueB059(t *testing.T) {
	t.Parallel()
	r := newRig(t, hello())
	r.run("-c", "-p", "hi").ends(t, 1, "^Error: there is no session to continue")
	if n := len(r.api.Requests()); n != 0 {
		t.Fatalf("%d requests", n)
	}
	first := resultOf(t, r.must("-p", "prompt a", "--output-format", "json").out)["session_id"]
	second := resultOf(t, r.must("-c", "-p", "prompt b", "--output-format", "json").out)["session_id"]
	if first != second {
		t.Errorf("session %v went on as %v", first, second)
	}
	holds(t, r.last(), []string{"prompt a", "Hello.", "prompt b"})
	r.dir = filepath.Join(r.dir, "elsewhere")
	r.file("x", "")
	r.run("-c", "-p", "hi").ends(t, 1, "^Error: there is no session to continue")
}

// B060: a fixed part that alone nearly fills the window is no loop: the call is made once, and what is too large
// is said.
func TestSmallWindowB060(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{
		Models: []json.RawMessage{json.RawMessage(`{"id":"tiny","like":"claude-opus-5-5","context":32000,"max_output":8000}`)},
		Turns:  []fakeapi.Turn{{Times: -1, Answer: fakeapi.Answer{Text: "an answer", Usage: map[string]int{"input_tokens": 29000}}}},
	})
	r.env = append(r.env, "CLAUDE_CODE_MAX_CONTEXT_TOKENS=32000", "CLAUDE_CODE_MAX_OUTPUT_TOKENS=2000")
	if o := r.must("-p", "hi", "--model", "tiny"); o.out != "an answer\n" || len(r.api.Requests()) != 1 {
		t.Errorf("%d requests, %q", len(r.api.Requests()), o.out)
	}
	o := r.run("-c", "-p", "more", "--model", "tiny")
	if n := len(r.api.Requests()); n > 3 || o.code != 0 && !strings.Contains(o.err, "Context full") {
		t.Errorf("%d requests, exit code %d\n%s", n, o.code, o.err)
	}
	r.legal()
}

// B070: a failure of the API is a failure of the run in every format.
func TestFailuresB070(t *testing.T) {
	t.Parallel()
	for _, code := range []int{400, 401, 403, 404, 500, 529} {
		for _, format := range []string{"text", "json", "stream-json"} {
			t.Run(fmt.Sprint(code, " ", format), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, times(-1, status(code, "no luck")))
				o := r.run("-p", "hi", "--output-format", format)
				if o.code != 1 {
					t.Errorf("exit code %d", o.code)
				}
				if format == "text" {
					if !strings.Contains(o.err, "no luck") || !strings.Contains(o.out, "no luck") {
						t.Errorf("told: %q %q", o.err, o.out)
					}
					return
				}
				res := resultOf(t, o.out)
				if res["is_error"] != true || res["terminal_reason"] != "api_error" || res["api_error_status"] != float64(code) || !strings.Contains(fmt.Sprint(res["result"]), "no luck") {
					t.Errorf("result %v", res)
				}
			})
		}
	}
}

// B079: the usage of one answer stands on each of its blocks and counts once, in the result, in the cost, and in
// the session file.
func TestUsageB079(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(
		answer(fakeapi.Block{Thinking: "long thoughts of many words"}, fakeapi.Block{Text: "Some text."}, readFile("a.txt"), readFile("b.txt"), readFile("c.txt")),
		fakeapi.Text("done")))
	r.file("a.txt", "a\n")
	o := r.must("-p", "hi", "--output-format", "stream-json")
	total := r.api.Totals("").Usage
	want := map[string]float64{
		"input_tokens": float64(total.Input), "output_tokens": float64(total.Output),
		"cache_creation_input_tokens": float64(total.Write5m + total.Write1h), "cache_read_input_tokens": float64(total.Read),
	}
	res := resultOf(t, o.out)
	usage, _ := res["usage"].(map[string]any)
	byModel, _ := res["modelUsage"].(map[string]any)["claude-opus-5-5"].(map[string]any)
	inFile := map[string]float64{}
	last := map[string]map[string]any{}
	for _, line := range jsonLines(t, r.read(r.transcript())) {
		if m, ok := line["message"].(map[string]any); ok && line["type"] == "assistant" {
			last[m["id"].(string)], _ = m["usage"].(map[string]any)
		}
	}
	got := map[string]float64{}
	for key := range want {
		got[key], _ = usage[key].(float64)
		for _, u := range last {
			n, _ := u[key].(float64)
			inFile[key] += n
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the result's usage (-server +told):\n%s", diff)
	}
	if diff := cmp.Diff(want, inFile); diff != "" {
		t.Errorf("the session file's usage (-server +written):\n%s", diff)
	}
	if byModel["outputTokens"] != want["output_tokens"] || byModel["cacheReadInputTokens"] != want["cache_read_input_tokens"] {
		t.Errorf("by model: %v", byModel)
	}
	cost, _ := res["total_cost_usd"].(float64)
	if dollars := fmt.Sprintf("%.4f", cost); !strings.Contains(r.must("-c", "-p", "/cost").out, dollars) {
		t.Errorf("/cost does not say %s: %s", dollars, r.must("-c", "-p", "/cost").out)
	}
}
