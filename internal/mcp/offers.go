package mcp

import (
	"context"
	"time"
)

// offers is what a server last said that it has for a prompt to name. It is asked when somebody wants to know, and again
// when it has said that it changed.
type offers struct {
	list   []Resource
	heard  bool          // it was asked once
	fresh  bool          // and has not said since that its list changed
	turn   int           // counts such changes
	asking chan struct{} // closed when the question that runs is answered; nil: none runs
}

// offersWait is how long Offers may wait.
const offersWait = 200 * time.Millisecond

// Offers lists the resources and the templates of resources of the connected servers, as far as they are known. What is not is asked
// for in the background; building is true where that is for the first time. With wait the answer is waited for, for
// offersWait at most. A server that fails to answer has none.
func (s *Set) Offers(ctx context.Context, wait bool) (out []Resource, building bool) {
	timer := time.NewTimer(offersWait)
	defer timer.Stop()
	for _, sv := range s.all() {
		sv.mu.Lock()
		c := sv.conn
		sv.mu.Unlock()
		if c == nil || !c.resources {
			continue
		}
		asking := c.ask()
		if asking != nil && wait {
			select {
			case <-asking:
			case <-timer.C:
				wait = false
			case <-ctx.Done():
				wait = false
			}
		}
		c.mu.Lock()
		out = append(out, c.offers.list...)
		building = building || !c.offers.heard
		c.mu.Unlock()
	}
	return out, building
}

// ask asks for the list where it is not fresh. It returns what is closed when the answer is there, nil where none is due.
func (c *connection) ask() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := &c.offers
	if !o.fresh && o.asking == nil {
		o.asking = make(chan struct{})
		c.sv.set.spawn(c.learnOffers)
	}
	return o.asking
}

func (c *connection) learnOffers() {
	c.mu.Lock()
	turn := c.offers.turn
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(c.sv.set.ctx, startTime)
	defer cancel()
	list, _ := c.listResources(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	o := &c.offers
	o.list, o.heard, o.fresh = list, true, o.turn == turn
	close(o.asking)
	o.asking = nil
}

// changedOffers has the list asked for anew when it is wanted again.
func (c *connection) changedOffers() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offers.turn++
	c.offers.fresh = false
}
