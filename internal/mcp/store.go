package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"lathe/internal/file"
)

// Store is the user's own entries and choices: for every directory, and for one. It is a file of the state directory.
// Entries of the file that other programs keep in the home directory are read too, and never written.
type Store struct {
	file  string
	other string // such as ~/.claude.json; empty: none
}

// NewStore returns the store below a state directory. other is a file of the same form that is read as well.
func NewStore(state, other string) Store {
	return Store{file: filepath.Join(state, "mcp.json"), other: other}
}

// File is where the user's own entries are kept.
func (s Store) File() string { return s.file }

// storeFile is the part of the documented form that is about MCP.
type storeFile struct {
	Servers  map[string]json.RawMessage `json:"mcpServers,omitempty"`
	Projects map[string]*projectPart    `json:"projects,omitempty"`
}

type projectPart struct {
	Servers  map[string]json.RawMessage `json:"mcpServers,omitempty"`
	Disabled []string                   `json:"disabledMcpServers,omitempty"` // switched off, of any scope
	Enabled  []string                   `json:"enabledMcpServers,omitempty"`
	Refused  []string                   `json:"disabledMcpjsonServers,omitempty"` // of .mcp.json
	Approved []string                   `json:"enabledMcpjsonServers,omitempty"`
}

func readStore(path string) (storeFile, error) {
	var out storeFile
	if path == "" {
		return out, nil
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // the second: its folder is a file
		return out, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		return storeFile{}, fmt.Errorf("the MCP servers in %s cannot be read: %w", path, err)
	}
	return out, nil
}

// Stored is what holds in a directory.
type Stored struct {
	User, Local       []Config
	Disabled, Refused []string // servers that are switched off; of .mcp.json: that were refused
	Problems          []Problem
	Errors            []error // files that cannot be read; the rest counts
}

// Load reads what holds in a project, which is known by any of its directories.
func (s Store) Load(projects ...string) Stored {
	var out Stored
	for _, name := range []string{s.file, s.other} {
		f, err := readStore(name)
		if err != nil {
			out.Errors = append(out.Errors, err)
			continue
		}
		user, problems := ParseServers(f.Servers, User, name)
		out.User, out.Problems = append(out.User, user...), append(out.Problems, problems...)
		for _, p := range slices.Compact(slices.Clone(projects)) {
			part := f.Projects[p]
			if p == "" || part == nil {
				continue
			}
			local, problems := ParseServers(part.Servers, Local, name)
			out.Local, out.Problems = append(out.Local, local...), append(out.Problems, problems...)
			out.Disabled, out.Refused = append(out.Disabled, part.Disabled...), append(out.Refused, part.Refused...)
		}
	}
	return out
}

// change rewrites the user's file. f gets the part of a project, or that of every directory where project is empty.
func (s Store) change(project string, f func(all *storeFile, part *projectPart)) error {
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", s.file, err)
	}
	defer file.Lock(context.Background(), s.file)()
	all, err := readStore(s.file)
	if err != nil {
		return fmt.Errorf("%w. Correct or remove it", err)
	}
	if all.Servers == nil {
		all.Servers = map[string]json.RawMessage{}
	}
	if all.Projects == nil {
		all.Projects = map[string]*projectPart{}
	}
	part := all.Projects[project]
	if part == nil {
		part = &projectPart{}
	}
	if part.Servers == nil {
		part.Servers = map[string]json.RawMessage{}
	}
	f(&all, part)
	if project != "" {
		all.Projects[project] = part
		if len(part.Servers)+len(part.Disabled)+len(part.Enabled)+len(part.Refused)+len(part.Approved) == 0 {
			delete(all.Projects, project)
		}
	}
	b, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = replaceFile(s.file, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", s.file, err)
	}
	return nil
}

// Put keeps an entry for every directory (User) or for a project (Local).
func (s Store) Put(scope Scope, project, name string, entry json.RawMessage) error {
	if scope == User {
		return s.change("", func(all *storeFile, _ *projectPart) { all.Servers[name] = entry })
	}
	return s.change(project, func(_ *storeFile, part *projectPart) { part.Servers[name] = entry })
}

// Remove takes an entry out. It reports whether there was one.
func (s Store) Remove(scope Scope, project, name string) (found bool, err error) {
	f, err := readStore(s.file)
	if err != nil {
		return false, err
	}
	if scope == User {
		if _, found = f.Servers[name]; found {
			err = s.change("", func(all *storeFile, _ *projectPart) { delete(all.Servers, name) })
		}
		return found, err
	}
	if part := f.Projects[project]; part != nil {
		if _, found = part.Servers[name]; found {
			err = s.change(project, func(_ *storeFile, part *projectPart) { delete(part.Servers, name) })
		}
	}
	return found, err
}

// Switch keeps whether a server is switched off in a project.
func (s Store) Switch(project, name string, on bool) error {
	return s.change(project, func(_ *storeFile, part *projectPart) {
		part.Disabled = slices.DeleteFunc(part.Disabled, func(n string) bool { return n == name })
		if !on {
			part.Disabled = append(part.Disabled, name)
		}
	})
}

// Reset forgets what was chosen of a project's own servers.
func (s Store) Reset(project string) error {
	return s.change(project, func(_ *storeFile, part *projectPart) {
		part.Refused, part.Approved, part.Disabled, part.Enabled = nil, nil, nil, nil
	})
}

// PutFile keeps an entry in a file such as .mcp.json, beside whatever else it holds.
func PutFile(path, name string, entry json.RawMessage) error {
	return changeFile(path, func(servers map[string]json.RawMessage) { servers[name] = entry })
}

// RemoveFile takes an entry out of such a file. It reports whether there was one.
func RemoveFile(path, name string) (found bool, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	f, err := readStore(path)
	if err != nil {
		return false, err
	}
	if _, found = f.Servers[name]; !found {
		return false, nil
	}
	return true, changeFile(path, func(servers map[string]json.RawMessage) { delete(servers, name) })
}

// changeFile changes the entries of a file that others write too, and that is the project's: it is there whole at any moment,
// with its mode, and where it is a link what that leads to is changed.
func changeFile(path string, f func(map[string]json.RawMessage)) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	defer file.Lock(context.Background(), path)()
	doc := map[string]json.RawMessage{}
	was, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		was = nil
	case err != nil:
		return err
	default:
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(b, &doc); err != nil {
			return fmt.Errorf("%s is not valid: %w", path, err)
		}
	}
	servers := map[string]json.RawMessage{}
	if raw, ok := doc["mcpServers"]; ok {
		if err := json.Unmarshal(raw, &servers); err != nil {
			return fmt.Errorf("mcpServers in %s: %w", path, err)
		}
	}
	if doc == nil { // the file says null
		doc = map[string]json.RawMessage{}
	}
	if servers == nil {
		servers = map[string]json.RawMessage{}
	}
	f(servers)
	if doc["mcpServers"], err = json.Marshal(servers); err != nil {
		return err
	}
	out, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return file.Replace(path, append(out, '\n'), was, nil)
}
