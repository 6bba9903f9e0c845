package model

import (
	"time"

	"lathe/internal/trace"
)

// record tells the trace of the attempt, and the cache keeper of a whole answer.
func (a *attempt) record(err error) {
	p := a.p
	if err == nil && p.deps.Answered != nil {
		p.deps.Answered(p.t, p.req, a.begin, a.asm.usage)
	}
	x := p.t.Tracer()
	if x == nil || a.begin.IsZero() {
		return
	}
	c := trace.Call{
		Attempt: a.n, Wait: a.waited, Why: a.why, TTFT: a.ttft, Stop: a.asm.stop,
		APIID: a.asm.meta.ID, RequestID: a.asm.meta.RequestID,
	}
	if p.deps.Headers != nil {
		c.Headers = p.deps.Headers(p.req)
	}
	if p.deps.Sum != nil {
		c.Body, c.Bytes = p.deps.Sum(p.req)
	}
	if a.asm.started {
		u := a.asm.usage
		c.Usage = &u
		if p.deps.Cost != nil {
			c.Cost = p.deps.Cost(p.req.Model, u)
		}
	}
	if err != nil {
		c.Failure = err.Error()
		if e := apiError(err); e != nil {
			c.Status, c.RequestID = e.Status, e.RequestID
		}
	}
	x.Call(p.t, p.req, p.t.Now().Add(-time.Since(a.begin)), time.Since(a.begin), c)
}
