package jsonl

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"lathe/internal/msg"
	"lathe/internal/session"
)

// ListAll returns the sessions of all working directories, the newest first.
func (s Store) ListAll() ([]session.Meta, error) {
	root := filepath.Join(s.StateDir, "projects")
	projects, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var paths []string
	for _, p := range projects {
		files, _ := os.ReadDir(filepath.Join(root, p.Name())) // what cannot be read is left out
		for _, f := range files {
			if isSessionFile(f) {
				paths = append(paths, filepath.Join(root, p.Name(), f.Name()))
			}
		}
	}
	list := metas(paths, func(session.Meta) bool { return true })
	slices.SortStableFunc(list, func(a, b session.Meta) int { return cmp.Compare(b.Modified.UnixNano(), a.Modified.UnixNano()) })
	return list, nil
}

// isSessionFile leaves out the transcripts of sub-agents, which some versions put beside those of sessions.
func isSessionFile(e fs.DirEntry) bool {
	return strings.HasSuffix(e.Name(), ext) && !strings.HasPrefix(e.Name(), "agent-") && !e.IsDir()
}

// Holds looks for a text in what was said in a session, without regard to case, and returns the place where it stands.
func Holds(path, text string) (where string, ok bool) {
	f, err := os.Open(path)
	if err != nil || text == "" {
		return "", false
	}
	defer f.Close()
	want := []byte(strings.ToLower(text))
	raw := bytes.ToLower(msg.AppendString(nil, text))
	raw = raw[1 : len(raw)-1] // as it stands in the file
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		line, err := readLine(r)
		if bytes.Contains(bytes.ToLower(line), raw) {
			if where, ok := spoken(line, want); ok {
				return where, true
			}
		}
		if err != nil {
			return "", false
		}
	}
}

// readLine returns the next line, however long it is.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	whole := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.ReadSlice('\n')
		whole = append(whole, line...)
	}
	return whole, err
}

// spoken reports whether a record is something that a person or the model said and holds the text.
func spoken(record, want []byte) (where string, ok bool) {
	l, ok := parseLine(bytes.TrimSpace(record))
	if !ok || l.has(flagMeta) || l.has(flagSidechain) || l.kind != kindUser && l.kind != kindAssistant {
		return "", false
	}
	m := decodeMessage(&l)
	if m == nil {
		return "", false
	}
	plain, _ := msg.Typed(m.Text())
	at := bytes.Index(bytes.ToLower([]byte(plain)), want)
	if at < 0 || at > len(plain) {
		return "", false
	}
	return around(plain, at, len(want)), true
}

// around cuts a text to what stands about a place.
func around(text string, at, n int) string {
	const before, after = 40, 80
	from, to := max(0, at-before), min(len(text), at+n+after)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return strings.Join(strings.Fields(text[from:to]), " ")
}
