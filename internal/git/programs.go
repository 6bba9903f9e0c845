package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxModules is how many submodules are looked at.
const maxModules = 200

// Runs says what a plain reading command, such as git status or git log, would run or contact because the repository
// at root, or a repository inside it that git goes into, says so in a configuration of its own; "" for nothing. Such a
// configuration never comes with a clone, but it comes with an archive or a copied folder. What cannot be read counts.
func Runs(ctx context.Context, root string) string {
	if root == "" {
		return ""
	}
	if _, err := exec.LookPath("git"); err != nil {
		return "" // nothing to run
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	l := look{left: maxModules, seen: map[string]bool{}}
	why := l.repository(ctx, root)
	if why == "" && ctx.Err() != nil {
		why = "a configuration that takes long to read"
	}
	return why
}

// look is one look at a repository and those inside it.
type look struct {
	left int             // how many more files and repositories are looked at
	seen map[string]bool // folders of repositories with their work trees
}

// repository looks at the repository that git finds from root, with options of git before the command's name.
func (l *look) repository(ctx context.Context, root string, opts ...string) string {
	if l.left--; l.left < 0 {
		return errTooMany.Error()
	}
	ask := func(args ...string) (string, error) { return Run(ctx, root, slices.Concat(opts, args)...) }
	if why := configRuns(ctx, root, opts, "--show-scope"); why != "" {
		return why
	}
	top, err := ask("rev-parse", "--show-toplevel") // core.worktree may say that it is elsewhere
	if err != nil {
		return "what its work tree holds, which cannot be read"
	}
	dir, err := ask("rev-parse", "--absolute-git-dir")
	if err != nil {
		return "what its folder holds, which cannot be read"
	}
	if l.seen[dir+"\x00"+top] {
		return ""
	}
	l.seen[dir+"\x00"+top] = true
	common, err := ask("rev-parse", "--git-common-dir")
	if err != nil {
		return "what its folder holds, which cannot be read"
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(root, common)
	}
	own, _ := ask("config", "--show-scope", "--type=path", "-z", "--get-all", "core.hooksPath") // none: an error
	hooks := ownValues(own)
	for i, h := range hooks {
		if !filepath.IsAbs(h) {
			hooks[i] = filepath.Join(top, h)
		}
	}
	for _, d := range []string{dir, common} {
		if why := l.folder(ctx, top, d, append(hooks, filepath.Join(d, "hooks"))); why != "" {
			return why
		}
	}
	return l.links(ctx, dir, top)
}

// ownValues are the values of a listing with scopes that are the repository's own.
func ownValues(list string) []string {
	var out []string
	fields := strings.Split(list, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i] == "local" || fields[i] == "worktree" {
			out = append(out, fields[i+1])
		}
	}
	return out
}

// links looks at the repositories that the index names: git goes into each that has a .git, wherever that leads.
func (l *look) links(ctx context.Context, dir, top string) string {
	list, err := Run(ctx, top, "--git-dir="+dir, "--work-tree="+top, "ls-files", "--stage", "-z")
	if err != nil {
		return "what its index names, which cannot be read"
	}
	for entry := range strings.SplitSeq(list, "\x00") {
		head, path, _ := strings.Cut(entry, "\t")
		if !strings.HasPrefix(head, "160000 ") {
			continue
		}
		sub := filepath.Join(top, filepath.FromSlash(path))
		if _, err := os.Lstat(filepath.Join(sub, ".git")); errors.Is(err, fs.ErrNotExist) {
			continue // not checked out
		}
		if why := l.repository(ctx, sub, "--git-dir=.git"); why != "" { // so git does
			return strings.TrimSuffix(why, ofSubmodule) + ofSubmodule
		}
	}
	return ""
}

const ofSubmodule = " of a submodule"

// folder looks at the folders of hooks, and at the submodules in a repository's folder.
func (l *look) folder(ctx context.Context, top, dir string, hooks []string) string {
	for _, h := range hooks {
		if _, err := os.Stat(filepath.Join(h, "post-index-change")); err == nil {
			return "the hook post-index-change"
		}
	}
	why := ""
	err := filepath.WalkDir(filepath.Join(dir, "modules"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // there are no submodules, or they cannot be read by git either
		}
		if d.IsDir() && (d.Name() == "objects" || d.Name() == "refs" || d.Name() == "logs") {
			return fs.SkipDir
		}
		if d.Name() != "config" && d.Name() != "config.worktree" && d.Name() != "post-index-change" {
			return nil
		}
		if l.left--; l.left < 0 {
			return errTooMany
		}
		if d.Name() == "post-index-change" {
			why = "the hook post-index-change"
		} else if !d.IsDir() {
			why = configRuns(ctx, top, nil, "--file", path, "--includes")
		}
		if why != "" {
			why += ofSubmodule
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return err.Error()
	}
	return why
}

var errTooMany = errors.New("one of very many submodules")

// configRuns looks for settings of the repository's own that name programs. opts are git's own, args those of git config.
func configRuns(ctx context.Context, root string, opts []string, args ...string) string {
	out, err := Run(ctx, root, slices.Concat(opts, []string{"config", "--list", "-z"}, args)...)
	if err != nil {
		return "what its configuration says, which cannot be read"
	}
	fields := strings.Split(out, "\x00")
	if args[0] == "--show-scope" {
		fields = ownValues(out)
	}
	for _, field := range fields {
		key, value, given := strings.Cut(field, "\n")
		if !given {
			value = "true" // so git takes a name alone
		}
		if runs(key, value) {
			return fmt.Sprintf("its setting %s", key)
		}
	}
	return ""
}

// runs says that reading commands obey the setting by running a program or asking a server. Keys are as git prints
// them: section and name in small letters.
func runs(key, value string) bool {
	section, _, _ := strings.Cut(key, ".")
	name := key[strings.LastIndexByte(key, '.')+1:]
	on := true
	switch strings.ToLower(value) {
	case "false", "no", "off", "0":
		on = false
	}
	switch {
	case key == "core.fsmonitor", key == "log.showsignature", key == "extensions.partialclone":
		return on && value != ""
	case key == "format.pretty", section == "pretty":
		return strings.Contains(value, "%G") // the signature, which gpg.program checks
	case section == "gpg":
		return (name == "program" || name == "defaultkeycommand") && value != "" // for a format of the user's own that asks for it
	case section == "includeif":
		return true // what holds elsewhere: in a submodule, or on another branch
	case key == "diff.submodule":
		return value != "short" // it looks into those that only an older commit names
	case key == "status.submodulesummary":
		return on
	case section == "diff":
		return (name == "external" || name == "textconv" || name == "command") && value != ""
	case section == "filter":
		return (name == "clean" || name == "process") && value != ""
	case section == "remote":
		return name == "promisor" && on
	}
	return false
}
