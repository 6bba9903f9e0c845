package perm

import (
	"io/fs"
	"os"
)

// Env is everything that a decision depends on besides the call. Decide only reads it.
type Env struct {
	Rules     *Ruleset // nil means no rules
	Mode      Mode     // empty means default
	Workspace Workspace
	// Platform is "linux", "darwin" or "windows"; empty means linux.
	Platform string
	// FS is how links are resolved and globs expanded; nil means the real file system.
	FS FS
	// BlockOutsideReads makes every read outside the working directories ask, in every mode.
	BlockOutsideReads bool
	// Protected are more directories (absolute) that are protected like .git: the program's own state and
	// configuration, plugin directories.
	Protected []string
	// Free are directories (absolute) below protected ones that may be written like any other: plan files, memory.
	Free []string
	// GitRuns is what a reading command of git would run at this moment because the repository itself says so, where that
	// is not trusted; empty for nothing. Then git is asked for. Nil: the repository is trusted.
	GitRuns func() string
	// Copy is a directory in which a copy of Original lies, such as a work tree of git: what rules deny or ask for there
	// holds here, too. Both are absolute, with links resolved; empty for none.
	Copy, Original string
	// Tracked lists the files that git tracks in a repository, relative to its root, with slashes; ok is false where that
	// is not known. Nil: it is never known.
	Tracked func(root string) (paths []string, ok bool)
	// Programs are files (absolute) that the user's or the project's hooks and helpers run.
	Programs []string
	// Path is the search path of shell commands, as the environment has it. A program that may come from a working
	// directory is not the one that its name says.
	Path string
	// Sandbox is what stands around shell commands.
	Sandbox Sandbox
}

// Workspace is where the session works. All paths are absolute, with links resolved.
type Workspace struct {
	Cwd   string   // the current directory of shell commands and relative paths
	Roots []string // the working directories; the first is the one that the session started in
	Home  string   // empty when there is none
}

// FS is the part of a file system that decisions look at. Paths are in the platform's own spelling.
type FS interface {
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	ReadDir(name string) ([]fs.DirEntry, error)
}

// OS is the real file system.
type OS struct{}

// Lstat is os.Lstat.
func (OS) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// Readlink is os.Readlink.
func (OS) Readlink(name string) (string, error) { return os.Readlink(name) }

// ReadDir is os.ReadDir.
func (OS) ReadDir(name string) ([]fs.DirEntry, error) { return os.ReadDir(name) }

func (e *Env) fs() FS {
	if e.FS == nil {
		return OS{}
	}
	return e.FS
}

// start is the directory that the session started in.
func (e *Env) start() string {
	if len(e.Workspace.Roots) > 0 {
		return e.Workspace.Roots[0]
	}
	return e.Workspace.Cwd
}

// foldsCase says whether file names that differ only by case may be one file.
func foldsCase(platform string) bool { return platform == "darwin" || platform == "windows" }
