package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"lathe/internal/memory"
	"lathe/internal/pipeline/attach"
	"lathe/internal/session/jsonl"
	"lathe/internal/sys"
)

// instructions reports whether instruction files are looked for.
func (r *run) instructions() bool {
	return !r.o.Bare && !sys.IsOn(r.place.Sys.Getenv("CLAUDE_CODE_DISABLE_CLAUDE_MDS"))
}

// loader finds instruction files. Each source has one of its own.
func (r *run) loader() *memory.Loader {
	d := r.place.Sys.Dirs
	p := memory.Places{
		Home: d.Home, Config: d.Config, State: d.State, Work: d.Work, Root: r.place.Root, Trusted: r.place.Trusted,
		User: r.place.Wants("user"), Project: r.place.Wants("project"), Local: r.place.Wants("local"),
		Exclude: r.place.Settings.AllStrings("claudeMdExcludes"),
	}
	if sys.IsOn(r.place.Sys.Getenv("CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD")) {
		p.Extra = r.dirs
	}
	return memory.NewLoader(p)
}

// memorySources are the sources of instruction files and of the project's memory.
func (r *run) memorySources() []attach.Source {
	if !r.instructions() {
		return nil
	}
	var loaded func(memory.File, string)
	if r.hooks != nil {
		loaded = r.hooks.loaded
	}
	out := []attach.Source{
		attach.Memory(r.loader(), r.takeTouched, r.warn, loaded),
		attach.Rules(r.loader(), r.takeTouched, r.warn, loaded),
	}
	if r.memory.Dir == "" {
		return out
	}
	out = append(out, attach.AutoMemory(r.memory, r.takeTouched, func(path string) bool {
		_, ok := r.tools.files.Get(path)
		return ok
	}))
	if name := r.smallModel(); r.o.Replay == "" && r.o.Record == "" && name != r.prices.Resolve(r.session.Model()) {
		r.relevant = attach.NewRelevant(r.memory.Notes, func(ctx context.Context, question string) (string, error) {
			return r.askSmall(ctx, "relevant memory", question)
		})
		out = append(out, r.relevant.Source())
	}
	return out
}

// openMemory says where the project's memory is. Its notes are the model's own: it may write them without being asked
// about, and the program stamps each with the time.
func (r *run) openMemory() {
	if !r.memoryOn() {
		return
	}
	r.memory.Dir = r.memoryDir()
	r.tools.files.Rewrite = func(path string, data []byte) []byte {
		if strings.HasSuffix(path, ".md") && r.memory.Holds(path) {
			return memory.Stamp(data, r.place.Sys.Now())
		}
		return data
	}
}

// memoryOn reports whether the project has a memory: by default yes, where the model can write it. A recording has
// none, since what it holds would not be the same again.
func (r *run) memoryOn() bool {
	if !r.instructions() || r.o.Recording != nil || !r.place.Wants("user") {
		return false
	}
	canWrite := r.tools.registry == nil // no session runs: calls of Write are judged
	if !canWrite {
		_, canWrite = r.tools.registry.Get("Write")
	}
	switch off := r.place.Sys.Getenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY"); {
	case off == "0":
		return true
	case sys.IsOn(off) || !canWrite:
		return false
	}
	return r.place.Settings.Bool("autoMemoryEnabled", true)
}

// memoryDir is where the memory is: where the settings say (a project's files only with trust), else beside the
// sessions of the repository, which its work trees and subdirectories share. A memory that another program keeps in
// the same format is taken up where it is.
func (r *run) memoryDir() string {
	d := r.place.Sys.Dirs
	if dir := r.place.Settings.String("autoMemoryDirectory", "", true); dir != "" {
		if rest, ok := strings.CutPrefix(dir, "~/"); ok {
			dir = filepath.Join(d.Home, rest)
		}
		if filepath.IsAbs(dir) && !holds(dir, d.Work) && !holds(dir, d.Home) {
			return filepath.Clean(dir)
		}
		r.place.Notes = append(r.place.Notes, "autoMemoryDirectory must be absolute or begin with ~/, and must not hold the working directory or the home; it is ignored")
	}
	top := d.Work
	if r.place.Root != "" {
		top = mainTree(r.place.Root)
	}
	at := func(state string) string {
		store := jsonl.Store{StateDir: state, Project: r.place.ProjectName()}
		return filepath.Join(store.ProjectDir(top), "memory")
	}
	own := at(d.State)
	if _, err := os.Stat(own); err != nil && d.Config != "" {
		if other := at(d.Config); isDir(other) {
			return other
		}
	}
	return own
}

// holds reports whether path is dir or below it: files there may be written without a question.
func holds(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return path != "" && err == nil && filepath.IsLocal(rel)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// mainTree is the repository that a linked work tree belongs to; any other root is its own.
func mainTree(root string) string {
	link, err := os.ReadFile(filepath.Join(root, ".git"))
	if err != nil {
		return root
	}
	dir := strings.TrimSpace(strings.TrimPrefix(string(link), "gitdir:"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root, dir)
	}
	trees := filepath.Dir(filepath.Clean(dir))
	if filepath.Base(trees) != "worktrees" || filepath.Base(filepath.Dir(trees)) != ".git" {
		return root
	}
	return filepath.Dir(filepath.Dir(trees))
}
