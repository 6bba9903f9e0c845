package jsonl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"lathe/internal/msg"
	"lathe/internal/session"
)

func testStore(t testing.TB) (Store, Start) {
	t.Helper()
	return Store{StateDir: t.TempDir(), Version: "0.1.0", Entrypoint: "cli"}, Start{Dir: t.TempDir(), Branch: "main"}
}

func user(id, parent, text string) msg.Message {
	return msg.Message{ID: id, Parent: parent, Kind: msg.KindUser, Time: stamp, Blocks: []msg.Block{msg.Text(text)}}
}

func answer(id, parent, api string, b ...msg.Block) msg.Message {
	return msg.Message{ID: id, Parent: parent, Kind: msg.KindAssistant, Time: stamp, APIID: api, Model: "m", Blocks: b}
}

func result(id, parent, use string) msg.Message {
	return msg.Message{ID: id, Parent: parent, Kind: msg.KindUser, Time: stamp, Blocks: []msg.Block{msg.ToolResult(use, false, msg.Text("out"))}}
}

var stamp = time.Date(2026, 8, 1, 12, 0, 0, 123e6, time.UTC)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEmptySessionLeavesNoFile(t *testing.T) {
	s, start := testStore(t)
	log, err := s.Create(start)
	must(t, err)
	must(t, log.Freeze(session.Frozen{System: []msg.Block{msg.Text("x")}}))
	must(t, log.Keep("title", "none"))
	must(t, log.Append(msg.Message{Kind: msg.KindUser, Virtual: true}))
	must(t, log.Close())
	if entries, err := os.ReadDir(s.StateDir); err != nil || len(entries) != 0 {
		t.Fatalf("%v, %v", entries, err)
	}
	if err := log.Append(user("a", "", "late")); !errors.Is(err, os.ErrClosed) {
		t.Fatalf("append after close: %v", err)
	}
}

func TestRecordShape(t *testing.T) {
	s, start := testStore(t)
	start.ID = "11111111-0000-4000-8000-000000000000"
	log, err := s.Create(start)
	must(t, err)
	must(t, log.Append(user("u1", "", "hi <there>")))
	if runtime.GOOS != "windows" {
		for path, want := range map[string]fs.FileMode{log.Path(): 0o600, filepath.Dir(log.Path()): 0o700 | fs.ModeDir} {
			if info, err := os.Stat(path); err != nil || info.Mode() != want {
				t.Errorf("%s: %v %v, want %v", path, info.Mode(), err, want)
			}
		}
	}
	data, err := os.ReadFile(log.Path())
	must(t, err)
	dir, err := json.Marshal(start.Dir)
	must(t, err)
	want := `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"` + start.ID + `","timestamp":"2026-08-01T12:00:00.123Z","cwd":` + string(dir) +
		`,"version":"0.1.0","gitBranch":"main","userType":"external","entrypoint":"cli","writer":"lathe","isSidechain":false,"message":{"role":"user","content":"hi <there>"}}` + "\n"
	if d := cmp.Diff(want, string(data)); d != "" {
		t.Fatal(d)
	}
	if _, err := s.Create(start); !errors.Is(err, session.ErrExists) {
		t.Fatalf("a taken id gives %v", err)
	}
}

