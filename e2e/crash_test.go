package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// crashScript is a session with two turns' worth of everything that is written: attachments, thinking, text,
// parallel and single calls, failures, a withdrawn answer, a stored result, a cut answer.
func crashScript() *fakeapi.Script {
	think := fakeapi.Block{Thinking: "a thought"}
	half := answer(think, fakeapi.Block{Text: "withdrawn words"}, bash("echo never"))
	half.Faults = []fakeapi.Fault{{Kind: fakeapi.FaultReset, AfterEvents: 12}}
	half.Chunk = 6
	return fakeapi.Sequence(
		answer(think, fakeapi.Block{Text: "I look."}, readFile("a.txt"), readFile("missing.txt"), fakeapi.Call("Glob", map[string]any{"pattern": "*"})),
		half,
		answer(think, fakeapi.Block{Text: "I change it. ✓ 日本"}, bash("echo more >> a.txt"), bash("echo out; exit 3")),
		answer(fakeapi.Call("Edit", map[string]any{"file_path": "a.txt", "old_string": "more", "new_string": "less"}), bash("seq 1 20000")),
		fakeapi.Answer{Text: "cut ", StopReason: "max_tokens"},
		fakeapi.Answer{Blocks: []fakeapi.Block{think, {Text: "All is done."}}},
	)
}

var crashFlags = []string{"--permission-mode", "bypassPermissions", "--output-format", "stream-json", "--include-partial-messages"}

func (r *rig) crashSession() {
	r.t.Helper()
	r.file("a.txt", "content of a\n")
	r.file("CLAUDE.md", "rule seven\n")
	r.must(append([]string{"-p", "first words @a.txt"}, crashFlags...)...)
	r.legal()
}

// A kill leaves a transcript that ends anywhere. Cut behind every record and inside of records, the session goes
// on with a legal request in which everything stands that was whole before the cut.
func TestContinueFromAnyCut(t *testing.T) {
	t.Parallel()
	r := newRig(t, crashScript())
	r.crashSession()
	path := r.transcript()
	whole := []byte(r.read(path))
	cuts := cutPoints(whole)
	if !bytes.Contains(whole, []byte("withdrawn words")) {
		t.Error("the withdrawn answer was not on disk: it is there to be cut behind")
	}
	t.Logf("%d cuts of a transcript of %d bytes", len(cuts), len(whole))
	for i, at := range cuts {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			c := newRig(t, &fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
			c.dir = r.dir // where the session belongs; nothing is written there
			mine := filepath.Join(c.home, ".lathe", "projects", filepath.Base(filepath.Dir(path)), filepath.Base(path))
			if err := os.MkdirAll(filepath.Dir(mine), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(mine, whole[:at], 0o600); err != nil {
				t.Fatal(err)
			}
			want := spoken(t, whole[:at])
			o := c.run("-c", "-p", "and now")
			if len(want) == 0 { // nothing whole was there: said so, and nothing lost
				if o.code != 1 || !strings.Contains(o.err, "no session to continue") && !strings.Contains(o.err, "no messages") {
					t.Errorf("exit code %d\n%s", o.code, o.err)
				}
				return
			}
			if o.code != 0 {
				t.Fatalf("exit code %d\n%s\n%s", o.code, o.out, o.err)
			}
			c.legal()
			holds(t, c.last(), append(want, "and now"))
			if torn := at > 0 && whole[at-1] != '\n' && !json.Valid(whole[bytes.LastIndexByte(whole[:at], '\n')+1:at]); torn && i%2 == 0 && !strings.Contains(o.err, "could not be read") {
				t.Errorf("nothing was said of the torn line: %q", o.err)
			}
			if after := c.read(mine); !strings.HasPrefix(after, string(whole[:at])) {
				t.Error("what was there was changed")
			}
			if i%8 == 0 {
				c.goesOn(append(want, "and now", "well")...)
			}
		})
	}
}

// cutPoints are the ends of all records, and a byte inside of each: after its first, in its middle, before its
// last, before its line end, in turn.
func cutPoints(whole []byte) []int {
	var cuts []int
	start, n := 0, 0
	for i, b := range whole {
		if b != '\n' {
			continue
		}
		size := i - start
		inside := []int{start + 1, start + size/3, start + size - 1, i}
		cuts = append(cuts, inside[n%4], i+1)
		start = i + 1
		n++
	}
	return cuts
}

