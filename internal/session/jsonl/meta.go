package jsonl

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"lathe/internal/msg"
	"lathe/internal/session"
)

// edge is how much of the head and of the tail of a file is looked at for a listing. Other programs that list
// sessions look at as much, so what they seek is kept within it.
const edge = 64 << 10

const promptLen = 200 // characters of Meta.Prompt

// readMeta learns about a session from the edges of its file. talk reports whether there is a conversation.
func readMeta(path string) (m session.Meta, talk bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return m, false, fmt.Errorf("open session: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return m, false, fmt.Errorf("open session: %w", err)
	}
	m = session.Meta{ID: idOf(path), Path: path, Modified: info.ModTime()}
	if !info.Mode().IsRegular() {
		return m, false, nil
	}
	head, err := readEdge(f, 0, min(info.Size(), 2*edge))
	if err != nil {
		return m, false, fmt.Errorf("read session %s: %w", path, err)
	}
	var tail []byte
	if info.Size() > 2*edge {
		head = head[:edge]
		if tail, err = readEdge(f, info.Size()-edge, edge); err != nil {
			return m, false, fmt.Errorf("read session %s: %w", path, err)
		}
	}
	e := edges{m: &m}
	e.read(head)
	first := e.entry
	e.read(tail)
	if m.Title = e.title; m.Title == "" {
		m.Title = e.aiTitle
	}
	m.Headless = strings.HasPrefix(first, "sdk") && strings.HasPrefix(e.entry, "sdk")
	return m, e.talk, nil
}

func readEdge(f io.ReaderAt, at, n int64) ([]byte, error) {
	buf := make([]byte, n)
	got, err := f.ReadAt(buf, at)
	if err == io.EOF {
		err = nil
	}
	return buf[:got], err
}

// edges collects what the lines at both ends of a file say.
type edges struct {
	m              *session.Meta
	title, aiTitle string
	entry          string
	talk           bool
}

func (e *edges) read(part []byte) {
	for text := range bytes.Lines(part) {
		l, ok := parseLine(bytes.TrimSpace(text))
		if !ok {
			e.cut(text)
			continue
		}
		e.line(&l)
	}
}

// line reads a whole line.
func (e *edges) line(l *line) {
	if l.has(flagSidechain) {
		return
	}
	if (l.kind == kindUser || l.kind == kindAssistant) && len(l.get(l.message)) > 0 {
		e.talk = true
	}
	eachField(l.all, func(key, v []byte) {
		s, ok := msg.Unquote(v)
		if !ok || s == "" {
			return
		}
		switch string(key) {
		case "customTitle":
			e.title = s
		case "aiTitle":
			e.aiTitle = s
		case "cwd":
			if e.m.Dir == "" {
				e.m.Dir = s
			}
		case "gitBranch":
			e.m.Branch = s
		case "entrypoint":
			e.entry = s
		case "timestamp":
			if e.m.Created.IsZero() {
				e.m.Created = parseTime([]byte(s))
			}
		}
	})
	if e.m.Prompt == "" && l.kind == kindUser && !l.has(flagMeta) && !l.has(flagSummary) {
		if m := decodeMessage(l); m != nil && m.Kind == msg.KindUser {
			e.m.Prompt = shorten(m.Text())
		}
	}
}

// cut reads what it can from a line of which only a part is here: an edge ends within it.
func (e *edges) cut(text []byte) {
	if bytes.Contains(text, []byte(`"type":"user"`)) || bytes.Contains(text, []byte(`"type":"assistant"`)) {
		e.talk = true
	}
	if e.m.Dir == "" {
		e.m.Dir = cutField(text, "cwd")
	}
	if e.m.Created.IsZero() {
		e.m.Created = parseTime([]byte(cutField(text, "timestamp")))
	}
	if s := cutField(text, "entrypoint"); s != "" {
		e.entry = s
	}
}

func cutField(text []byte, name string) string {
	_, rest, ok := bytes.Cut(text, []byte(`"`+name+`":`))
	if !ok {
		return ""
	}
	end := msg.SkipValue(rest, 0)
	if end < 0 {
		return ""
	}
	s, _ := msg.Unquote(rest[:end])
	return s
}

// shorten makes one short line of a prompt. The output of commands, which stands in tags, is no prompt.
func shorten(s string) string {
	s, _ = msg.Typed(s)
	s = strings.Join(strings.Fields(s), " ")
	if strings.HasPrefix(s, "<command-") || strings.HasPrefix(s, "<local-command-") || strings.HasPrefix(s, "<bash-") {
		return ""
	}
	if utf8.RuneCountInString(s) <= promptLen {
		return s
	}
	return string([]rune(s)[:promptLen]) + "…"
}
