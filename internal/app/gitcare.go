package app

import (
	"context"
	"sync"

	"lathe/internal/git"
	"lathe/internal/perm"
)

// lookAtGit returns what an untrusted repository would have git run, once somebody asks.
func (p *place) lookAtGit() {
	p.gitRuns = sync.OnceValue(func() string { return git.Runs(context.Background(), p.root) })
}

// care tells the engine what makes plain commands in this place something else than their names say: programs on the
// search path, and what an untrusted repository would have git run.
func (p *place) care(env *perm.Env, tool string) {
	if tool != "Bash" && tool != "Monitor" {
		return
	}
	env.Path = p.sys.Getenv("PATH")
	if p.trusted {
		return
	}
	env.GitRuns = p.gitRuns()
}
