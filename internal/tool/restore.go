package tool

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"lathe/internal/file"
	"lathe/internal/msg"
)

// Bounds of what Restore looks at: the newest results matter, and a resume must be quick.
const (
	restoreFiles   = 50
	restoreResults = 500
)

// view is what the newest result for a file showed of it.
type view struct {
	text  string // content as it was shown, or as it was written
	start int    // first line shown, from 1; 0: all of the file
	lines int
}

// Restore fills the cache from the results of a resumed conversation, so that what was read before can be edited
// without another read, and what changed meanwhile is told. Files for which allowed is false are left out; it is
// called with absolute paths, links resolved.
func (c *ReadCache) Restore(messages []msg.Message, allowed func(path string) bool) {
	done := map[string]bool{}
	looked := 0
	for i := len(messages) - 1; i >= 0 && len(done) < restoreFiles && looked < restoreResults; i-- {
		m := &messages[i]
		if m.Kind == msg.KindSummary {
			return // what stands before it is not in the conversation any more
		}
		if len(m.ToolOutput) == 0 || m.ToolOutput[0] != '{' {
			continue
		}
		looked++
		path, v, ok := viewIn(m.ToolOutput)
		if path == "" || done[path] || !filepath.IsAbs(path) {
			continue
		}
		done[path] = true
		if real, err := file.Resolve(path); ok && err == nil && allowed(real) {
			c.restore(real, v)
		}
	}
}

// viewIn reads the structured output of Read, Write and Edit. ok is false when a file's state is not known from it.
func viewIn(output json.RawMessage) (path string, v view, ok bool) {
	var o struct {
		Type string `json:"type"`
		File struct {
			Path      string `json:"filePath"`
			Content   string `json:"content"`
			NumLines  int    `json:"numLines"`
			StartLine int    `json:"startLine"`
			Total     int    `json:"totalLines"`
		} `json:"file"`
		Path     string  `json:"filePath"`
		Content  string  `json:"content"`
		Old      string  `json:"oldString"`
		New      string  `json:"newString"`
		Original *string `json:"originalFile"`
		All      bool    `json:"replaceAll"`
		Notebook string  `json:"notebook_path"`
		Updated  string  `json:"updated_file"`
	}
	if json.Unmarshal(output, &o) != nil {
		return "", v, false
	}
	switch {
	case o.Type == "text" && o.File.Path != "":
		v = view{text: o.File.Content, start: o.File.StartLine, lines: o.File.NumLines}
		if o.File.StartLine == 1 && o.File.NumLines == o.File.Total {
			v.start = 0
		}
		return o.File.Path, v, o.File.NumLines > 0
	case (o.Type == "create" || o.Type == "update") && o.Path != "":
		return o.Path, view{text: o.Content}, true
	case o.Notebook != "":
		return o.Notebook, view{text: o.Updated}, o.Updated != ""
	case o.Path != "" && o.Original != nil:
		n := 1
		if o.All {
			n = -1
		}
		return o.Path, view{text: strings.Replace(*o.Original, o.Old, o.New, n)}, strings.Contains(*o.Original, o.Old)
	}
	return o.Path, v, false
}

// restore records a view if the file still shows it. A file that was seen whole and is another one now is recorded
// as it was, so that the difference is told.
func (c *ReadCache) restore(path string, v view) {
	f, err := file.Load(path, file.MaxSize)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && v.start == 0 {
			c.Put(path, State([]byte(v.text), nil))
		}
		return
	}
	now, err := file.Decode(f.Data)
	if err != nil || now.Enc == file.Other {
		return
	}
	state := State(f.Data, f.Info)
	switch {
	case v.start == 0 && file.LF(now.Body) == file.LF(v.text):
		c.Put(path, state)
	case v.start == 0 && now.Enc == file.UTF8 && !shortened(v.text):
		c.Put(path, State([]byte(v.text), nil))
	case v.start > 0 && strings.HasPrefix(fromLine(now.Body, v.start), v.text):
		state.Partial, state.Offset, state.Limit = true, v.start, v.lines
		c.Put(path, state)
	}
}

// shortened reports whether the text has a line that Read may have cut, so that it is not the file's.
func shortened(text string) bool {
	const shown = 2000
	for line := range strings.Lines(text) {
		if len(line) > shown {
			return true
		}
	}
	return false
}

// fromLine is the text from a line on, counted from 1.
func fromLine(s string, n int) string {
	for ; n > 1; n-- {
		_, rest, ok := strings.Cut(s, "\n")
		if !ok {
			return ""
		}
		s = rest
	}
	return s
}
