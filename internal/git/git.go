package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"lathe/internal/proc"
)

// Limits of the snapshot.
const (
	maxStatus = 2000 // characters of the short status
	maxStderr = 2000 // bytes of what git says of a failure
)

// safe are the options that keep a repository's configuration from running programs. What looks at the work tree must
// have --ignore-submodules=all too: git obeys submodule.<name>.ignore before diff.ignoreSubmodules.
var safe = []string{
	"--no-optional-locks", "--no-pager",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "diff.external=",
	"-c", "core.pager=cat", "-c", "safe.bareRepository=explicit", "-c", "log.showSignature=false",
	"-c", "core.untrackedCache=false", "-c", "submodule.recurse=false",
	"-c", "diff.ignoreSubmodules=all", "-c", "diff.submodule=short", "-c", "status.submoduleSummary=false",
}

// lateOutput is how long what git wrote is waited for after its end: another process may hold the pipe. Where it is over
// the run counts as failed, so it must be more than a busy machine takes to come round to us.
const lateOutput = 10 * time.Second

// Run runs git in dir with the safe options and returns its trimmed output. It never fetches: a missing object is
// an error.
func Run(ctx context.Context, dir string, args ...string) (string, error) {
	return run(ctx, dir, nil, args...)
}

func run(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{}, safe...), args...)...)
	cmd.Dir = dir
	cmd.Env = proc.Env(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_EXTERNAL_DIFF=", "LC_ALL=C",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none") // the repository's own configuration names what a fetch runs
	cmd.Env = append(cmd.Env, env...)
	cmd.WaitDelay = lateOutput
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		exit.Stderr = errs.Bytes()[:min(errs.Len(), maxStderr)]
	}
	return strings.TrimRight(out.String(), "\n"), err
}

// withoutFilters is an environment in which the filters that a repository's own configuration names are empty: git
// status would run them on every file that looks changed. Those of the user's configuration stay. dirs are the work
// trees that git looks at, since a part of the configuration may hold in one of them alone.
func withoutFilters(ctx context.Context, dirs ...string) ([]string, error) {
	var env []string
	n, _ := strconv.Atoi(os.Getenv("GIT_CONFIG_COUNT"))
	set := func(key, value string) { // not -c: a name may hold an equals sign
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		n++
	}
	for _, dir := range dirs {
		out, err := Run(ctx, dir, "config", "--show-scope", "--name-only", "-z", "--get-regexp", `^filter\..*\.(clean|smudge|process)$`)
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.ExitCode() == 1 {
			continue // there are none
		}
		if err != nil {
			return nil, err
		}
		for _, key := range ownValues(out) {
			set(key, "")
			set(key[:strings.LastIndexByte(key, '.')]+".required", "false")
		}
	}
	if env == nil {
		return nil, nil
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(n)), nil
}

// Root is the top of the work tree that holds dir, or "" outside a repository. It runs nothing.
func Root(dir string) string {
	for d := dir; ; {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		up := filepath.Dir(d)
		if up == d {
			return ""
		}
		d = up
	}
}

// Branch reads the current branch from the repository's HEAD file, without running git; "" when it is detached
// or unknown.
func Branch(root string) string {
	dotgit := filepath.Join(root, ".git")
	if link, err := readRegular(dotgit); err == nil { // a worktree or submodule: "gitdir: path"
		dir := strings.TrimSpace(strings.TrimPrefix(string(link), "gitdir:"))
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
		dotgit = dir
	}
	head, err := readRegular(filepath.Join(dotgit, "HEAD"))
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(strings.TrimSpace(string(head)), "ref: refs/heads/")
}

// Snapshot is what the system prompt tells of a repository.
type Snapshot struct {
	Branch, Default, User string
	Status                string // short format, cut at 2,000 characters
	StatusCut             bool
	Log                   string // the last commits, one a line
}

// Take reads the snapshot. It returns nil outside a repository, without git, or when git did not answer in time.
func Take(ctx context.Context, root string, limit time.Duration) *Snapshot {
	if root == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s := &Snapshot{Branch: Branch(root)}
	var wg sync.WaitGroup
	var statusErr error
	ask := func(into *string, args ...string) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			*into, _ = Run(ctx, root, args...)
		}()
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		var env []string
		if env, statusErr = withoutFilters(ctx, root); statusErr != nil {
			return
		}
		s.Status, statusErr = run(ctx, root, env, "status", "--short", "--untracked-files=normal", "--ignore-submodules=all")
	}()
	ask(&s.Log, "log", "-5", "--oneline", "--no-decorate", "--no-color")
	ask(&s.User, "config", "user.name")
	s.Default = defaultBranch(root)
	wg.Wait()
	if statusErr != nil {
		return nil
	}
	if len(s.Status) > maxStatus {
		s.Status, s.StatusCut = strings.ToValidUTF8(s.Status[:maxStatus], ""), true
	}
	return s
}

// defaultBranch reads what origin calls its head, else looks for the usual names.
func defaultBranch(root string) string {
	common := filepath.Join(root, ".git")
	if head, err := readRegular(filepath.Join(common, "refs", "remotes", "origin", "HEAD")); err == nil {
		return strings.TrimPrefix(strings.TrimSpace(string(head)), "ref: refs/remotes/origin/")
	}
	packed, _ := readRegular(filepath.Join(common, "packed-refs"))
	for _, name := range []string{"main", "master"} {
		if _, err := os.Stat(filepath.Join(common, "refs", "heads", name)); err == nil || bytes.Contains(packed, []byte("refs/heads/"+name+"\n")) {
			return name
		}
	}
	return ""
}

// maxRefs is how much of a file of the repository is read, in bytes.
const maxRefs = 64 << 20

// readRegular reads a regular file, and nothing that would keep us waiting.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRefs {
		return nil, fmt.Errorf("read %s: %w", path, os.ErrInvalid)
	}
	return os.ReadFile(path)
}
