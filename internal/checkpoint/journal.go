package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The types of records.
const (
	typePrompt = "prompt" // a prompt begins: Turn is its message's uuid
	typeRewind = "rewind" // files are put back: Turn is an id of its own, To the prompt
	typeChange = "change"
	typeBlind  = "blind" // commands ran in a directory (Path) that is not watched; Was says why
)

// record is one line of the log.
type record struct {
	Type string    `json:"type"`
	At   time.Time `json:"at"`
	Turn string    `json:"turn"`
	To   string    `json:"to,omitempty"`
	Path string    `json:"path,omitempty"` // absolute, links resolved
	By   string    `json:"by,omitempty"`   // the tool
	Was  State     `json:"was,omitzero"`
	Now  State     `json:"now,omitzero"`
}

// journal is the log of a session's changes. Several processes may append to one file.
type journal struct {
	path    string
	records []record
	turns   map[string]int // by id: its place in the order of turns
	order   []int          // the records that begin a turn

	f    *os.File
	read int64 // how much of the file is in records

	write func(f *os.File, b []byte) (int, error) // a test makes it fail
}

// refresh takes up what is in the file and not known yet.
func (j *journal) refresh() error {
	info, err := os.Stat(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		j.forget()
		return nil
	}
	if err != nil {
		return err
	}
	if j.f != nil {
		if mine, err := j.f.Stat(); err == nil && os.SameFile(mine, info) && info.Size() == j.read {
			return nil
		} else if err != nil || !os.SameFile(mine, info) || info.Size() < j.read {
			j.forget() // another process has shortened it
		}
	}
	if j.f == nil {
		f, err := os.OpenFile(j.path, os.O_RDWR|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		j.f = f
	}
	buf, err := io.ReadAll(io.NewSectionReader(j.f, j.read, 1<<62))
	if err != nil {
		return err
	}
	j.read += int64(len(buf))
	for line := range bytes.Lines(buf) {
		var r record
		if json.Unmarshal(line, &r) == nil { // else: a torn line of a process that was killed
			j.add(r)
		}
	}
	return nil
}

func (j *journal) forget() {
	if j.f != nil {
		_ = j.f.Close()
	}
	j.f, j.read, j.records, j.order, j.turns = nil, 0, nil, nil, map[string]int{}
}

func (j *journal) add(r record) {
	j.records = append(j.records, r)
	if r.Type != typePrompt && r.Type != typeRewind {
		return
	}
	if _, again := j.turns[r.Turn]; !again {
		j.turns[r.Turn] = len(j.order)
		j.order = append(j.order, len(j.records)-1)
	}
}

// append writes records, all in one write. The caller holds the lock of the file, and has refreshed.
func (j *journal) append(sync bool, list ...record) error {
	var buf []byte
	for _, r := range list {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		buf = append(append(buf, line...), '\n')
	}
	if j.f == nil {
		if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(j.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		j.f = f
	}
	if j.torn() {
		buf = append([]byte{'\n'}, buf...)
	}
	n, err := j.write(j.f, buf)
	if err == nil && n < len(buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		if n > 0 {
			err = errors.Join(err, j.f.Truncate(j.read))
		}
		return err
	}
	j.read += int64(n)
	for _, r := range list {
		j.add(r)
	}
	if sync {
		return j.f.Sync()
	}
	return nil
}

// torn reports whether the last line has no end.
func (j *journal) torn() bool {
	var last [1]byte
	if j.read == 0 {
		return false
	}
	_, err := j.f.ReadAt(last[:], j.read-1)
	return err == nil && last[0] != '\n'
}

// rewrite replaces the file by these records.
func (j *journal) rewrite(list []record) error {
	var buf bytes.Buffer
	for _, r := range list {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		buf.Write(append(line, '\n'))
	}
	name := j.path + ".new"
	if err := writeSynced(name, buf.Bytes()); err != nil {
		return err
	}
	if err := os.Rename(name, j.path); err != nil {
		return fmt.Errorf("shorten the list of checkpoints: %w", err)
	}
	j.forget()
	return j.refresh()
}

// writeSynced writes a file that is on the medium when it returns: what it replaces is then gone at any loss of power.
func writeSynced(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// place is where a record stands in the order of turns; -1 when its turn is not known.
func (j *journal) place(r record) int {
	if i, ok := j.turns[r.Turn]; ok {
		return i
	}
	return -1
}
