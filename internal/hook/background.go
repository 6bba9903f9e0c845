package hook

import (
	"bytes"
	"sync"
	"time"

	"lathe/internal/proc"
)

// Late is what a handler in the background said after the moment had passed.
type Late struct {
	Context []string // for the model
	System  []string // for the person
	Wake    bool     // the model should be told even if it has nothing to do
}

// background is the handlers that nobody waits for.
type background struct {
	mu    sync.Mutex
	procs map[*proc.Proc]struct{}
	late  []Late
	over  bool
	wg    sync.WaitGroup
}

// watch follows a handler to its end.
func (g *background) watch(b *Bus, e Event, h *handler, c *proc.Proc, out, errs *capture, limit time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		c.Stop(proc.QuickGrace)
		return
	}
	if g.procs == nil {
		g.procs = map[*proc.Proc]struct{}{}
	}
	g.procs[c] = struct{}{}
	g.wg.Go(func() {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		select {
		case <-c.Done():
		case <-timer.C:
			c.Stop(killAfter)
		}
		l := b.late(e, h, ended(c.Exit(), out, errs))
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.procs, c)
		if len(l.Context)+len(l.System) > 0 && !g.over {
			g.late = append(g.late, l)
		}
	})
}

// late reads the answer of a handler in the background: context and messages only, and with asyncRewake what exit
// code 2 says.
func (b *Bus) late(e Event, h *handler, r raw) Late {
	var l Late
	text := r.stdout
	if first, rest, ok := bytes.Cut(text, []byte("\n")); ok && looksJSON(first) && looksJSON(rest) {
		text = rest // after {"async": true}
	}
	switch {
	case r.problem != "":
		l.System = append(l.System, string(e)+" hook in the background ("+h.title()+"): "+inert(r.problem))
	case h.AsyncRewake && r.code == 2:
		said := r.stderr
		if len(bytes.TrimSpace(said)) == 0 {
			said = r.stdout
		}
		if s := b.capped(string(said)); s != "" {
			l.Context, l.Wake = append(l.Context, s), true
		}
	case looksJSON(text):
		out, err := parseOutput(e, text)
		if err != nil {
			l.System = append(l.System, string(e)+" hook in the background ("+h.title()+"): "+err.Error())
			break
		}
		if s := b.capped(out.Specific.Context); s != "" {
			l.Context = append(l.Context, s)
		}
		if s := b.capped(out.SystemMessage); s != "" {
			l.System = append(l.System, s)
		}
	}
	return l
}

// Waiting reports whether handlers in the background have said something.
func (b *Bus) Waiting() bool {
	if b == nil {
		return false
	}
	b.back.mu.Lock()
	defer b.back.mu.Unlock()
	return len(b.back.late) > 0
}

// TakeLate returns what they said since it was last called.
func (b *Bus) TakeLate() []Late {
	if b == nil {
		return nil
	}
	b.back.mu.Lock()
	defer b.back.mu.Unlock()
	l := b.back.late
	b.back.late = nil
	return l
}

func (g *background) close() {
	g.mu.Lock()
	g.over = true
	procs := make([]*proc.Proc, 0, len(g.procs))
	for c := range g.procs {
		procs = append(procs, c)
	}
	g.mu.Unlock()
	for _, c := range procs {
		c.Stop(proc.QuickGrace)
	}
	g.wg.Wait()
}
