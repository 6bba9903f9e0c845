package place

import (
	"context"
	"sync"

	"lathe/internal/git"
	"lathe/internal/perm"
)

// Move makes the place one in another work tree of the repository. That has an index of its own, and conditions of the
// configuration may hold in it alone.
func (p *Place) Move(work, root string) {
	p.Sys.Dirs.Work, p.Root = work, root
	p.lookAtGit()
}

// lookAtGit returns what an untrusted repository would have git run, once somebody asks.
func (p *Place) lookAtGit() {
	p.gitRuns = sync.OnceValue(func() string { return git.Runs(context.Background(), p.Root) })
}

// Care tells the engine what makes plain commands in this place something else than their names say: programs on the
// search path, and what an untrusted repository would have git run.
func (p *Place) Care(env *perm.Env, tool string) {
	if tool != "Bash" && tool != "Monitor" {
		return
	}
	env.Path = p.Sys.Getenv("PATH")
	if p.Trusted {
		return
	}
	env.GitRuns = p.gitRuns()
}
