package agent

// Full reports whether as much waits for the reader of the prompt that is worked on as is kept for one.
func Full(s *Session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now != nil && len(s.now.events) == cap(s.now.events)
}
