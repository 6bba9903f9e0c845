package jsonl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

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
