package app

import (
	"lathe/internal/perm"
	"lathe/internal/place"
)

// Rules are the permission rules that a session of the options would begin with, without one.
type Rules struct{ run *run }

// OpenRules reads them. It starts nothing.
func OpenRules(o Options) (*Rules, error) {
	p, err := o.FindPlace()
	if err != nil {
		return nil, err
	}
	r := &run{common: &common{o: &o}, place: p}
	return &Rules{r}, r.permissions()
}

// Place is where they hold.
func (x *Rules) Place() *place.Place { return x.run.place }

// Mode is the mode that a session would begin in.
func (x *Rules) Mode() string { return x.run.o.Mode }

// List is all of them, in the order in which they are looked at.
func (x *Rules) List() []perm.Rule { return x.run.book.Load().rules }

// Decide judges a call.
func (x *Rules) Decide(req perm.Request) perm.Decision {
	r := x.run
	d, book := r.place.Sys.Dirs, r.book.Load()
	env := perm.Env{
		Rules: book.set, Mode: perm.Mode(r.o.Mode), Platform: platform(), Protected: []string{d.State, d.Config}, BlockOutsideReads: book.blockOutside,
		Workspace: perm.Workspace{Cwd: d.Work, Roots: append([]string{d.Work}, r.dirs...), Home: d.Home},
	}
	r.place.Care(&env, req.Tool)
	return perm.Decide(req, env)
}
