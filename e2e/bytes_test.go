package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// TestRequestsOnlyGrow runs a session of 40 passes with every kind of content, which is resumed in the middle and
// at its end, while its surroundings change. Each request must be what was sent before, byte for byte, and more.
func TestRequestsOnlyGrow(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5-2", "claude-haiku-5-5", "claude-opus-4-5"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, fakeapi.Sequence(longSession()...))
			r.env = append(r.env, "ANTHROPIC_MODEL="+model)
			r.workshop()
			id := r.session("first prompt with an ümlaut, <tags> & @notes.md", "--image", "pixel.png")
			r.file("CLAUDE.md", "rule eight replaces rule seven\n")
			r.file("notes.md", "changed between the runs\n")
			r.file(".git/HEAD", "ref: refs/heads/other\n")
			r.session("second prompt, after a resume", "-c")
			r.file("AGENTS.md", "and a new file of rules\n")
			r.session("third prompt, after another", "--resume", id)
			r.legal()
			calls := r.api.Calls("")
			if len(calls) != 40 {
				t.Fatalf("%d passes, want 40", len(calls))
			}
			extend(t, calls)
			r.sentAll(calls[39])
			t.Logf("%s: hit ratio over all passes %.4f", model, r.api.Totals("").HitRatio())
		})
	}
}

// TestCacheHits runs sessions of 20 steps. The first call of a cold cache can read nothing, which alone limits 20
// equal calls to 95 %; so what is held is that every later call reads all that was sent before, and that the ratio
// is at least 96 % from the second call on, and over all calls of a second session in the same place.
func TestCacheHits(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-fable-5-2", "claude-haiku-5-5"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, twentySteps())
			r.env = append(r.env, "ANTHROPIC_MODEL="+model)
			for i := range 19 {
				r.file(fmt.Sprintf("src/f%d.txt", i), strings.Repeat(fmt.Sprintf("line of file %d\n", i), 12))
			}
			r.must("-p", "read them all")
			r.must("-p", "read them all once more")
			r.legal()
			calls := r.api.Calls("")
			if len(calls) != 40 {
				t.Fatalf("%d calls, want 40", len(calls))
			}
			for i, c := range calls {
				if i%20 > 0 && c.Usage.Read != calls[i-1].Usage.Prompt() {
					t.Errorf("call %d reads %d tokens from the cache, %d were sent before", i+1, c.Usage.Read, calls[i-1].Usage.Prompt())
				}
			}
			later, second := hitRatio(calls[1:20]), hitRatio(calls[20:])
			t.Logf("%s: hit ratio of the first session %.4f, without its first call %.4f; of the second session %.4f", model,
				hitRatio(calls[:20]), later, second)
			if later < 0.96 || second < 0.96 {
				t.Errorf("hit ratio %.4f without the first call, %.4f in the second session; want at least 0.96", later, second)
			}
		})
	}
}

func twentySteps() *fakeapi.Script {
	s := &fakeapi.Script{}
	for range 2 {
		for i := range 19 {
			s.Turns = append(s.Turns, fakeapi.Turn{Answer: answer(fakeapi.Block{Thinking: fmt.Sprintf("step %d needs a look at the file", i)},
				fakeapi.Block{Text: fmt.Sprintf("Step %d.", i)}, readFile(fmt.Sprintf("src/f%d.txt", i)))})
		}
		s.Turns = append(s.Turns, fakeapi.Turn{Answer: fakeapi.Text("All read.")})
	}
	return s
}

// hitRatio is the part of the prompts' tokens that came from the cache.
func hitRatio(calls []fakeapi.Request) float64 {
	read, all := 0, 0
	for _, c := range calls {
		read += c.Usage.Read
		all += c.Usage.Prompt()
	}
	return float64(read) / float64(all)
}