func TestProjectName(t *testing.T) {
	long := "/home/user/" + strings.Repeat("a", 250)
	for in, want := range map[string]string{
		"/home/user/my.project_x": "-home-user-my-project-x",
		"/tmp/é😀":                 "-tmp----",
		`C:\a b`:                  "C--a-b",
		long:                      "-home-user-" + strings.Repeat("a", 189) + "-f2vpct",
	} {
		if got := projectName(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

// drawBlock draws any block, with odd bytes in its texts.
func drawBlock(t *rapid.T) msg.Block {
	text := rapid.String().Draw(t, "text")
	switch rapid.IntRange(0, 6).Draw(t, "block") {
	case 0:
		return msg.Block{Type: msg.TypeThinking, Text: text, Signature: rapid.StringMatching("[a-z]{0,5}").Draw(t, "sig")}
	case 1:
		return msg.ToolUse("t"+text, "Read", json.RawMessage(`{"a":"<é\u00e9>","n":[1.50,-0]}`))
	case 2:
		return msg.ToolResult("t"+text, rapid.Bool().Draw(t, "err"), msg.Text(text), msg.Image("image/png", "AAAA"))
	case 3:
		raw := append(msg.AppendString([]byte(`{"type":"odd","x":`), text), '}')
		return msg.Block{Type: "odd", Raw: raw}
	case 4:
		return msg.Block{Type: msg.TypeRedactedThinking, Data: text}
	}
	return msg.Text(text)
}

func drawMessage(t *rapid.T, parent string) msg.Message {
	m := msg.Message{
		ID: uuid.NewString(), Parent: parent, Blocks: rapid.SliceOfN(rapid.Custom(drawBlock), 1, 3).Draw(t, "blocks"),
		Time: stamp.Add(time.Duration(rapid.IntRange(0, 1e9).Draw(t, "ms")) * time.Millisecond),
		Meta: rapid.Bool().Draw(t, "meta"), TranscriptOnly: rapid.Bool().Draw(t, "only"),
		Aborted: rapid.Bool().Draw(t, "aborted"),
	}
	m.Kind = rapid.SampledFrom([]msg.Kind{msg.KindUser, msg.KindAssistant, msg.KindAttachment, msg.KindSystem, msg.KindSummary, msg.KindTombstone}).Draw(t, "kind")
	switch m.Kind {
	case msg.KindUser:
		m.ToolOutput, m.SourceAssistant = json.RawMessage(`{"stdout":"<a>\u0000"}`), parent
	case msg.KindAssistant:
		m.APIID, m.Model, m.RequestID = "msg_"+m.ID, "model", "req"
		if rapid.Bool().Draw(t, "last") {
			m.StopReason = "end_turn"
			m.Usage = &msg.Usage{Input: 1, Output: 2, CacheWrite: 3, CacheRead: 4, CacheCreation: &msg.CacheCreation{FiveMinutes: 3}, ServiceTier: "standard"}
		}
		if m.Partial = rapid.Bool().Draw(t, "partial"); m.Partial && rapid.Bool().Draw(t, "counted") {
			m.Usage = &msg.Usage{Input: 5, Output: 1}
		}
		m.APIError = rapid.SampledFrom([]string{"", "rate_limit"}).Draw(t, "api error")
	case msg.KindAttachment:
		m.Source, m.Key = "memory", rapid.String().Draw(t, "key")
	case msg.KindSystem:
		m.Subtype, m.Level = msg.SubInformational, "info"
		m.Extra = rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`{"durationMs":5,"x":{"y":[]}}`), json.RawMessage(`{"type":"clash"}`)}).Draw(t, "extra")
	case msg.KindTombstone:
		m.Withdraws = []string{parent}
	}
	return m
}

