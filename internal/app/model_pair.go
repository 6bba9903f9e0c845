package app

import (
	"strings"

	"lathe/internal/event"
	"lathe/internal/perm"
)

// opusPlan is the alias of a pair of models: one plans, the other does the rest of the work.
const opusPlan = "opusplan"

// isPair reports whether a name is that of the pair, with or without the suffix for the long window.
func isPair(name string) bool {
	s := strings.ToLower(strings.TrimSpace(name))
	return strings.TrimSpace(strings.TrimSuffix(s, "[1m]")) == opusPlan
}

// resolveFor is resolve1m for the session's own model: of the pair it is the one for a permission mode.
func (r *run) resolveFor(name, mode string) string {
	if !isPair(name) {
		return r.resolve1m(name)
	}
	one := "sonnet"
	if mode == string(perm.ModePlan) {
		one = "opus"
	}
	if strings.Contains(name, "[") {
		one += "[1m]"
	}
	return r.resolve1m(one)
}

// useModel makes a model the session's, from its next call on, and keeps the choice for later runs.
func (r *run) useModel(name, id string) {
	r.takePair(name)
	r.session.SetModel(id)
	r.leaveFast(id)
	r.keepModel(first(r.pair(), id))
}

// keepChoice keeps what the session works with, where later runs would not find it by themselves.
func (r *run) keepChoice(id string) {
	choice := first(r.pair(), id)
	if last := r.lastModel(); choice != last && (last != "" || choice != id) {
		r.keepModel(choice)
	}
}

// takePair remembers whether the model follows the permission mode from here on.
func (r *run) takePair(name string) {
	if !isPair(name) {
		name = ""
	}
	r.paired.Store(&name)
}

// pair is the name of the pair that the session works with, "" where it has one model.
func (r *run) pair() string {
	if name := r.paired.Load(); name != nil {
		return *name
	}
	return ""
}

// followMode changes the model with the permission mode, for the next call.
func (r *run) followMode(mode string) {
	if name := r.pair(); name != "" {
		r.session.SetModel(r.resolveFor(name, mode))
	}
}

// tellFollowed tells front ends of a model that changed with the mode.
func (r *run) tellFollowed(was string) {
	if id := r.session.Model(); id != was {
		_ = r.session.Relay(event.Envelope{Event: event.ModelChanged{Model: id, Reason: r.pair() + ": the model is now " + id}}) // nobody listens: nobody needs it
	}
}

// modelState is the session's model for a person, with the pair that it belongs to.
func (r *run) modelState() string {
	if name := r.pair(); name != "" {
		return r.session.Model() + " (" + name + ")"
	}
	return r.session.Model()
}