// sentAll holds that the session had in it what it is there for.
func (r *rig) sentAll(c fakeapi.Request) {
	r.t.Helper()
	for what, text := range map[string]string{
		"the rules": "rule seven", "an import": "imported", "the mention": "some notes", "an image": `"type":"image"`,
		"a document": `"type":"document"`, "a redacted thought": `"type":"redacted_thinking"`, "a thought": `"signature":"`,
		"a changed file": "was changed on disk", "a file that went": "is no longer there", "rules of a directory": "a rule of the sub directory",
		"an end in the background": "Background command", "a stored result": "bytes left out here", "a denial": "secret",
		"the changed rules": "rule eight", "the new rules": "and a new file of rules",
	} {
		if !bytes.Contains(c.Body, []byte(text)) {
			r.t.Errorf("%s (%q) is not in the last request", what, text)
		}
	}
}

// session runs one prompt and returns the session's id.
func (r *rig) session(prompt string, more ...string) string {
	r.t.Helper()
	o := r.must(append([]string{
		"-p", prompt, "--output-format", "json", "--permission-mode", "acceptEdits",
		"--allowedTools", "Bash", "--disallowedTools", "Read(secret/**)",
	}, more...)...)
	id, _ := resultOf(r.t, o.out)["session_id"].(string)
	return id
}

// workshop fills the working directory with the files that longSession works on.
func (r *rig) workshop() {
	r.t.Helper()
	r.file("CLAUDE.md", "rule seven\n@more.md\n")
	r.file("more.md", "imported\n")
	r.file("sub/CLAUDE.md", "a rule of the sub directory\n")
	r.file("sub/x.txt", "x\n")
	r.file("notes.md", "some notes\n")
	r.file("a.txt", "one\ntwo <b> & \"three\"\n\u2028four\n")
	r.file("crlf.txt", "one\r\ntwo\r\n")
	r.file("binary.bin", "\x00\x01\x02")
	r.file("secret/key", "hidden\n")
	r.file("nb.ipynb", `{"cells":[{"cell_type":"code","id":"c1","metadata":{},"source":["print(1)"],"outputs":[],"execution_count":null}],"metadata":{},"nbformat":4,"nbformat_minor":5}`)
	r.file("doc.pdf", "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"+
		"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n")
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		r.t.Fatal(err)
	}
	r.file("pixel.png", b.String())
	r.file(".git/HEAD", "ref: refs/heads/main\n")
	if err := os.MkdirAll(filepath.Join(r.dir, "empty"), 0o755); err != nil {
		r.t.Fatal(err)
	}
}