// Whatever is appended comes back as it was, and so do the bytes that requests are made of.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := Store{StateDir: dir, Version: "0.1.0", Entrypoint: "sdk-cli"}
		log, err := s.Create(Start{Dir: dir})
		must2(t, err)
		frozen := session.Frozen{System: rapid.SliceOfN(rapid.Custom(drawBlock), 1, 3).Draw(t, "system"), Model: "m", Static: 1, Dir: "/a b", Tools: []msg.ToolDef{{
			Name: "Read", Description: rapid.String().Draw(t, "description"), InputSchema: json.RawMessage(`{"type":"object","description":"<a> & \u003cb>"}`),
		}}}
		must2(t, log.Freeze(frozen))
		var want []msg.Message
		parent := ""
		for range rapid.IntRange(1, 8).Draw(t, "n") {
			m := drawMessage(t, parent)
			parent = m.ID
			want = append(want, m)
		}
		cut := rapid.IntRange(1, len(want)).Draw(t, "cut")
		must2(t, log.Append(want[:cut]...))
		must2(t, log.Keep("cost", map[string]int{"n": cut}))
		must2(t, log.Append(want[cut:]...))
		must2(t, log.Keep("title", "A <title>"))
		must2(t, log.Close())
		state, err := Read(log.Path(), "")
		must2(t, err)
		if len(state.Notes) > 0 {
			t.Fatal(state.Notes)
		}
		if d := cmp.Diff(want, state.Messages, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("messages (-want +got)\n%s", d)
		}
		if d := cmp.Diff(&frozen, state.Frozen, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("frozen (-want +got)\n%s", d)
		}
		for i, m := range state.Messages {
			if a, b := msg.AppendBlocks(nil, want[i].Blocks), msg.AppendBlocks(nil, m.Blocks); !bytes.Equal(a, b) {
				t.Fatalf("bytes changed from %s to %s", a, b)
			}
		}
		if a, b := msg.AppendBlocks(nil, frozen.System), msg.AppendBlocks(nil, state.Frozen.System); !bytes.Equal(a, b) {
			t.Fatalf("frozen bytes changed from %s to %s", a, b)
		}
		kept := map[string]json.RawMessage{"cost": fmt.Appendf(nil, `{"n":%d}`, cut), "title": json.RawMessage(`"A <title>"`)}
		if string(state.Kept["cost"]) != string(kept["cost"]) || state.Meta.Title != "A <title>" || !state.Meta.Headless {
			t.Fatalf("kept %s, meta %+v", state.Kept, state.Meta)
		}
	})
}