// spoken is what of the whole records in a transcript the model must be sent: prompts, text and calls of answers
// that were not withdrawn, results. What the program itself added is left out: it may stand in another place.
func spoken(t testing.TB, data []byte) []string {
	t.Helper()
	type record struct {
		UUID, Type, Subtype string
		Message             struct{ Content json.RawMessage }
		Withdraws           []string
		IsMeta              bool
	}
	type block struct {
		Type, Text, ID string
		ToolUseID      string `json:"tool_use_id"`
	}
	var all []record
	gone := map[string]bool{}
	for _, line := range bytes.Split(data, []byte("\n")) {
		var r record
		if json.Unmarshal(line, &r) == nil {
			all = append(all, r)
			for _, id := range r.Withdraws {
				gone[id] = true
			}
		}
	}
	var out []string
	for _, r := range all {
		if gone[r.UUID] || r.IsMeta || r.Type != "user" && r.Type != "assistant" {
			continue
		}
		var text string
		if json.Unmarshal(r.Message.Content, &text) == nil {
			out = append(out, text)
			continue
		}
		var blocks []block
		_ = json.Unmarshal(r.Message.Content, &blocks)
		for _, b := range blocks {
			switch b.Type {
			case "text":
				out = append(out, strings.TrimRight(b.Text, " "))
			case "tool_use":
				out = append(out, b.ID)
			case "tool_result":
				out = append(out, b.ToolUseID)
			}
		}
	}
	return out
}

// holds fails the test when a text is not in the request's messages behind the texts before it.
func holds(t testing.TB, req fakeapi.Request, texts []string) {
	t.Helper()
	rest := string(req.Body[bytes.Index(req.Body, []byte(`"messages":`)):])
	for _, want := range texts {
		_, after, found := strings.Cut(rest, quoted(want))
		if !found {
			t.Errorf("the request does not hold %q in its place:\n%s", want, req.Body)
			return
		}
		rest = after
	}
}

// A kill at any moment of a session: as the k-th line comes, and as the k-th call does. Everything that was shown
// as a message is in the next request.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	probe := newRig(t, crashScript())
	probe.file("a.txt", "content of a\n")
	lines := strings.Count(probe.must(append([]string{"-p", "first words"}, crashFlags...)...).out, "\n")
	step := max(1, lines/24)
	if testing.Short() {
		step *= 3
	}
	for k := 1; k < lines; k += step {
		t.Run(fmt.Sprintf("line %d of %d", k, lines), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, crashScript())
			r.file("a.txt", "content of a\n")
			p := r.start(append([]string{"-p", "first words"}, crashFlags...)...)
			for range k {
				p.line("")
			}
			shown := strings.Join(p.seen, "")
			_ = p.cmd.Process.Kill()
			p.wait()
			r.afterKill(shown)
		})
	}
	for k := 1; k <= 6; k++ {
		t.Run(fmt.Sprintf("call %d", k), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, crashScript())
			r.file("a.txt", "content of a\n")
			p := r.start(append([]string{"-p", "first words"}, crashFlags...)...)
			r.called(k, 0)
			_ = p.cmd.Process.Kill()
			p.wait()
			r.afterKill("")
		})
	}
}

// afterKill continues a killed session. What was shown as a message must be on disk, and what is on disk is sent.
func (r *rig) afterKill(shown string) {
	r.t.Helper()
	disk := ""
	if list := r.transcripts(); len(list) > 0 {
		disk = r.read(list[0])
	}
	for _, line := range strings.Split(shown, "\n") {
		var v struct{ Type, UUID string }
		if json.Unmarshal([]byte(line), &v) == nil && (v.Type == "assistant" || v.Type == "user") && !strings.Contains(disk, v.UUID) {
			r.t.Errorf("shown, but not on disk: %s", line)
		}
	}
	want := spoken(r.t, []byte(disk))
	r.serve(&fakeapi.Script{Default: &fakeapi.Answer{Text: "well"}})
	o := r.run("-c", "-p", "and now")
	if len(want) == 0 { // killed before the prompt was written
		if o.code != 1 || !strings.Contains(o.err, "no session to continue") {
			r.t.Errorf("exit code %d\n%s", o.code, o.err)
		}
		return
	}
	if o.code != 0 {
		r.t.Fatalf("exit code %d\n%s", o.code, o.err)
	}
	r.legal()
	holds(r.t, r.last(), append(want, "and now"))
}