// longSession is 40 answers in three turns. Between them stand tool results of every kind.
func longSession() []fakeapi.Answer {
	call := fakeapi.Call
	in := func(tool, input string) fakeapi.Block {
		return fakeapi.Block{Tool: tool, Input: json.RawMessage(input)}
	}
	think := func(s string) fakeapi.Block { return fakeapi.Block{Thinking: s} }
	text := func(s string) fakeapi.Block { return fakeapi.Block{Text: s} }
	m := func(kv ...any) map[string]any {
		out := map[string]any{}
		for i := 0; i < len(kv); i += 2 {
			out[kv[i].(string)] = kv[i+1]
		}
		return out
	}
	return []fakeapi.Answer{
		answer(think("look & think <hard> \u2028"), text("Looking…"), readFile("a.txt")),
		answer(readFile("notes.md"), readFile("crlf.txt"), call("Glob", m("pattern", "**/*.txt")), call("Grep", m("pattern", "t[wh]"))),
		answer(think("change it"), bash("echo more >> a.txt")), // a.txt was read: its change is attached
		answer(text("  spaces around  "), bash("printf 'a\\033[31mred\\033[0m\\000b\\377\\n'; echo err >&2; exit 3")),
		answer(think("silence"), bash("true")),
		answer(bash("seq 1 30000")), // larger than a result may be
		answer(fakeapi.Block{Redacted: true}, text("redacted"), readFile("pixel.png")),
		answer(readFile("doc.pdf")),
		answer(readFile("nb.ipynb"), readFile("binary.bin"), readFile("empty"), readFile("no/such/file")),
		answer(readFile("secret/key")),
		answer(call("Edit", m("file_path", "a.txt", "old_string", "one", "new_string", "$& $1 \\1")), think("between calls"),
			call("Edit", m("file_path", "a.txt", "old_string", "not there", "new_string", "x"))),
		answer(call("NotAtool", m("x", 1)), in("Read", `{"file_path":17}`), in("Bash", `{}`)),
		answer(think("odd JSON"), in("Bash", `{ "description" : "\u00e9\u003c\/\ud83d\ude00" ,  "command":"echo \"q\" \u0026\u0026 echo \u2028" , "timeout": 1.0e4 }`)),
		answer(think("done with the first"), text("First part done. 日本語 \u0000\u0001 𝄞")),

		answer(call("TodoWrite", m("todos", []any{m("content", "one", "status", "in_progress", "activeForm", "doing one")}))),
		answer(think("again"), readFile("a.txt")),
		answer(call("Write", m("file_path", "new.txt", "content", "fresh\n"))),
		answer(call("NotebookEdit", m("notebook_path", "nb.ipynb", "cell_id", "c1", "new_source", "print(2)"))),
		answer(bash("rm notes.md; echo gone")),
		answer(readFile("sub/x.txt")), // brings the rules of its directory along
		answer(bash("cd sub && pwd")),
		answer(bash("pwd"), bash("cd .. && pwd")),
		answer(call("Bash", m("command", "echo from behind; touch behind", "run_in_background", true))),
		answer(text("waiting"), bash("until [ -e behind ]; do sleep 0.02; done; sleep 0.3; echo waited")),
		answer(call("WebFetch", m("url", "http://127.0.0.1:1/", "prompt", "what"))),
		answer(fakeapi.Block{Tool: "Glob", Input: json.RawMessage(`{"pattern":"*"}`), Chunks: []string{`{"pat`, `tern"`, `:"*.md"}`}}),
		answer(think("a thought of its own")),

		answer(text("third"), readFile("a.txt"), readFile("new.txt")),
		answer(bash("git status --short 2>&1; echo $?")),
		answer(bash("echo a line > a.txt; rm new.txt")),
		answer(readFile("a.txt"), readFile("new.txt"), readFile("crlf.txt"), readFile("more.md")),
		answer(think("x"), call("Edit", m("file_path", "crlf.txt", "old_string", "one\ntwo", "new_string", "1\n2"))),
		answer(call("Grep", m("pattern", "nothing at all like this"))),
		answer(call("Grep", m("pattern", "(", "path", "."))),
		answer(bash("echo unclosed \"")),
		answer(bash("cat <<'EOF'\nit's\nEOF")),
		answer(bash("touch -d 2001-01-01 a.txt")),
		answer(think("nearly"), call("TodoWrite", m("todos", []any{m("content", "one", "status", "completed", "activeForm", "doing one")}))),
		answer(readFile("pixel.png"), readFile("pixel.png")),
		answer(think("the end"), text("All done.   ")),
	}
}

var cacheMark = regexp.MustCompile(`,"cache_control":\{"type":"ephemeral"(,"ttl":"[^"]*")?\}`)

// extend fails the test where a request is not the one before and more. Inside JSON strings every quote is
// escaped, so the pattern of a cache mark meets marks only.
func extend(t *testing.T, calls []fakeapi.Request) {
	t.Helper()
	var before map[string]json.RawMessage
	for _, c := range calls {
		var now map[string]json.RawMessage
		if err := json.Unmarshal(cacheMark.ReplaceAll(c.Body, nil), &now); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(now["messages"], []byte(`"cache_control":`)) {
			t.Fatalf("request %d has cache marks of another form", c.N)
		}
		if before != nil {
			compare(t, c.N, before, now)
		}
		before = now
	}
}

func compare(t *testing.T, n int, before, now map[string]json.RawMessage) {
	t.Helper()
	for key := range now {
		if _, had := before[key]; !had {
			t.Errorf("request %d has a new field %s", n, key)
		}
	}
	for key, was := range before {
		is := now[key]
		if key == "messages" {
			was = bytes.TrimSuffix(was, []byte("]"))
			is = is[:min(len(was), len(is))]
		}
		if bytes.Equal(was, is) {
			continue
		}
		at := 0
		for at < min(len(was), len(is)) && was[at] == is[at] {
			at++
		}
		from := max(0, at-80)
		t.Fatalf("request %d: %s differs from what was sent before at byte %d:\nbefore …%s\nnow    …%s", n, key, at,
			was[from:min(len(was), at+120)], is[from:min(len(is), at+120)])
	}
}
