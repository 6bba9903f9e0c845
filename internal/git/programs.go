package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxModules is how many submodules are looked at.
const maxModules = 200

// Runs says what a plain reading command, such as git status or git log, would run or contact because the repository
// at root, or a submodule of it, says so in a configuration of its own; "" for nothing. Such a configuration never
// comes with a clone, but it comes with an archive or a copied folder.
func Runs(ctx context.Context, root string) string {
	if root == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if why := configRuns(ctx, root, "--show-scope"); why != "" {
		return why
	}
	for _, dir := range []string{"--git-dir", "--git-common-dir"} {
		path, err := Run(ctx, root, "rev-parse", dir)
		if err != nil {
			continue // no repository after all
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(root, path)
		}
		if why := folderRuns(ctx, root, path); why != "" {
			return why
		}
	}
	return ""
}

// folderRuns looks at the hooks and submodules in a repository's folder.
func folderRuns(ctx context.Context, root, dir string) string {
	hooks := filepath.Join(dir, "hooks")
	if own, err := Run(ctx, root, "config", "--local", "--type=path", "--get", "core.hooksPath"); err == nil && own != "" {
		if hooks = own; !filepath.IsAbs(hooks) {
			hooks = filepath.Join(root, hooks)
		}
	}
	if _, err := os.Stat(filepath.Join(hooks, "post-index-change")); err == nil {
		return "the hook post-index-change"
	}
	left := maxModules
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
		if left--; left < 0 {
			return errTooMany
		}
		if d.Name() == "post-index-change" {
			why = "the hook post-index-change"
		} else {
			why = configRuns(ctx, root, "--file", path, "--includes")
		}
		if why != "" {
			why += " of a submodule"
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

// configRuns looks for settings of the repository's own that name programs.
func configRuns(ctx context.Context, root string, args ...string) string {
	out, err := Run(ctx, root, append([]string{"config", "--list", "-z"}, args...)...)
	if err != nil {
		if ctx.Err() != nil {
			return "a configuration that takes long to read"
		}
		return "" // git cannot read it, and so runs nothing
	}
	fields := strings.Split(strings.TrimRight(out, "\x00"), "\x00")
	scoped := args[0] == "--show-scope"
	for i := 0; i < len(fields); i++ {
		if scoped {
			scope := fields[i]
			if i++; i == len(fields) {
				break
			}
			if scope != "local" && scope != "worktree" {
				continue
			}
		}
		if key, value, _ := strings.Cut(fields[i], "\n"); runs(key, value) {
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
	case section == "diff":
		return (name == "external" || name == "textconv" || name == "command") && value != ""
	case section == "filter":
		return (name == "clean" || name == "process") && value != ""
	case section == "remote":
		return name == "promisor" && on
	}
	return false
}
