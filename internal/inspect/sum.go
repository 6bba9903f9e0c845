package inspect

import (
	"slices"

	"lathe/internal/msg"
)

// sum says what the session came to, part by part and in all.
func (in Input) sum(s *Session) {
	own := total(PartMain, s.Requests)
	agents := Part{Kind: PartAgents}
	for _, a := range s.Agents {
		p := total(PartAgents, a.Requests)
		a.Usage, a.Cost, a.Hit = p.Usage, p.Cost, hit(p.Usage)
		a.Lost, a.LostCost = lost(a.Requests)
		agents = agents.plus(p)
		s.Lost, s.LostCost = s.Lost+a.Lost, s.LostCost+a.LostCost
	}
	n, usd := lost(s.Requests)
	s.Lost, s.LostCost = s.Lost+n, s.LostCost+usd
	s.Parts = append([]Part{own, agents}, in.side(s.Side)...)
	s.Parts = slices.DeleteFunc(s.Parts, func(p Part) bool { return p.Kind != PartMain && p.Calls == 0 })
	all := Part{}
	for _, p := range s.Parts {
		all = all.plus(p)
	}
	if rest := in.Kept.Cost - all.Cost; rest > 1e-9 {
		p := Part{Kind: PartRest, Usage: minus(in.Kept.Usage, all.Usage), Cost: rest}
		s.Parts = append(s.Parts, p)
		all = all.plus(p)
	}
	s.Usage, s.Cost, s.Hit = all.Usage, all.Cost, hit(all.Usage)
}

// side are the calls outside the conversations by what they were for: those that the account has counted, or those that
// were traced where they are more.
func (in Input) side(traced []*Request) []Part {
	out := slices.Clone(in.Kept.Side)
	seen := map[string]Part{}
	var order []string
	for _, r := range traced {
		p, ok := seen[r.For]
		if !ok {
			order = append(order, r.For)
		}
		seen[r.For] = p.plus(total(PartSide, []*Request{r}))
	}
	for _, purpose := range order {
		p := seen[purpose]
		p.Kind, p.Purpose = PartSide, purpose
		switch i := slices.IndexFunc(out, func(k Part) bool { return k.Purpose == purpose }); {
		case i < 0:
			out = append(out, p)
		case p.Calls > out[i].Calls:
			out[i] = p
		}
	}
	return out
}

func total(kind string, list []*Request) Part {
	p := Part{Kind: kind, Calls: len(list)}
	for _, r := range list {
		p.Usage, p.Cost = p.Usage.Add(r.Usage), p.Cost+r.Cost
	}
	return p
}

func (p Part) plus(o Part) Part {
	p.Calls, p.Usage, p.Cost = p.Calls+o.Calls, p.Usage.Add(o.Usage), p.Cost+o.Cost
	return p
}

func lost(list []*Request) (tokens int, usd float64) {
	for _, r := range list {
		if r.Miss != nil {
			tokens, usd = tokens+r.Miss.Lost, usd+r.Miss.Cost
		}
	}
	return tokens, usd
}

// hit is the share of a prompt that was read from the cache.
func hit(u msg.Usage) float64 {
	if n := u.Prompt(); n > 0 {
		return float64(u.CacheRead) / float64(n)
	}
	return 0
}

func minus(a, b msg.Usage) msg.Usage {
	return msg.Usage{
		Input: max(0, a.Input-b.Input), Output: max(0, a.Output-b.Output),
		CacheRead: max(0, a.CacheRead-b.CacheRead), CacheWrite: max(0, a.CacheWrite-b.CacheWrite),
	}
}

// note says what of the session is not known.
func (in Input) note(s *Session) {
	missing := false
	for _, r := range s.All() {
		missing, s.Traced = missing || !r.Traced, s.Traced || r.Traced && r.For == ""
	}
	for _, t := range s.traces {
		if t.Skipped > 0 {
			s.Notes = append(s.Notes, "some lines of the trace could not be read")
			break
		}
	}
	switch {
	case missing && s.Traced:
		s.Notes = append(s.Notes, "some requests were made without a trace: their stages and bodies are not known")
	case missing:
		s.Notes = append(s.Notes, "this session has no trace, so its stages and bodies are not known: run it with --trace, or set \"trace\": true")
	}
}
