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
	args := []string{"worktree", "add", "--quiet"}
	if !trusted {
		args = append(args, "--no-checkout") // a part of the configuration may hold in the new tree alone
	}
	made := Commit(ctx, root, "refs/heads/"+branch) == ""
	if made {
		args = append(args, "-b", branch, "--", dir, base)
	} else {
		args = append(args, "--", dir, branch)
	}
	if _, err := run(ctx, root, nil, args...); err != nil {
		return told("git worktree add", err)
	}
	if trusted {
		return nil
	}
	env, err := withoutFilters(ctx, dir)
	if err == nil {
		_, err = run(ctx, dir, env, "reset", "--hard", "--quiet")
	}
	if err == nil {
		return nil
	}
	err = told("git reset", err)
	if _, gone := run(ctx, root, nil, "worktree", "remove", "--force", "--", dir); gone == nil && made {
		_, gone = run(ctx, root, nil, "branch", "--quiet", "-D", "--", branch)
		err = errors.Join(err, gone)
	}
	return err
}

// RemoveWorktree takes a folder of AddWorktree away with its branch. Git refuses where something in it is not committed,
// and where it has submodules.
func RemoveWorktree(ctx context.Context, root, dir, branch string, trusted bool) error {
	env, err := filtersOf(ctx, trusted, root, dir) // git looks into the tree from the root
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
// do not count, nor does what is in submodules: RemoveWorktree keeps a tree that has some.
func Untouched(ctx context.Context, dir, base string, trusted bool) (bool, error) {
	env, err := filtersOf(ctx, trusted, dir)
	if err != nil {
		return false, err
	}
	status, err := run(ctx, dir, env, "status", "--porcelain", "--ignore-submodules=all")
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

func filtersOf(ctx context.Context, trusted bool, dirs ...string) ([]string, error) {
	if trusted {
		return nil, nil
	}
	return withoutFilters(ctx, dirs...)
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
