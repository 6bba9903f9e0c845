package app

import (
	"cmp"
	"context"
	"slices"

	"lathe/internal/app/entries"
	"lathe/internal/mcp"
	"lathe/internal/place"
	"lathe/internal/proc"
	"lathe/internal/sys"
)

// Servers are the MCP servers that a session of the options would have, without one.
type Servers struct {
	*mcp.Set
	o     Options
	place *place.Place
	procs proc.Group
}

// OpenServers reads their entries. Nothing is started yet. What is wrong with the settings is told.
func OpenServers(o Options) (*Servers, error) {
	p, err := o.FindPlace()
	if err != nil {
		return nil, err
	}
	none := func(func([]mcp.Problem)) []mcp.Config { return nil }
	configs, _, err := entries.Read(entries.In{Place: p, Flag: o.Servers, Plugins: none, Only: o.StrictServers || o.Bare})
	for _, n := range append(slices.Clone(p.Settings.Problems), p.Notes...) {
		o.warn(n)
	}
	if err != nil {
		return nil, err
	}
	d := p.Sys.Dirs
	s := &Servers{o: o, place: p}
	s.Set = mcp.New(mcp.Deps{
		Procs: &s.procs, Environ: p.Sys.Environ, Getenv: p.Sys.Getenv, Dir: d.Work, Project: cmp.Or(p.Root, d.Work), Version: sys.Version,
		Roots: []string{d.Work}, Tokens: mcp.NewTokens(d.State),
		Known: mcp.NewKnown(d.State, p.TrustKey), Programs: p.Programs(),
	}, configs)
	for _, name := range p.ServerStore().Load(entries.Keys(p)...).Disabled {
		s.Disable(name)
	}
	return s, nil
}

// Place is where they are.
func (s *Servers) Place() *place.Place { return s.place }

// Close ends them.
func (s *Servers) Close() {
	s.Set.Close()
	s.procs.Close()
}

// SignedIn tells the hooks of the place that the person has signed in to a server.
func (s *Servers) SignedIn(name string) {
	o := s.o
	o.NoPrompts, o.NoPersist, o.Print = true, true, true
	r, err := newRun(&o)
	if err != nil {
		o.warn("hooks are not told of the sign-in: " + err.Error())
		return
	}
	r.hooks.signedIn(name)
	r.close()
}

// Browse opens an address in the user's browser.
func (s *Servers) Browse(ctx context.Context, address string) error {
	return s.procs.Browse(ctx, s.place.Sys.Environ(), address)
}
