package compact

import (
	"fmt"
	"slices"
	"strings"

	"lathe/internal/event"
	"lathe/internal/turn"
)

// plan is steps to be taken together: the cache behind the first change is written again once for all of them.
type plan struct {
	steps []Step
	price Price
	why   string
}

func (p *plan) name() string {
	names := make([]string, len(p.steps))
	for i, s := range p.steps {
		names[i] = s.Name
	}
	return strings.Join(names, " and ")
}

// plan prices steps that are taken one after the other; nil when one of them has nothing to do.
func (s *Stage) plan(t *turn.Turn, v sight, steps []Step) *plan {
	out, all := v.view, Report{FirstChanged: len(v.view)}
	for i, step := range steps {
		next, r := step.Apply(out, v.set)
		if r.FirstChanged < 0 {
			return nil
		}
		if i == 0 {
			all.TokensBefore = r.TokensBefore
		}
		all.TokensAfter, all.FirstChanged = r.TokensAfter, min(all.FirstChanged, r.FirstChanged)
		out = next
	}
	p := newMarket(v, t.Model, t.Now(), s.cfg).price(v.view, out, all, v.set)
	p.TurnStart = t.Step <= 1
	return &plan{steps: steps, price: p}
}

// best is the plan that saves most among those that are worth it; nil for none. Snip is never optional, and what is
// always taken was taken already.
func (s *Stage) best(t *turn.Turn, v sight) *plan {
	var steps []Step
	for _, step := range s.steps {
		if step.Name != "snip" && !slices.Contains(s.cfg.Always, step.Name) {
			steps = append(steps, step)
		}
	}
	var best *plan
	for set := 1; set < 1<<len(steps); set++ {
		var some []Step
		for i, step := range steps {
			if set>>i&1 == 1 {
				some = append(some, step)
			}
		}
		p := s.plan(t, v, some)
		if p == nil {
			continue
		}
		var yes bool
		yes, p.why = p.worth(v.size, v.limit)
		t.Note("%s: %s. %s", p.name(), p.price, p.why)
		if yes && (best == nil || p.price.net() > best.price.net()) {
			best = p
		}
	}
	return best
}

// follow takes the steps of a plan, and says so unless only superseded results go: that is often, and nothing is missed.
func (s *Stage) follow(t *turn.Turn, v *sight, p *plan) error {
	t.Note("taken: %s", p.name())
	for _, step := range p.steps {
		out, r := step.Apply(v.view, v.set)
		if r.FirstChanged < 0 {
			continue
		}
		saved := p.price
		saved.Saved = newMarket(*v, t.Model, t.Now(), s.cfg).scaled(r.TokensBefore - r.TokensAfter)
		if err := s.take(t, v, out, r, saved, p.why); err != nil {
			return err
		}
	}
	if !p.lossy() || slices.ContainsFunc(p.steps, func(step Step) bool { return slices.Contains(s.cfg.Always, step.Name) }) {
		return nil
	}
	return t.Emit(event.Notice{Level: "info", Text: fmt.Sprintf("Context: about %d tokens of earlier work are no longer sent word for word (%s). %s",
		p.price.Saved, p.name(), p.why)})
}
