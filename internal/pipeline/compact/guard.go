package compact

import "fmt"

// failuresMost is after how many failures, or useless compactions, in a row autocompact is switched off.
const failuresMost = 3

// Guard counts what goes wrong with compactions that nobody asked for. It belongs to the session, not to the process:
// whoever builds the session's next request decides alike.
type Guard struct {
	Failures int `json:"failures,omitempty"` // in a row
	Refills  int `json:"refills,omitempty"`  // compactions in a row after which the context was full again at once
}

// Off reports whether autocompact is switched off for the session, until /compact succeeds.
func (g Guard) Off() bool { return g.Failures >= failuresMost || g.Refills >= failuresMost }

// count changes the guard, and keeps it with the session before anything follows from it.
func (s *Stage) count(change func(*Guard)) (Guard, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guard
	change(&g)
	if g == s.guard {
		return g, nil
	}
	if s.deps.KeepGuard != nil {
		if err := s.deps.KeepGuard(g); err != nil {
			return g, fmt.Errorf("remember how compactions went: %w", err)
		}
	}
	s.guard = g
	return g, nil
}
