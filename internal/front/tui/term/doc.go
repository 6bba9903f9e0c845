// Package term is the terminal as a device: raw mode, its modes, its size, and what comes from it as keys, pastes, mouse
// and reports. In come bytes, out go events; whatever was switched on is switched off again by Close, by Suspend and by
// the guard process, which outlives us when we are killed.
package term
