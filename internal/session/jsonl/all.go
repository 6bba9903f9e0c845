package jsonl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/session"
)

// All returns the sessions of every working directory, the newest first. What cannot be read is left out.
func (s Store) All() ([]session.Meta, error) {
	paths, err := filepath.Glob(filepath.Join(s.StateDir, "projects", "*", "*"+ext))
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return strings.HasPrefix(filepath.Base(p), "agent-") })
	metas := make([]session.Meta, len(paths))
	talks := make([]bool, len(paths))
	parallel(len(paths), func(i int) {
		m, talk, err := readMeta(paths[i])
		metas[i], talks[i] = m, talk && err == nil
	})
	list := []session.Meta{}
	for i, m := range metas {
		if talks[i] {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b session.Meta) int { return b.Modified.Compare(a.Modified) })
	return list, nil
}

// Delete removes a session and what was stored beside it for good. One that does not exist is an error that wraps
// session.ErrNotFound.
func (s Store) Delete(dir, id string) error {
	m, err := s.findID(dir, id)
	if err != nil {
		return err
	}
	if !s.owns(m.Path) {
		return fmt.Errorf("session %s is kept by another program in %s; it is left alone", id, m.Path)
	}
	if err := os.Remove(m.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	return os.RemoveAll(sideDir(m.Path))
}
