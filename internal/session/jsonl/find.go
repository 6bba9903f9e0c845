package jsonl

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/session"
)

// notFound is an error with the text that programs that drive a command line of this kind look for.
type notFound struct{ ref string }

func (e notFound) Error() string { return "No conversation found with session ID: " + e.ref }
func (e notFound) Unwrap() error { return session.ErrNotFound }

// Find looks for a session: by the absolute path of its file, by its id (in the project of the working directory
// first, then in all others, where exactly one may have it), or by its title in this project.
func (s Store) Find(dir, ref string) (session.Meta, error) {
	if filepath.IsAbs(ref) {
		return findPath(ref)
	}
	if ref != "" && !strings.ContainsAny(ref, `/\`) { // no id has one; a title may
		if m, err := s.findID(dir, ref); !errors.Is(err, session.ErrNotFound) {
			return m, err
		}
	}
	if ref != "" {
		if m, err := s.findTitle(dir, ref); !errors.Is(err, session.ErrNotFound) {
			return m, err
		}
	}
	return session.Meta{}, notFound{ref}
}

func findPath(path string) (session.Meta, error) {
	m, talk, err := readMeta(path)
	if err == nil && !talk {
		// What a listing passes over may be resumed all the same by one who names it: a sub-agent's file.
		if _, err := Read(path, ""); err != nil {
			return session.Meta{}, notFound{path}
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return session.Meta{}, notFound{path}
	}
	return m, err
}

func (s Store) findID(dir, id string) (session.Meta, error) {
	own := filepath.Join(s.ProjectDir(dir), id+ext)
	if m, talk, err := readMeta(own); err == nil && talk {
		return m, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	projects, err := os.ReadDir(filepath.Join(s.StateDir, "projects"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return session.Meta{}, fmt.Errorf("look for session %s: %w", id, err)
	}
	var found []session.Meta
	for _, p := range projects {
		path := filepath.Join(s.StateDir, "projects", p.Name(), id+ext)
		if m, talk, err := readMeta(path); err == nil && talk {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		return session.Meta{}, notFound{id}
	}
	return found[0], nil
}

func (s Store) findTitle(dir, title string) (session.Meta, error) {
	list, err := s.List(dir)
	if err != nil {
		return session.Meta{}, err
	}
	list = slices.DeleteFunc(list, func(m session.Meta) bool { return m.Title != title })
	switch len(list) {
	case 0:
		return session.Meta{}, notFound{title}
	case 1:
		return list[0], nil
	}
	var lines strings.Builder
	for _, m := range list[:min(len(list), 5)] { // the newest first
		prompt := []rune(strings.Join(strings.Fields(m.Prompt), " "))
		fmt.Fprintf(&lines, "\n  %s  %s  %s", m.ID, m.Modified.Local().Format("2006-01-02 15:04"), string(prompt[:min(len(prompt), 60)]))
	}
	return session.Meta{}, fmt.Errorf("resume %q: %w (%d in this project); use the id of one, the newest first:%s",
		title, session.ErrAmbiguous, len(list), lines.String())
}

// List returns the sessions of a working directory, the newest first. A file that cannot be read, or that holds
// no conversation, is left out.
func (s Store) List(dir string) ([]session.Meta, error) {
	paths, err := s.newest(dir)
	if err != nil {
		return nil, err
	}
	return metas(paths, func(m session.Meta) bool { return !s.stranger(m, dir) }), nil
}

// metas are the conversations among files, in their order, as far as they can be read and wanted says so.
func metas(paths []string, wanted func(session.Meta) bool) []session.Meta {
	all := make([]session.Meta, len(paths))
	talks := make([]bool, len(paths))
	parallel(len(paths), func(i int) {
		m, talk, err := readMeta(paths[i])
		all[i], talks[i] = m, talk && err == nil && wanted(m)
	})
	var list []session.Meta
	for i, m := range all {
		if talks[i] {
			list = append(list, m)
		}
	}
	return list
}

// Latest returns the newest session of a working directory. Those without a person before them (print mode, SDK)
// count only with headless.
func (s Store) Latest(dir string, headless bool) (session.Meta, error) {
	paths, err := s.newest(dir)
	if err != nil {
		return session.Meta{}, err
	}
	for _, path := range paths {
		if m, talk, err := readMeta(path); err == nil && talk && (headless || !m.Headless) && !s.stranger(m, dir) {
			return m, nil
		}
	}
	return session.Meta{}, fmt.Errorf("no conversation found to continue in %s: %w", dir, session.ErrNotFound)
}

// stranger says that a session is of another working directory whose folder has the same name: a-b and a/b share one.
// Else a folder could be named so that it goes on with another project's conversation.
func (s Store) stranger(m session.Meta, dir string) bool {
	if m.Dir == "" || strings.EqualFold(filepath.ToSlash(realPath(m.Dir)), filepath.ToSlash(realPath(dir))) {
		return false
	}
	return s.ProjectDir(m.Dir) == s.ProjectDir(dir)
}

// newest lists the session files of a working directory, the last changed first.
func (s Store) newest(dir string) ([]string, error) {
	project := s.ProjectDir(dir)
	entries, err := os.ReadDir(project)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	type file struct {
		path string
		at   int64
	}
	var files []file
	for _, e := range entries {
		if !isSessionFile(e) {
			continue
		}
		path := filepath.Join(project, e.Name())
		files = append(files, file{path, modified(path).UnixNano()})
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.path, b.path))
	})
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.path
	}
	return paths, nil
}
