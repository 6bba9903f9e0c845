package app

import (
	"lathe/internal/perm"
	"lathe/internal/place"
)

// Rules are the permission rules that a session of the options would begin with, without one.
type Rules struct{ run *run }

// OpenRules reads them, and what else decides: plugins, the session's own agent, the files that hooks and helpers run. It starts
// nothing; Decide may probe the sandbox, where the settings want one.
func OpenRules(o Options) (*Rules, error) {
	p, err := o.FindPlace()
	if err != nil {
		return nil, err
	}
	r := &run{common: &common{o: &o}, place: p}
	if err := r.permissions(); err != nil {
		return nil, err
	}
	_ = r.openSandbox() // where one is required and missing no session would begin; Decide tells that, and its rules can be read
	r.openPlugins()
	if err := r.mainAgent(); err != nil {
		return nil, err
	}
	r.tools = &toolset{workspace: r.newWorkspace()}
	if r.memoryOn() {
		r.memory.Dir = r.memoryDir()
	}
	r.programs = r.programFiles(r.hookSources())
	r.compile(p.Settings.Permissions()) // again: the memory is known now
	return &Rules{r}, nil
}

// Place is where they hold.
func (x *Rules) Place() *place.Place { return x.run.place }

// Mode is the mode that a session would begin in.
func (x *Rules) Mode() string { return x.run.o.Mode }

// List is all of them, in the order in which they are looked at.
func (x *Rules) List() []perm.Rule { return x.run.book.Load().rules }

// Decide judges a call as such a session would.
func (x *Rules) Decide(req perm.Request) perm.Decision {
	return x.run.decideIn(req, perm.Mode(x.run.o.Mode))
}
