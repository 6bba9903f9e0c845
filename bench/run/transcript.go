package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/msg"
	"lathe/internal/session/jsonl"
)

// liveBytes is how much of the transcript stands behind its last compact boundary: some 1.5 MB, a well-filled window.
const liveBytes = 3 << 20

// writeTranscript writes a long-lived session as Lathe keeps it: file reads whose output is kept beside the result,
// compacted each time that the window was full.
func (b *bench) writeTranscript() error {
	if b.big != "" {
		return nil
	}
	store := jsonl.Store{StateDir: filepath.Join(b.dir, "home", ".lathe"), Version: "0.1.0", Entrypoint: "sdk-cli"}
	log, err := store.Create(jsonl.Start{Dir: b.repo, Branch: "main"})
	if err != nil {
		return err
	}
	w := &writer{log: log, repo: b.repo}
	w.add(msg.Message{Kind: msg.KindUser, Blocks: []msg.Block{msg.Text("Work through the files.")}})
	for since := 0; ; {
		size, err := w.flush()
		if err != nil {
			return err
		}
		if size >= b.transcript {
			break
		}
		if size-since >= liveBytes && b.transcript-size >= liveBytes {
			since = size
			w.compact()
		}
		for range 20 {
			w.step()
		}
	}
	b.big = log.ID()
	if err := log.Close(); err != nil {
		return err
	}
	info, err := os.Stat(log.Path())
	if err == nil {
		fmt.Fprintf(os.Stderr, "bench: transcript of %d MB, %d messages\n", info.Size()>>20, w.n)
	}
	return err
}

type writer struct {
	log    *jsonl.Log
	repo   string
	n      int
	parent string
	batch  []msg.Message
}

func (w *writer) add(m msg.Message) {
	m.ID = fmt.Sprintf("00000000-0000-4000-8000-%012d", w.n)
	m.Parent, w.parent = w.parent, m.ID
	m.Time = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(w.n) * time.Second)
	w.batch = append(w.batch, m)
	w.n++
}

// step is one call of Read and its result.
func (w *writer) step() {
	id, api := fmt.Sprintf("toolu_%d", w.n), fmt.Sprintf("msg_%d", w.n)
	text := string(source(w.n, fileSize(w.n)/2))
	path := filepath.Join(w.repo, fmt.Sprintf("file%d.go", w.n))
	input, _ := json.Marshal(map[string]string{"file_path": path})
	output, _ := json.Marshal(map[string]any{"type": "text", "file": map[string]any{"filePath": path, "content": text, "numLines": strings.Count(text, "\n")}})
	w.add(msg.Message{
		Kind: msg.KindAssistant, APIID: api, Model: "claude-opus-5-5", RequestID: "req", StopReason: "tool_use",
		Usage: &msg.Usage{Input: 4, CacheRead: 50_000, CacheWrite: 900, Output: 120}, Blocks: []msg.Block{msg.ToolUse(id, "Read", input)},
	})
	asked := w.parent
	w.add(msg.Message{Kind: msg.KindUser, Blocks: []msg.Block{msg.ToolResult(id, false, msg.Text(text))}, ToolOutput: output, SourceAssistant: asked})
}

func (w *writer) compact() {
	w.add(msg.Message{Kind: msg.KindSystem, Subtype: msg.SubCompactBoundary, Level: "info", Extra: json.RawMessage(`{"content":"Conversation compacted"}`)})
	w.add(msg.Message{Kind: msg.KindSummary, Blocks: []msg.Block{msg.Text("Earlier, many files were read and nothing was changed.")}})
}

// flush appends what was added and returns the size of the file.
func (w *writer) flush() (int, error) {
	if err := w.log.Append(w.batch...); err != nil {
		return 0, err
	}
	w.batch = w.batch[:0]
	info, err := os.Stat(w.log.Path())
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}
