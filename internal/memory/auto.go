package memory

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"lathe/internal/frontmatter"
)

// Limits of a project's memory.
const (
	IndexName  = "MEMORY.md"
	IndexLines = 200
	IndexBytes = 25 << 10
	nearLimit  = 0.9 // from here on the model is asked to keep the index short

	maxNotes   = 200      // that are looked at when some are chosen
	maxNoteLen = 64 << 10 // bytes of one note
)

// Auto is the memory of one project: an index and notes of one topic each, in a directory that the model writes.
type Auto struct{ Dir string }

// Index is the head of the index file.
type Index struct {
	Text         string
	Lines, Bytes int  // of the whole file, without front matter and comments
	Cut          bool // there is more than the head
}

// Near reports whether the index is close to its limits, and not over them.
func (x Index) Near() bool {
	return !x.Cut && (float64(x.Lines) > nearLimit*IndexLines || float64(x.Bytes) > nearLimit*IndexBytes)
}

// Path is the index file.
func (a Auto) Path() string { return filepath.Join(a.Dir, IndexName) }

// Holds reports whether a path lies in the memory's directory.
func (a Auto) Holds(path string) bool {
	return a.Dir != "" && (within(path, a.Dir) || within(real(path), real(a.Dir)))
}

// Head reads the index as far as it is given to the model: the first 200 lines or 25 KB. ok is false when there is
// none, or nothing in it.
func (a Auto) Head() (x Index, ok bool) {
	text, ok := readNote(a.Path(), maxFile)
	if !ok {
		return Index{}, false
	}
	_, body := frontmatter.Parse(text)
	body = strings.TrimSpace(stripComments(body))
	if body == "" {
		return Index{}, false
	}
	lines := strings.SplitAfter(body, "\n")
	x = Index{Lines: len(lines), Bytes: len(body)}
	head := strings.Join(lines[:min(len(lines), IndexLines)], "")
	if len(head) > IndexBytes {
		end := IndexBytes
		for end > 0 && !utf8.RuneStart(head[end]) {
			end--
		}
		head = head[:end]
	}
	x.Text, x.Cut = strings.TrimRight(head, "\n"), len(head) < len(body)
	return x, true
}

// Note is one topic file of the memory.
type Note struct {
	Path, Name, Description, Type string
	Modified                      time.Time
	Text                          string
}

// Notes reads the topic files, the newest first.
func (a Auto) Notes() []Note {
	entries, err := os.ReadDir(a.Dir)
	if err != nil {
		return nil
	}
	var out []Note
	for _, e := range entries {
		if e.Name() == IndexName || !strings.HasSuffix(e.Name(), ".md") || len(out) == maxNotes {
			continue
		}
		path := filepath.Join(a.Dir, e.Name())
		text, ok := readNote(path, maxNoteLen)
		info, err := os.Stat(path)
		if !ok || err != nil {
			continue
		}
		f, body := frontmatter.Parse(text)
		n := Note{Path: path, Name: e.Name(), Description: f.Text("description"), Type: f.Text("type"), Modified: info.ModTime(), Text: strings.TrimSpace(body)}
		if at, err := time.Parse(time.RFC3339, f.Text("modified")); err == nil {
			n.Modified = at
		}
		if n.Description == "" {
			n.Description, _, _ = strings.Cut(n.Text, "\n")
		}
		out = append(out, n)
	}
	slices.SortStableFunc(out, func(x, y Note) int { return y.Modified.Compare(x.Modified) })
	return out
}

func readNote(path string, limit int64) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > limit {
		return "", false
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	return strings.ToValidUTF8(strings.TrimPrefix(string(b), "\ufeff"), "\ufffd"), true
}

// Stamp sets the field modified in the front matter of a note that is about to be written. Content without front
// matter, and a file that is no note, come back as they are.
func Stamp(data []byte, now time.Time) []byte {
	head, body, ok := frontmatter.Split(string(data))
	if !ok || !utf8.Valid(data) {
		return data
	}
	eol := "\n"
	if bytes.HasPrefix(data, []byte("---\r\n")) {
		eol = "\r\n"
	}
	line := fmt.Sprintf("modified: %s%s", now.UTC().Format(time.RFC3339), eol)
	var b strings.Builder
	set := false
	for _, l := range strings.SplitAfter(head, "\n") {
		if strings.HasPrefix(l, "modified:") {
			if !set {
				b.WriteString(line)
			}
			set = true
			continue
		}
		b.WriteString(l)
	}
	if !set {
		b.WriteString(line)
	}
	return []byte("---" + eol + b.String() + string(data[len(data)-len(body)-closing(data, body):]))
}

// closing is the length of the line that ends the head.
func closing(data []byte, body string) int {
	end := len(data) - len(body)
	start := end
	if start > 0 && data[start-1] == '\n' {
		start--
	}
	return end - (bytes.LastIndexByte(data[:start], '\n') + 1)
}
