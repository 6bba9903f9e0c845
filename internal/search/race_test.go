//go:build race

package search

// raceEnabled: timings do not count under the race detector.
const raceEnabled = true
