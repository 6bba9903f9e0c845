package jsonl

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"lathe/internal/msg"
)

// Contents gives access to the content of each message in a session file by the message's id, whatever branch it is
// on. What others append meanwhile is not seen.
func Contents(path string) (func(id string) []msg.Block, error) {
	f, err := readFile(path)
	if err != nil {
		return nil, err
	}
	t := newTree(f.lines)
	return func(id string) []msg.Block {
		i, ok := t.index[id]
		if !ok || id == "" {
			return nil
		}
		if m := decodeMessage(&t.recs[i]); m != nil {
			return m.Blocks
		}
		return nil
	}, nil
}

// AgentAnswers returns the answers in the transcripts of a session's sub-agents, those of files that were written to
// since. What cannot be read is left out.
func AgentAnswers(path string, since time.Time) []msg.Message {
	var out []msg.Message
	for _, id := range Agents(path) {
		file := SubagentPath(path, id)
		if info, err := os.Stat(file); err != nil || info.ModTime().Before(since) {
			continue
		}
		f, err := readFile(file)
		if err != nil {
			continue
		}
		for i := range f.lines {
			if f.lines[i].kind != kindAssistant {
				continue
			}
			if m := decodeMessage(&f.lines[i]); m != nil {
				out = append(out, *m)
			}
		}
	}
	return out
}

// Agents returns the ids of the sub-agents of the session in the file path that have a transcript, in no special order.
func Agents(path string) []string {
	files, _ := filepath.Glob(SubagentPath(globbed(path), "*")) // the pattern is well formed
	out := make([]string, len(files))
	for i, file := range files {
		out[i] = strings.TrimPrefix(idOf(file), "agent-")
	}
	return out
}

// globbed is a path as a pattern that means only it.
func globbed(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
