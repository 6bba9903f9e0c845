package cli

import (
	"bytes"
	"encoding/json"
	"sync"

	"lathe/internal/event"
)

// mirror collects what is written to transcripts as lines for a host that keeps copies of them (--session-mirror).
type mirror struct {
	mu    sync.Mutex
	lines [][]byte
}

// wrote takes the records of one write.
func (m *mirror) wrote(path string, records []byte) {
	var entries []json.RawMessage
	for line := range bytes.Lines(records) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			entries = append(entries, bytes.Clone(line))
		}
	}
	line := event.Encode(map[string]any{"type": "transcript_mirror", "filePath": path, "entries": entries})
	m.mu.Lock()
	m.lines = append(m.lines, line)
	m.mu.Unlock()
}

// take returns the lines since it was last called.
func (m *mirror) take() [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.lines
	m.lines = nil
	return out
}
