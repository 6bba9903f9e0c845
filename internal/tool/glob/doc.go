// Package glob is the tool Glob: files by name pattern, newest first. In comes a pattern, out come paths. Called by
// pipeline/tools (stage 9); the walk is package search's.
package glob
