package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"lathe/internal/front/tui/editor"
)

// draftPath is the file of one process's draft: <directory>.<pid>.json
func (s *Store) draftPath(pid int) string {
	return filepath.Join(s.drafts, slug(s.cwd)+"."+strconv.Itoa(pid)+".json")
}

// SaveDraft writes what is in the editor, in one step. An empty draft removes the file.
func (s *Store) SaveDraft(d editor.Draft) error {
	if strings.TrimSpace(d.Text) == "" {
		return s.DropDraft()
	}
	d, err := s.clean(d)
	if err != nil {
		return err
	}
	content, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return writeFile(s.draftPath(os.Getpid()), content)
}

// DropDraft removes this process's draft.
func (s *Store) DropDraft() error { return ignoreMissing(os.Remove(s.draftPath(os.Getpid()))) }

// Recover takes the newest draft that a process which no longer runs left in this working directory, and removes it and
// older ones.
func (s *Store) Recover() (editor.Draft, bool) {
	prefix := slug(s.cwd) + "."
	files, _ := filepath.Glob(filepath.Join(s.drafts, prefix+"*.json"))
	var newest os.FileInfo
	var found editor.Draft
	for _, f := range files {
		pid, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), prefix), ".json"))
		if err != nil || pid == os.Getpid() || running(pid) {
			continue
		}
		info, err := os.Stat(f)
		if err != nil {
			continue
		}
		content, err := os.ReadFile(f)
		var d editor.Draft
		if err == nil && json.Unmarshal(content, &d) == nil && d.Text != "" && (newest == nil || info.ModTime().After(newest.ModTime())) {
			newest, found = info, d
		}
		_ = os.Remove(f)
	}
	return s.Fill(found), newest != nil
}

// running reports whether a process exists. When the system cannot tell, it does.
func running(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	if runtime.GOOS == "windows" {
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || errors.Is(err, syscall.EPERM)
}
