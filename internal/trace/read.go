package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Trace is what was recorded of a session.
type Trace struct {
	Records []Record // in the order in which they were written
	Skipped int      // lines that could not be read
	// Content is the content of a message of the transcript, as JSON; nil where there is none. Nil: nothing is known of it.
	Content func(id string) json.RawMessage

	mu    sync.Mutex
	file  *os.File
	blobs map[string]place
}

type place struct {
	at int64
	n  int
}

// Read reads the trace in dir. Where there is none, the error is fs.ErrNotExist. Close the trace after use.
func Read(dir string) (*Trace, error) {
	in, err := os.Open(filepath.Join(dir, recordsFile))
	if err != nil {
		return nil, fmt.Errorf("read the trace: %w", err)
	}
	defer in.Close()
	t := &Trace{blobs: map[string]place{}}
	if err := t.records(in); err != nil {
		return nil, fmt.Errorf("read the trace: %w", err)
	}
	t.file, err = os.Open(filepath.Join(dir, blobsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		err = eachBlob(t.file, func(hash string, at int64, n int) { t.blobs[hash] = place{at, n} })
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the trace: %w", err), t.Close())
	}
	return t, nil
}

// Blob returns a content, nil when it was not stored or cannot be read.
func (t *Trace) Blob(hash string) json.RawMessage {
	if id, ok := strings.CutPrefix(hash, stored); ok {
		if t.Content == nil {
			return nil
		}
		return t.Content(id)
	}
	t.mu.Lock()
	p, ok := t.blobs[hash]
	t.mu.Unlock()
	if !ok || t.file == nil {
		return nil
	}
	b := make([]byte, p.n)
	if _, err := t.file.ReadAt(b, p.at); err != nil || !json.Valid(b) {
		return nil
	}
	return b
}

// Close ends the use of the trace.
func (t *Trace) Close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// state is what the lists and fields of one run of the program were last.
type state struct {
	items   map[string][]Ref
	fields  map[string]any
	headers map[string]string
}

func (t *Trace) records(in io.Reader) error {
	runs := map[string]*state{}
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		raw, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(raw)) > 0 {
			var l line
			if json.Unmarshal(raw, &l) != nil || l.Stage == "" {
				t.Skipped++
			} else {
				s := runs[l.Run]
				if s == nil {
					s = &state{items: map[string][]Ref{}, fields: map[string]any{}}
					runs[l.Run] = s
				}
				t.Records = append(t.Records, s.record(l))
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (s *state) record(l line) Record {
	r := l.Record
	if r.Parent != "" {
		s.apply(l.After)
		if r.Call != nil {
			if r.Call.Headers == nil {
				r.Call.Headers = s.headers
			}
			s.headers = r.Call.Headers
		}
		r.After.Items = map[string][]Ref{}
		for _, name := range []string{System, Tools, Sent} {
			if list, ok := s.items[name]; ok && r.Call != nil && r.Stage != SideStage {
				r.After.Items[name] = slices.Clip(list)
			}
		}
		return r
	}
	s.apply(l.Before)
	r.Before = s.view()
	s.apply(l.After)
	r.After = s.view()
	return r
}

func (s *state) apply(d *deltas) {
	if d == nil {
		return
	}
	for name, v := range d.Fields {
		s.fields[name] = v
	}
	for name, item := range d.Items {
		old := s.items[name]
		if keep := max(item.Keep, 0); keep < len(old) {
			old = old[:keep:keep] // records hold what is cut off
		}
		s.items[name] = append(old, item.Add...) // a list that only grows is there once, however many records show it
	}
}

// view is the state as a record shows it. Its lists cannot grow in place.
func (s *state) view() View {
	v := View{Fields: maps.Clone(s.fields), Items: maps.Clone(s.items)}
	for name, list := range v.Items {
		v.Items[name] = slices.Clip(list)
	}
	return v
}
