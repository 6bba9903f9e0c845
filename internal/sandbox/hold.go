package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// state is how a name was before a command.
type state struct {
	path string
	link string // where it led; empty when there was nothing
	bare bool   // its directory was a repository by itself
}

// remember notes names that the sandbox cannot keep from being changed: a link cannot be covered by a mount, and
// of some names git reads a placeholder.
func remember(paths []string) []state {
	var out []state
	for _, path := range paths {
		link, err := os.Readlink(path)
		if err != nil && exists(path) && filepath.Base(path) != "HEAD" {
			continue // no link any more: it is kept by other means
		}
		out = append(out, state{path, link, isGitDir(filepath.Dir(path))})
	}
	return out
}

// restore puts names back and says which had changed. Their directories are pinned, so that the paths still lead
// where they led.
func restore(before []state) []string {
	var notes []string
	for _, s := range before {
		name := filepath.Base(s.path)
		if name == "HEAD" && (s.bare || !isGitDir(filepath.Dir(s.path))) {
			continue // a file like any other: the directory is no repository for it
		}
		link, err := os.Readlink(s.path)
		if err == nil && link == s.link || errors.Is(err, fs.ErrNotExist) && s.link == "" {
			continue
		}
		if name == ".git" && s.link == "" && err != nil && isDir(s.path) {
			if note := tame(s.path); note != "" {
				notes = append(notes, note)
			}
			continue
		}
		if err := putBack(s); err != nil {
			notes = append(notes, fmt.Sprintf("The command changed %s, which decides what programs run, and it could not be put back (%v): look at it before you go on.", s.path, err))
			continue
		}
		notes = append(notes, fmt.Sprintf("The sandbox took back a change of %s, which decides what programs run.", s.path))
	}
	return notes
}

func putBack(s state) error {
	root, err := os.OpenRoot(filepath.Dir(s.path))
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	name := filepath.Base(s.path)
	if err := root.RemoveAll(name); err != nil {
		return err
	}
	if s.link == "" {
		return nil
	}
	return root.Symlink(s.link, name)
}

// setAside moves what came to be under names that must stay absent to names that mean nothing, and says so.
func setAside(paths []string) []string {
	var notes []string
	for _, path := range paths {
		if !exists(path) {
			continue
		}
		to, err := rename(path)
		if err != nil {
			notes = append(notes, fmt.Sprintf("The command made %s, which decides what programs run, and it could not be moved aside (%v): look at it before you go on.", path, err))
			continue
		}
		notes = append(notes, fmt.Sprintf("The sandbox moved what the command made under %s, which decides what programs run, to %s.", path, to))
	}
	return notes
}

// rename gives a file a free name beside it.
func rename(path string) (to string, err error) {
	for i := 1; i <= 1000; i++ {
		to = fmt.Sprintf("%s.from-sandbox-%d", path, i)
		if !exists(to) {
			return to, os.Rename(path, to)
		}
	}
	return "", errors.New("there are too many beside it")
}

// leftover says that a path is a placeholder that a killed session could not remove: it is held like one, and goes
// with it.
func leftover(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 || !slices.Contains(slices.Concat(rootNames, homeNames), filepath.Base(path)) {
		return false
	}
	entries, err := os.ReadDir(path)
	return err == nil && len(entries) == 0
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
