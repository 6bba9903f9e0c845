package jsonl

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/msg"
)

// bigSession writes a session of about the given size: reads, edits and commands with output, no compaction, so
// that all of it is live. Tool output repeats the results, as it does in real ones.
func bigSession(tb testing.TB, path string, size int) int {
	tb.Helper()
	log := newLog(path, header{session: idOf(path), dir: "/work/project", version: "0.1.0", branch: "main", entrypoint: "cli"})
	source := strings.Repeat("\tif err := s.load(ctx, name); err != nil {\n\t\treturn fmt.Errorf(\"load %q: %w\", name, err)\n\t}\n", 20)
	written, parent := 0, ""
	var batch []msg.Message
	add := func(m msg.Message) {
		m.ID = fmt.Sprintf("00000000-0000-4000-8000-%012d", written)
		m.Parent, parent = parent, m.ID
		m.Time = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(written) * time.Second)
		batch = append(batch, m)
		written++
	}
	for n := 0; ; n++ {
		id := fmt.Sprintf("toolu_%d", n)
		api := fmt.Sprintf("msg_%d", n)
		text := fmt.Sprintf("file %d\n%s", n, strings.Repeat(source, 1+n%3))
		if n%10 == 0 {
			add(msg.Message{Kind: msg.KindUser, Blocks: []msg.Block{msg.Text("Now look at the next part, please.")}})
		}
		add(msg.Message{Kind: msg.KindAssistant, APIID: api, Model: "m", RequestID: "req", Blocks: []msg.Block{{Type: msg.TypeThinking, Text: "I should read it.", Signature: strings.Repeat("Ab3=", 100)}}})
		add(msg.Message{
			Kind: msg.KindAssistant, APIID: api, Model: "m", RequestID: "req", StopReason: "tool_use", Usage: &msg.Usage{Input: 4, CacheRead: 50000, CacheWrite: 900, Output: 120},
			Blocks: []msg.Block{msg.ToolUse(id, "Read", json.RawMessage(`{"file_path":"/work/project/a.go"}`))},
		})
		out := append(append([]byte(`{"type":"text","file":{"filePath":"/work/project/a.go","content":`), msg.AppendString(nil, text)...), `}}`...)
		add(msg.Message{Kind: msg.KindUser, Blocks: []msg.Block{msg.ToolResult(id, false, msg.Text(text))}, ToolOutput: out, SourceAssistant: parent})
		if len(batch) > 1000 {
			if err := log.Append(batch...); err != nil {
				tb.Fatal(err)
			}
			batch = batch[:0]
			if info, err := os.Stat(path); err == nil && info.Size() >= int64(size) {
				break
			}
		}
	}
	if err := log.f.Close(); err != nil {
		tb.Fatal(err)
	}
	return written
}

// BenchmarkResume100MB is the time from a path to the messages of a session of 100 MB, all of it live.
func BenchmarkResume100MB(b *testing.B) {
	path := filepath.Join(b.TempDir(), "big.jsonl")
	want := bigSession(b, path, 100<<20)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		s, err := Read(path, "")
		if err != nil || len(s.Messages) != want {
			b.Fatalf("%d messages, want %d: %v", len(s.Messages), want, err)
		}
	}
}

// BenchmarkAppend is the cost of one message of a usual size, lock and all, without a sync.
func BenchmarkAppend(b *testing.B) {
	log := newLog(filepath.Join(b.TempDir(), "s.jsonl"), header{session: "s", dir: "/w", version: "0.1.0"})
	m := msg.Message{ID: "00000000-0000-4000-8000-000000000001", Kind: msg.KindUser, Time: time.Now(), Blocks: []msg.Block{msg.ToolResult("t", false, msg.Text(strings.Repeat("a line of output\n", 100)))}}
	for b.Loop() {
		if err := log.Append(m); err != nil {
			b.Fatal(err)
		}
	}
	_ = log.Close()
}
