package git

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// AddWorktree checks a commit out in a new folder of its own, on a branch that is made for it; a branch that is there is
// taken. Hooks of the repository do not run, nor, unless it is trusted, the filters that its own configuration names.
func AddWorktree(ctx context.Context, root, dir, branch, base string, trusted bool) error {
	env, err := filtersOf(ctx, root, trusted)
	if err != nil {
		return err
	}
	args := []string{"worktree", "add", "--quiet", "-b", branch, "--", dir, base}
	if Commit(ctx, root, "refs/heads/"+branch) != "" {
		args = []string{"worktree", "add", "--quiet", "--", dir, branch}
	}
	if _, err := run(ctx, root, env, args...); err != nil {
		return told("git worktree add", err)
	}
	return nil
}

// RemoveWorktree takes a folder of AddWorktree away with its branch. Git refuses where something in it is not committed.
func RemoveWorktree(ctx context.Context, root, dir, branch string, trusted bool) error {
	env, err := filtersOf(ctx, root, trusted)
	if err != nil {
		return err
	}
	if _, err := run(ctx, root, env, "worktree", "remove", "--", dir); err != nil {
		return told("git worktree remove", err)
	}
	if _, err := run(ctx, root, nil, "branch", "--quiet", "-D", "--", branch); err != nil {
		return told("git branch -D", err)
	}
	return nil
}

// Untouched reports whether a work tree is just what a commit holds: nothing changed, added or committed. Ignored files
// do not count.
func Untouched(ctx context.Context, dir, base string, trusted bool) (bool, error) {
	env, err := filtersOf(ctx, dir, trusted)
	if err != nil {
		return false, err
	}
	status, err := run(ctx, dir, env, "status", "--porcelain")
	if err != nil {
		return false, told("git status", err)
	}
	return status == "" && Commit(ctx, dir, "HEAD") == base, nil
}

// Commit is the id of the commit that a name stands for, "" where there is none.
func Commit(ctx context.Context, root, name string) string {
	id, err := Run(ctx, root, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if err != nil {
		return ""
	}
	return id
}

func filtersOf(ctx context.Context, dir string, trusted bool) ([]string, error) {
	if trusted {
		return nil, nil
	}
	return withoutFilters(ctx, dir)
}

// told adds what git has said to an error.
func told(what string, err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if text := strings.TrimSpace(string(exit.Stderr)); text != "" {
			return fmt.Errorf("%s: %s", what, text)
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}
