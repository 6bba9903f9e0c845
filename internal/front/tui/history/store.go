package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe/internal/front/tui/editor"
)

// Entry is a prompt that was sent.
type Entry struct {
	Time    time.Time    `json:"time"`
	Dir     string       `json:"dir"` // working directory
	Session string       `json:"session,omitempty"`
	Draft   editor.Draft `json:"draft"`
}

// Store is the history of one working directory below a state directory.
type Store struct {
	dir    string // of histories
	drafts string
	cwd    string
	redact func(string) string
	now    func() time.Time
}

const (
	maxRead    = 4 << 20  // how much of a file's end is read
	maxFile    = 16 << 20 // from here on a file is put aside, the one that was aside before it goes
	maxEntries = 2000
	maxInline  = 16 << 10 // longer pastes stand in files of their own
)

// Open names a store. redact takes secrets out of text; nil leaves it as it is.
func Open(stateDir, cwd string, redact func(string) string) *Store {
	if redact == nil {
		redact = func(s string) string { return s }
	}
	return &Store{dir: filepath.Join(stateDir, "history"), drafts: filepath.Join(stateDir, "drafts"), cwd: cwd, redact: redact, now: time.Now}
}

// Path is the file of this working directory.
func (s *Store) Path() string { return filepath.Join(s.dir, slug(s.cwd)+".jsonl") }

// slug is a file name for a directory: its last elements to be read by people, and a hash to be unique.
func slug(dir string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' {
			return r
		}
		return '-'
	}, filepath.Base(dir))
	sum := sha256.Sum256([]byte(dir))
	return name[:min(len(name), 40)] + "-" + hex.EncodeToString(sum[:6])
}

// Add appends a prompt. Blank ones are not kept, and neither is one that equals the newest.
func (s *Store) Add(d editor.Draft, session string) error {
	if strings.TrimSpace(d.Text) == "" {
		return nil
	}
	d, err := s.clean(d)
	if err != nil {
		return err
	}
	if last := read(s.Path(), 2*maxInline); len(last) > 0 && same(last[len(last)-1].Draft, d) {
		return nil
	}
	line, err := json.Marshal(Entry{Time: s.now().UTC(), Dir: s.cwd, Session: session, Draft: d})
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return appendLine(s.Path(), line)
}

// clean redacts a draft and moves long pastes into files, whose name stands in their place.
func (s *Store) clean(d editor.Draft) (editor.Draft, error) {
	out := editor.Draft{Text: s.redact(d.Text), Parts: slices.Clone(d.Parts)}
	for i := range out.Parts {
		p := &out.Parts[i]
		p.Content = s.redact(p.Content)
		if p.Kind != editor.Pasted || len(p.Content) <= maxInline {
			continue
		}
		sum := sha256.Sum256([]byte(p.Content))
		name := hex.EncodeToString(sum[:])
		if err := writeOnce(filepath.Join(s.dir, "paste", name), p.Content); err != nil {
			return d, err
		}
		p.Content = pasteMark + name
	}
	return out, nil
}

const pasteMark = "\x00paste:" // no paste holds a NUL: the editor drops them

// Fill reads the long pastes of an entry's draft back. What is gone is told of in its place.
func (s *Store) Fill(d editor.Draft) editor.Draft {
	out := editor.Draft{Text: d.Text, Parts: slices.Clone(d.Parts)}
	for i := range out.Parts {
		name, ok := strings.CutPrefix(out.Parts[i].Content, pasteMark)
		if !ok {
			continue
		}
		content, err := os.ReadFile(filepath.Join(s.dir, "paste", filepath.Base(name)))
		if err != nil {
			content = []byte("[this pasted text is no longer stored]")
		}
		out.Parts[i].Content = string(content)
	}
	return out
}

// appendLine adds a line in one write. A line that a crash cut short stays alone on its line.
func appendLine(path string, line []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxFile {
		if err := os.Rename(path, path+".old"); err != nil {
			return fmt.Errorf("history: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	line = append(line, '\n')
	if end, err := f.Seek(0, io.SeekEnd); err == nil && end > 0 {
		last := []byte{0}
		if _, err := f.ReadAt(last, end-1); err == nil && last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	_, err = f.Write(line)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return nil
}

// Load reads the entries, oldest first, at most the newest 2,000. Consecutive duplicates are one; lines that cannot be
// read are left out. A history that is missing or unreadable is empty.
func (s *Store) Load() []Entry { return collapse(read(s.Path(), maxRead)) }

// LoadAll reads the entries of all working directories, in the order of time.
func (s *Store) LoadAll() []Entry {
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.jsonl"))
	var all []Entry
	for _, f := range files {
		all = append(all, read(f, maxRead)...)
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return a.Time.Compare(b.Time) })
	return collapse(all)
}

func read(path string, limit int64) []Entry {
	data, cut := tail(path, limit)
	if cut {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	var out []Entry
	for line := range bytes.Lines(data) {
		var e Entry
		if json.Unmarshal(line, &e) == nil && e.Draft.Text != "" {
			out = append(out, e)
		}
	}
	return out
}

func tail(path string, limit int64) (data []byte, cut bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }()
	if end, err := f.Seek(0, io.SeekEnd); err == nil && end > limit {
		if _, err := f.Seek(end-limit, io.SeekStart); err != nil {
			return nil, false
		}
		cut = true
	} else if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, false
	}
	data, _ = io.ReadAll(f)
	return data, cut
}

func collapse(in []Entry) []Entry {
	var out []Entry
	for _, e := range in {
		if n := len(out); n > 0 && same(out[n-1].Draft, e.Draft) {
			out[n-1] = e
			continue
		}
		out = append(out, e)
	}
	return out[max(0, len(out)-maxEntries):]
}

func same(a, b editor.Draft) bool { return a.Text == b.Text && slices.Equal(a.Parts, b.Parts) }

// writeOnce writes a file that is named after its content.
func writeOnce(path, content string) error {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	return writeFile(path, []byte(content))
}

// writeFile replaces a file in one step.
func writeFile(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	f, err := os.CreateTemp(dir, ".tmp-*") // 0600
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("history: %w", err)
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
