package sandbox

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A linked work tree has settings of its own, which may be absent: they name programs, too.
func TestSettingsOfWorkTreesStay(t *testing.T) {
	commands := []string{
		"echo x > .git/worktrees/w/config.worktree", "mkdir .git/worktrees/w/config.worktree",
		"mkdir -p free; echo x > free/x.txt; ln -s ../../../free/x.txt .git/worktrees/w/config.worktree; ln -f free/x.txt .git/worktrees/w/config.worktree; rm -r free",
		"echo x > .git/worktrees/w/commondir", "rm .git/worktrees/w/commondir", "mv .git/worktrees/w .git/worktrees/v",
	}
	backends(t, func(t *testing.T, _ string, change func(*rig)) {
		r := newRig(t, func(r *rig) {
			r.put(".git/worktrees/w/HEAD", "ref: refs/heads/w\n")
			r.put(".git/worktrees/w/commondir", "../..\n")
			r.put(".git/worktrees/w/gitdir", "/nowhere/.git\n")
		}, change)
		before := r.snapshot()
		for _, c := range commands {
			res := r.run(c)
			if diff := cmp.Diff(before, r.snapshot()); diff != "" {
				t.Errorf("%s\n%s\noutput: %s", c, diff, res.out)
				before = r.snapshot()
			}
		}
	})
}
