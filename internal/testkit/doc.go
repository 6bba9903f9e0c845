// Package testkit is what the tests of several packages share. Into it go names and texts; out come directories: a tree
// of files that a test works on (Tree), the folder of recorded material that is no part of the repository (Shared). It is
// called by tests only.
package testkit