func must2(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// A crash can cut the file anywhere. What was whole before stays, the next session goes on, nothing else is lost.
func TestCutAtEveryByte(t *testing.T) {
	s, start := testStore(t)
	log, err := s.Create(start)
	must(t, err)
	must(t, log.Append(user("u1", "", "first")))
	info, err := os.Stat(log.Path())
	must(t, err)
	from := int(info.Size())
	must(t, log.Append(answer("a1", "u1", "m1", msg.Text("é\n\"x\""), msg.ToolUse("t1", "Read", json.RawMessage(`{"a":{"b":1}}`)))))
	must(t, log.Append(result("r1", "a1", "t1")))
	must(t, log.Close())
	data, err := os.ReadFile(log.Path())
	must(t, err)
	whole := strings.Count(string(data), "\n")
	for n := from; n <= len(data); n++ {
		must(t, os.WriteFile(log.Path(), data[:n], 0o600))
		state, again, err := s.OpenPath(start, log.Path())
		must(t, err)
		have := strings.Count(string(data[:n]), "\n")
		torn := n > 0 && data[n-1] != '\n'
		if torn && n+1 <= len(data) && data[n] == '\n' {
			have, torn = have+1, false // only the line end is missing
		}
		if len(state.Messages) != have || (len(state.Notes) > 0) != torn {
			t.Fatalf("cut at %d: %d messages, want %d; notes %q", n, len(state.Messages), have, state.Notes)
		}
		must(t, again.Append(user("u2", state.Messages[have-1].ID, "next")))
		must(t, again.Close())
		if state, err = Read(log.Path(), ""); err != nil || len(state.Messages) != have+1 || state.Messages[have].ID != "u2" {
			t.Fatalf("cut at %d, then appended: %d messages of %d, %v", n, len(state.Messages), whole, err)
		}
	}
}

// When the disk is full, the error is told, the file is as it was, and a later append works.
func TestShortWriteIsTakenBack(t *testing.T) {
	s, start := testStore(t)
	log, err := s.Create(start)
	must(t, err)
	must(t, log.Append(user("u1", "", "first")))
	before, err := os.ReadFile(log.Path())
	must(t, err)
	full := errors.New("no space left on device")
	log.write = func(f *os.File, b []byte) (int, error) {
		n, _ := f.Write(b[:len(b)/2])
		return n, full
	}
	if err := log.Append(answer("a1", "u1", "m", msg.Text("x"))); !errors.Is(err, full) {
		t.Fatalf("got %v", err)
	}
	after, err := os.ReadFile(log.Path())
	must(t, err)
	if d := cmp.Diff(string(before), string(after)); d != "" {
		t.Fatal(d)
	}
	log.write = (*os.File).Write
	must(t, log.Append(answer("a1", "u1", "m", msg.Text("x"))))
	must(t, log.Close())
	state, err := Read(log.Path(), "")
	if err != nil || len(state.Messages) != 2 || len(state.Notes) != 0 {
		t.Fatalf("%+v %v", state, err)
	}
}

func TestUnwritableStateDir(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	log, err := Store{StateDir: file}.Create(Start{Dir: "/"})
	must(t, err)
	if err := log.Append(user("u", "", "x")); err == nil {
		t.Fatal("no error although the state directory is a file")
	}
}

// Broken raw JSON from a tool or a model must not break the file.
func TestBrokenRawJSON(t *testing.T) {
	s, start := testStore(t)
	log, err := s.Create(start)
	must(t, err)
	m := answer("a1", "", "m", msg.ToolUse("t", "Read", json.RawMessage(`{"a`)), msg.ToolUse("t2", "Read", json.RawMessage("{\n\"a\": 1}")))
	m.ToolOutput = json.RawMessage("not json\n")
	odd := answer("a2", "a1", "m2", msg.Block{Type: "strange", Raw: json.RawMessage(`{"type":`)})
	odd.Extra = json.RawMessage("not json")
	must(t, log.Append(m, odd))
	state, err := Read(log.Path(), "")
	must(t, err)
	want := []msg.Block{msg.ToolUse("t", "Read", json.RawMessage(`"{\"a"`)), msg.ToolUse("t2", "Read", json.RawMessage(`{"a":1}`))}
	if d := cmp.Diff(want, state.Messages[0].Blocks); d != "" || len(state.Notes) > 0 {
		t.Fatal(d, state.Notes)
	}
	if d := cmp.Diff([]msg.Block{msg.Text(`{"type":`)}, state.Messages[1].Blocks); d != "" {
		t.Error(d)
	}
}

// State that waited for the first message is written once.
func TestStateBeforeTheFirstMessage(t *testing.T) {
	s, start := testStore(t)
	log, err := s.Create(start)
	must(t, err)
	must(t, log.Keep("title", "mine"))
	must(t, log.Append(user("u1", "", "a")))
	must(t, log.Append(user("u2", "u1", "b")))
	data, err := os.ReadFile(log.Path())
	must(t, err)
	if n := strings.Count(string(data), "mine"); n != 1 {
		t.Errorf("%d times:\n%s", n, data)
	}
}

// A file that became shorter while it was read is read as far as it is there.
func TestReadOfAShorterFile(t *testing.T) {
	for _, size := range []int{10, 3 * chunkSize / 2} {
		text := []byte(strings.Repeat("x", size))
		if got, err := readAll(bytes.NewReader(text), int64(2*size)); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%d of %d bytes, %v", len(got), size, err)
		}
	}
}

const writers, perWriter = 3, 60

// TestWriterProcess is the body of the processes that TestManyProcesses starts.
func TestWriterProcess(t *testing.T) {
	path := os.Getenv("JSONL_WRITER_PATH")
	if path == "" {
		t.Skip("SKIPPED: it runs only as a child of TestManyProcesses")
	}
	name := os.Getenv("JSONL_WRITER_NAME")
	log := newLog(path, header{session: idOf(path), dir: "/", version: name})
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // all begin at once
	parent := "root"
	for i := range perWriter {
		id := fmt.Sprintf("%s-%d", name, i)
		must(t, log.Append(user(id, parent, strings.Repeat(name, 1+i*50)), answer(id+"a", id, id, msg.Text("x"))))
		parent = id + "a"
	}
	must(t, log.Close())
}

