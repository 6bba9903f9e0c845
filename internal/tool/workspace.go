package tool

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Workspace is where a session works. It is safe for concurrent use.
type Workspace struct {
	mu    sync.RWMutex
	cwd   string
	start string
	extra []string
	Home  string
}

// NewWorkspace returns a workspace that starts in dir (absolute, links resolved) with extra directories.
func NewWorkspace(dir, home string, extra ...string) *Workspace {
	return &Workspace{cwd: dir, start: dir, extra: extra, Home: home}
}

// Cwd is the current directory; it follows cd in shell commands while that stays inside the workspace.
func (w *Workspace) Cwd() string { w.mu.RLock(); defer w.mu.RUnlock(); return w.cwd }

// SetCwd changes the current directory.
func (w *Workspace) SetCwd(dir string) { w.mu.Lock(); w.cwd = dir; w.mu.Unlock() }

// Start is the directory that the session started in.
func (w *Workspace) Start() string { return w.start }

// Roots are the start directory and the extra directories.
func (w *Workspace) Roots() []string {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return append([]string{w.start}, w.extra...)
}

// RemoveRoot takes a further working directory back. The start stays one.
func (w *Workspace) RemoveRoot(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.extra = slices.DeleteFunc(slices.Clone(w.extra), func(d string) bool { return d == dir })
}

// AddRoot adds a directory.
func (w *Workspace) AddRoot(dir string) { w.mu.Lock(); w.extra = append(w.extra, dir); w.mu.Unlock() }

// Abs makes path absolute: ~ is the home directory, a relative path is below Cwd. It does not resolve links.
func (w *Workspace) Abs(path string) string {
	if w.Home != "" && (path == "~" || strings.HasPrefix(path, "~/")) {
		return filepath.Join(w.Home, path[1:])
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(w.Cwd(), path)
}

// Rel shortens path to one relative to Cwd where it is below it, for people and results.
func (w *Workspace) Rel(path string) string {
	if rel, err := filepath.Rel(w.Cwd(), path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}
