package app

import (
	"cmp"
	"context"
	"slices"

	"lathe/internal/mcp"
	"lathe/internal/place"
	"lathe/internal/sys"
)

// Servers are the MCP servers that a session of the options would have, without one.
type Servers struct {
	*mcp.Set
	run *run
}

// OpenServers reads their entries. Nothing is started yet. What is wrong with the settings is told.
func OpenServers(o Options) (*Servers, error) {
	p, err := o.FindPlace()
	if err != nil {
		return nil, err
	}
	r := &run{common: &common{o: &o}, place: p}
	configs, _, err := r.serverEntries()
	for _, n := range append(slices.Clone(p.Settings.Problems), p.Notes...) {
		r.warn(n)
	}
	if err != nil {
		return nil, err
	}
	d := p.Sys.Dirs
	s := &Servers{run: r, Set: mcp.New(mcp.Deps{
		Procs: &r.procs, Environ: p.Sys.Environ, Getenv: p.Sys.Getenv, Dir: d.Work, Project: cmp.Or(p.Root, d.Work), Version: sys.Version,
		Roots: []string{d.Work}, Tokens: mcp.NewTokens(d.State),
	}, configs)}
	for _, name := range p.ServerStore().Load(projectKeys(p)...).Disabled {
		s.Disable(name)
	}
	return s, nil
}

// Place is where they are.
func (s *Servers) Place() *place.Place { return s.run.place }

// Close ends them.
func (s *Servers) Close() {
	s.Set.Close()
	s.run.procs.Close()
}

// SignedIn tells the hooks of the place that the person has signed in to a server.
func (s *Servers) SignedIn(name string) {
	o := *s.run.o
	o.NoPrompts, o.NoPersist, o.Print = true, true, true
	r, err := newRun(&o)
	if err != nil {
		s.run.warn("hooks are not told of the sign-in: " + err.Error())
		return
	}
	r.hooks.signedIn(name)
	r.close()
}

// Browse opens an address in the user's browser.
func (s *Servers) Browse(ctx context.Context, address string) error {
	return s.run.procs.Browse(ctx, s.run.place.Sys.Environ(), address)
}
