package compact

import (
	"lathe/internal/msg"
	"lathe/internal/token"
)

// Settings are what a step may look at besides the view.
type Settings struct {
	Window   int // of the model, in tokens
	Counter  token.Counter
	Overhead int      // tokens of the system prompt and the tools
	Target   int      // tokens, overhead included, that snip makes room for; 0: it does nothing
	Recent   int      // so many of the newest calls keep their results
	Running  int      // tokens of the view's end in which collapse leaves the running turn's results; 0: it leaves all
	Pins     []string // texts that mark a user message as pinned, beside #pin

	known map[sizeKey]int // what Counter said; nil: it is asked each time
}

// sizeKey is a message, by its first block and their number, or one block (none). Neither is ever changed in place.
type sizeKey struct {
	first *msg.Block
	n     int
}

// tokens estimates messages as Counter does. A plan counts the same ones again and again.
func (s Settings) tokens(ms []msg.Message) int {
	if s.known == nil {
		return s.Counter.Messages(ms)
	}
	total := 0
	for i, m := range ms {
		if len(m.Blocks) == 0 {
			total += s.Counter.Messages(ms[i : i+1])
			continue
		}
		total += s.remember(sizeKey{&m.Blocks[0], len(m.Blocks)}, func() int { return s.Counter.Messages(ms[i : i+1]) })
	}
	return total
}

// block estimates one block of a message.
func (s Settings) block(b *msg.Block) int {
	if s.known == nil {
		return s.Counter.Block(*b)
	}
	return s.remember(sizeKey{b, 0}, func() int { return s.Counter.Block(*b) })
}

func (s Settings) remember(key sizeKey, count func() int) int {
	n, ok := s.known[key]
	if !ok {
		n = count()
		s.known[key] = n
	}
	return n
}

// minSaving is how many tokens an edit must save to be worth its trouble.
const minSaving = 1000

// Step makes the view smaller. Apply is a pure function; it returns the view as it came when it has nothing to do.
type Step struct {
	Name  string
	Apply func(view []msg.Message, s Settings) ([]msg.Message, Report)
}

// Report says what a step did.
type Report struct {
	TokensBefore, TokensAfter int   // estimated
	FirstChanged              int   // index in the view that it was given; -1: nothing changed
	Edit                      *Edit // what to keep, so that later requests are made alike; nil for the boundary
}

// Steps returns the steps in their order.
func Steps() []Step {
	return []Step{
		{Name: "boundary", Apply: Boundary},
		{Name: "snip", Apply: Snip},
		{Name: "microcompact", Apply: Microcompact},
		{Name: "collapse", Apply: Collapse},
	}
}

// Boundary keeps what follows the last compact boundary: its summary, and what came after.
func Boundary(view []msg.Message, s Settings) ([]msg.Message, Report) {
	for i := len(view) - 1; i >= 0; i-- {
		if view[i].Kind == msg.KindSystem && view[i].Subtype == msg.SubCompactBoundary {
			after := view[i+1:]
			return after, Report{TokensBefore: Size(view, s.Counter), TokensAfter: Size(after, s.Counter), FirstChanged: 0}
		}
	}
	return view, unchanged
}

var unchanged = Report{FirstChanged: -1}

// Size estimates the tokens of the view: what the provider counted up to the last answer, and a rough estimate of
// what came since. Without a counted answer everything is estimated, and the system prompt and tools are not in it.
func Size(view []msg.Message, c token.Counter) int {
	n, _ := size(view, c)
	return n
}

// size also reports whether the provider's count is in it, which covers the system prompt and the tools. What edits
// have saved since the count is taken off.
func size(view []msg.Message, c token.Counter) (n int, counted bool) {
	for i := len(view) - 1; i >= 0; i-- {
		m := view[i]
		if m.Kind != msg.KindAssistant || m.APIError != "" || m.Usage == nil || m.Usage.Prompt() == 0 {
			continue
		}
		since := 0
		for _, later := range view[i+1:] {
			if e, ok := editOf(later); ok {
				since -= e.Saved
			}
			if later.Kind != msg.KindAssistant || later.APIID != m.APIID {
				since += c.Messages([]msg.Message{later})
			}
		}
		return max(m.Usage.Total()+since, 0), true
	}
	return c.Messages(view), false
}
