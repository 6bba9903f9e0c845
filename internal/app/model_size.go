package app

import (
	"lathe/internal/provider"
	"lathe/internal/token"
)

// sizer estimates the tokens of requests. It counts only what the last request did not hold, since a session's
// requests begin alike.
type sizer struct {
	counter  token.Counter
	messages []provider.Message
	counts   []int // by message
}

func (s *sizer) size(req *provider.Request, newTokenizer bool) int {
	c := token.Counter{New: newTokenizer}
	keep := 0
	if c == s.counter {
		keep = provider.Shared(s.messages, req.Messages)
	}
	s.counter, s.messages, s.counts = c, req.Messages, s.counts[:keep]
	for _, m := range req.Messages[keep:] {
		s.counts = append(s.counts, c.Blocks(m.Content))
	}
	n := c.Blocks(req.System) + c.Tools(req.Tools)
	for _, count := range s.counts {
		n += count
	}
	return n
}
