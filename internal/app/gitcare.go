package app

import (
	"context"

	"lathe/internal/git"
	"lathe/internal/perm"
)

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
	p.gitOnce.Do(func() { p.gitRuns = git.Runs(context.Background(), p.root) })
	env.GitRuns = p.gitRuns
}
