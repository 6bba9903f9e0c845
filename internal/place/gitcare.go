package place

import (
	"context"

	"lathe/internal/git"
	"lathe/internal/perm"
)

// Move makes the place one in another work tree of the repository. That has an index of its own, and conditions of the
// configuration may hold in it alone.
func (p *Place) Move(work, root string) {
	p.Sys.Dirs.Work, p.Root = work, root
}

// Care tells the engine what makes plain commands in this place something else than their names say: programs on the
// search path, and what an untrusted repository would have git run. That is looked at when it matters, and each time: a
// command that was allowed for something else may have put settings there.
func (p *Place) Care(env *perm.Env, tool string) {
	if tool != "Bash" && tool != "Monitor" {
		return
	}
	env.Path = p.Sys.Getenv("PATH")
	if p.Trusted {
		return
	}
	env.GitRuns = func() string { return git.Runs(context.Background(), p.Root) }
}
