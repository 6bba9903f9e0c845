package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Make opens the place of path as At does, and makes the directories that are missing on the way to it.
func Make(path string) (*Place, error) {
	p, made, err := makeDirs(path)
	for _, m := range made {
		_ = m.in.Close()
	}
	return p, err
}

// Lstat tells what stands at the name itself; a link is not followed. Nothing is an error that wraps fs.ErrNotExist.
func (p *Place) Lstat() (fs.FileInfo, error) { return p.dir.Lstat(p.base) }

// Readlink is where the link at the name points.
func (p *Place) Readlink() (string, error) { return p.dir.Readlink(p.base) }

// Put makes the name a regular file with the content and the mode, all or nothing. was is the file or link that it
// takes the place of, nil when there is none; anything else that stands there by then is left alone, which is an
// error. Unlike Replace it does not ask whether the file may be written to: it puts back what was there before.
func (p *Place) Put(data []byte, mode fs.FileMode, was fs.FileInfo) error {
	f, name, err := p.temp(0o600)
	if err != nil {
		return fmt.Errorf("make a temporary file beside %s: %w", p.path, err)
	}
	defer func() { _ = p.dir.Remove(name) }() // after a rename there is none
	if _, err = f.Write(data); err == nil {
		if was != nil && was.Mode().IsRegular() {
			keepOwner(f, was)
		}
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", p.path, err)
	}
	return p.put(name, was)
}

// PutLink makes the name a symbolic link. was is as for Put.
func (p *Place) PutLink(target string, was fs.FileInfo) error {
	for range 10 {
		f, name, err := p.temp(0o600) // only for a free name
		if err != nil {
			return fmt.Errorf("make a temporary file beside %s: %w", p.path, err)
		}
		_ = f.Close()
		_ = p.dir.Remove(name)
		err = p.dir.Symlink(target, name)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("make the link %s: %w", p.path, err)
		}
		defer func() { _ = p.dir.Remove(name) }()
		return p.put(name, was)
	}
	return fmt.Errorf("make the link %s: no free name beside it", p.path)
}

// put renames what was made to the name, where that is what it was still.
func (p *Place) put(name string, was fs.FileInfo) error {
	if err := p.still(was); err != nil {
		return err
	}
	if err := p.dir.Rename(name, p.base); err != nil {
		return fmt.Errorf("replace %s: %w", p.path, err)
	}
	return nil
}

// PutDir makes the name a directory of that mode, or gives the directory that is there the mode.
func (p *Place) PutDir(mode fs.FileMode) error {
	err := p.dir.Mkdir(p.base, mode)
	if errors.Is(err, fs.ErrExist) {
		info, serr := p.dir.Lstat(p.base)
		if serr == nil && info.IsDir() {
			err = nil
		}
	}
	if err == nil {
		err = p.chmod(mode)
	}
	if err != nil {
		return fmt.Errorf("make directory %s: %w", p.path, err)
	}
	return nil
}

// SetMode gives the file or directory was the mode.
func (p *Place) SetMode(mode fs.FileMode, was fs.FileInfo) error {
	if err := p.still(was); err != nil {
		return err
	}
	return p.chmod(mode)
}

// chmod changes the mode of what stands at the name, if that is no link.
func (p *Place) chmod(mode fs.FileMode) error {
	info, err := p.dir.Lstat(p.base)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return p.moved()
	}
	return p.dir.Chmod(p.base, mode)
}

// Remove removes the file or link was, or the directory was if it is empty.
func (p *Place) Remove(was fs.FileInfo) error {
	if err := p.still(was); err != nil {
		return err
	}
	if err := p.dir.Remove(p.base); err != nil {
		return fmt.Errorf("remove %s: %w", p.path, err)
	}
	return nil
}

// Missing lists the directories above path that do not exist, the deepest first.
func Missing(path string) []string {
	var out []string
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			return out
		}
		out = append(out, dir)
	}
}