// Several processes on one session: no record is torn or lost, each has its own branch, the newest is resumed.
func TestManyProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	log := newLog(path, header{session: "s"})
	must(t, log.Append(user("root", "", "hello")))
	exe, err := os.Executable()
	must(t, err)
	var cmds []*exec.Cmd
	var gates []io.WriteCloser
	for i := range writers {
		cmd := exec.Command(exe, "-test.run", "^TestWriterProcess$")
		cmd.Env = append(os.Environ(), "JSONL_WRITER_PATH="+path, fmt.Sprintf("JSONL_WRITER_NAME=w%d", i))
		gate, err := cmd.StdinPipe()
		must(t, err)
		must(t, cmd.Start())
		cmds, gates = append(cmds, cmd), append(gates, gate)
	}
	for _, g := range gates {
		must(t, g.Close())
	}
	for _, c := range cmds {
		must(t, c.Wait())
	}
	f, err := readFile(path)
	must(t, err)
	if want := 1 + writers*perWriter*2; f.bad+f.odd > 0 || len(f.lines) != want {
		t.Fatalf("%d records, want %d; %d bad", len(f.lines), want, f.bad)
	}
	state, err := Read(path, "")
	must(t, err)
	newest := f.lines[len(f.lines)-1]
	if got := state.Messages[len(state.Messages)-1].ID; got != string(newest.get(newest.uuid)) || len(state.Messages) != 1+2*perWriter {
		t.Fatalf("resumed at %s with %d messages", got, len(state.Messages))
	}
}

// Programs that count the first record of each answer must find the final usage there, and its price.
func TestUsageIsCountedOnce(t *testing.T) {
	s, start := testStore(t)
	s.Cost = func(model string, u msg.Usage) float64 { return float64(u.Output) / 4 }
	log, err := s.Create(start)
	must(t, err)
	must(t, log.Append(user("u1", "", "hi")))
	part := msg.Message{
		ID: "a1", Parent: "u1", Kind: msg.KindAssistant, Blocks: []msg.Block{msg.Text("one")}, APIID: "m", Model: "x", RequestID: "r",
		Usage: &msg.Usage{Input: 7, Output: 1}, Partial: true,
	}
	last := part
	last.ID, last.Parent, last.Partial, last.StopReason, last.Usage = "a2", "a1", false, "end_turn", &msg.Usage{Input: 7, Output: 9}
	must(t, log.Append(part, last))
	must(t, log.Close())
	data, err := os.ReadFile(log.Path())
	must(t, err)
	type counted struct {
		Request *string  `json:"requestId"`
		Cost    *float64 `json:"costUSD"`
		Message struct {
			ID    string `json:"id"`
			Usage struct {
				Input  int `json:"input_tokens"`
				Output int `json:"output_tokens"`
			} `json:"usage"`
		} `json:"message"`
	}
	var got []string
	for _, l := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		var c counted
		must(t, json.Unmarshal([]byte(l), &c))
		text := fmt.Sprint(c.Message.ID, " ", c.Request != nil, " ", c.Message.Usage.Input, " ", c.Message.Usage.Output)
		if c.Cost != nil {
			text += fmt.Sprint(" $", *c.Cost)
		}
		got = append(got, text)
	}
	if d := cmp.Diff([]string{"m false 0 0", "m true 7 9 $2.25"}, got); d != "" {
		t.Error(d)
	}
	state, err := Read(log.Path(), "")
	must(t, err)
	if d := cmp.Diff([]msg.Message{part, last}, state.Messages[1:], cmpopts.IgnoreFields(msg.Message{}, "Time")); d != "" {
		t.Error(d)
	}
}
