package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// undoLimit is how long what a failed AddWorktree has made may take to be taken away, once its context has ended.
const undoLimit = 30 * time.Second

// wholeStatus has git see every file in a status of its own, whatever the configuration says.
var wholeStatus = []string{"-c", "status.showUntrackedFiles=all"}

// AddWorktree checks a commit out in a new folder of its own, on a branch that is made for it; a branch that is there is
// taken. Nothing may be at dir; that git knows a work tree there which is gone is no hindrance. Hooks of the repository do
// not run, nor, unless it is trusted, the filters that its own configuration names. After an error nothing is left of it.
func AddWorktree(ctx context.Context, root, dir, branch, base string, trusted bool) (err error) {
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		_, _ = run(ctx, root, nil, "worktree", "remove", "--force", "--", dir) // an error: it knows of none, or add says what is wrong
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil { // from here on it is ours
		return err
	}
	args, fresh := []string{"--", dir, branch}, false
	if Commit(ctx, root, "refs/heads/"+branch) == "" {
		args, fresh = []string{"-b", branch, "--", dir, base}, true
	}
	defer func() {
		if err != nil {
			undo(ctx, root, dir, branch, base, fresh)
		}
	}()
	// The files come in a step of their own: git worktree add would leave that to a process that outlives it when it is ended.
	if _, err := run(ctx, root, nil, append([]string{"worktree", "add", "--quiet", "--no-checkout"}, args...)...); err != nil {
		return told("git worktree add", err)
	}
	env, err := filtersOf(ctx, trusted, dir)
	if err != nil {
		return err
	}
	if _, err := run(ctx, dir, env, "-c", "core.ignoreStat=false", "reset", "--quiet", "--hard"); err != nil {
		return told("git reset", err)
	}
	return nil
}

// undo takes away what AddWorktree has made. The branch goes only while it is where it began.
func undo(ctx context.Context, root, dir, branch, base string, fresh bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	_ = os.RemoveAll(dir) // first: git refuses a folder that is half made, not one that is gone
	_, _ = run(ctx, root, nil, "worktree", "remove", "--force", "--force", "--", dir)
	if fresh {
		_, _ = run(ctx, root, nil, "update-ref", "-d", "refs/heads/"+branch, base)
	}
}

// RemoveWorktree takes a folder of AddWorktree away, with its branch where that is at base still and checked out nowhere
// else. Git refuses where something in the folder is not committed, and where it has submodules; ignored files go.
func RemoveWorktree(ctx context.Context, root, dir, branch, base string, trusted bool) error {
	env, err := filtersOf(ctx, trusted, root, dir) // git looks into the tree from the root
	if err != nil {
		return err
	}
	if _, err := run(ctx, root, env, slices.Concat(wholeStatus, []string{"worktree", "remove", "--", dir})...); err != nil {
		return told("git worktree remove", err)
	}
	ref := "refs/heads/" + branch
	if used, err := Run(ctx, root, "for-each-ref", "--format=%(worktreepath)", ref); err != nil || used != "" {
		return err
	}
	if _, err := run(ctx, root, nil, "update-ref", "-d", ref, base); err != nil {
		return told("git update-ref -d", err)
	}
	return nil
}

// Begun is what a work tree began with.
type Begun struct {
	Base    string // the commit
	Branch  string // that was made for it or checked out in it; "": none
	Ignored string // of Ignored
}

// Untouched reports whether a work tree is just what it began with: nothing changed, added or committed, on its branch
// neither, and no other ignored files. That the content of an ignored file has changed is not seen,
// nor what is in submodules: RemoveWorktree keeps a tree that has some.
func Untouched(ctx context.Context, dir string, was Begun, trusted bool) (bool, error) {
	clean, ignored, err := state(ctx, dir, trusted)
	if err != nil || !clean || ignored != was.Ignored || Commit(ctx, dir, "HEAD") != was.Base {
		return false, err
	}
	return was.Branch == "" || Commit(ctx, dir, "refs/heads/"+was.Branch) == was.Base, nil
}

// Ignored stands for the names of the ignored files in a work tree; "" where there are none.
func Ignored(ctx context.Context, dir string, trusted bool) (string, error) {
	_, ignored, err := state(ctx, dir, trusted)
	return ignored, err
}

// state reports whether nothing in a work tree differs from its commit, and what stands for its ignored files.
func state(ctx context.Context, dir string, trusted bool) (clean bool, ignored string, err error) {
	env, err := filtersOf(ctx, trusted, dir)
	if err != nil {
		return false, "", err
	}
	out, err := run(ctx, dir, env, slices.Concat(wholeStatus, []string{
		"status", "--porcelain", "-z", "--untracked-files=all", "--ignored=traditional", "--ignore-submodules=all",
	})...)
	if err != nil {
		return false, "", told("git status", err)
	}
	clean = true
	sum := sha256.New()
	for entry := range strings.SplitSeq(out, "\x00") {
		if name, ok := strings.CutPrefix(entry, "!! "); ok {
			_, _ = io.WriteString(sum, name+"\x00")
			ignored = "some"
		} else if entry != "" {
			clean = false
		}
	}
	if ignored != "" {
		ignored = hex.EncodeToString(sum.Sum(nil)[:8])
	}
	return clean, ignored, nil
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
