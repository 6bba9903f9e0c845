package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace gives the file at path (links resolved) the content data, all or nothing. was is the file that is
// replaced, whose mode and owner stay; nil makes a new file with mode 0644 less the umask, and the directories
// above it. check, when set, is called when everything is written and only the rename is left: its error stops
// the replacement. Whatever fails, the file is as it was and nothing is left beside it.
//
// Where the directory does not let a new file take the place of the old one, the file is written in place, with a
// copy kept until that is done.
func Replace(path string, data []byte, was fs.FileInfo, check func() error) error {
	if was == nil {
		return create(path, data, check)
	}
	if was.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("%s is read-only (mode %04o): %w; change its mode first if it is meant to be changed",
			path, was.Mode().Perm(), fs.ErrPermission)
	}
	// A rename needs no right on the old file, but a person who took that right away means it.
	f, err := os.OpenFile(path, os.O_WRONLY|nonblock, 0)
	if err != nil {
		return explain(path, err)
	}
	_ = f.Close()
	err = swap(path, data, was, check)
	if mustStay(err) {
		return inPlace(path, data, check)
	}
	return err
}

// swap writes a new file beside the old one and renames it.
func swap(path string, data []byte, was fs.FileInfo, check func() error) error {
	t, err := newTemp(path)
	if err != nil {
		return fmt.Errorf("make a temporary file beside %s: %w", path, err)
	}
	defer t.discard()
	if _, err := t.file().Write(data); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if was != nil {
		keepOwner(t.file(), was) // before the mode: a new owner clears the setuid bits
		if err := t.file().Chmod(was.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)); err != nil {
			return fmt.Errorf("keep the mode of %s: %w", path, err)
		}
	}
	if err := t.file().Sync(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if check != nil {
		if err := check(); err != nil {
			return err
		}
	}
	if err := t.commit(); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}

func create(path string, data []byte, check func() error) error {
	made, err := mkdirAll(filepath.Dir(path))
	if err == nil {
		err = swap(path, data, nil, func() error {
			if check != nil {
				if err := check(); err != nil {
					return err
				}
			}
			if _, err := os.Lstat(path); err == nil {
				return fmt.Errorf("%s was made by someone else in the meantime: %w", path, fs.ErrExist)
			}
			return nil
		})
	}
	if err != nil {
		for _, dir := range made { // only empty ones go
			_ = os.Remove(dir)
		}
	}
	return err
}

// mkdirAll is os.MkdirAll that tells which directories it made, the deepest first.
func mkdirAll(dir string) (made []string, err error) {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		_, err := os.Stat(d)
		if err == nil || d == filepath.Dir(d) {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("make directory %s: %w", dir, err)
		}
		missing = append(missing, d)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return missing, fmt.Errorf("make directory %s: %w", dir, err)
	}
	return missing, nil
}

// inPlace overwrites the file's bytes. A crash or a full disk in the middle would lose data, so a copy of the old
// content is on disk elsewhere until all is written; when writing fails, the old content is put back, and when even
// that fails, the error says where the copy is.
func inPlace(path string, data []byte, check func() error) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|nonblock, 0)
	if err != nil {
		return explain(path, err)
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return explain(path, err)
	}
	old, err := readAll(f, info.Size(), MaxSize)
	if err != nil {
		return explain(path, err)
	}
	keep, err := backup(path, old)
	if err != nil {
		return fmt.Errorf("the directory of %s takes no new files, and a copy for writing in place failed: %w", path, err)
	}
	if check != nil {
		if err := check(); err != nil {
			_ = os.Remove(keep)
			return err
		}
	}
	if werr := overwrite(f, data); werr != nil {
		if overwrite(f, old) != nil {
			return fmt.Errorf("write %s: %w; its old content is in %s", path, werr, keep)
		}
		_ = os.Remove(keep)
		return fmt.Errorf("write %s: %w; its old content was put back", path, werr)
	}
	return os.Remove(keep)
}

func overwrite(f *os.File, data []byte) error {
	if _, err := f.WriteAt(data, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	return f.Sync()
}

func backup(path string, old []byte) (string, error) {
	t, err := os.CreateTemp("", "lathe-*-"+shortBase(path))
	if err != nil {
		return "", err
	}
	_, err = t.Write(old)
	if err == nil {
		err = t.Sync()
	}
	if cerr := t.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(t.Name())
		return "", err
	}
	return t.Name(), nil
}

// shortBase is the file's name, short enough to be part of another name.
func shortBase(path string) string {
	base := filepath.Base(path)
	return base[max(0, len(base)-100):]
}
