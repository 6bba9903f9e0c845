package search

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// doublestarMatch is the oracle for path patterns. It differs from us in one point: a last ** also takes nothing.
func doublestarMatch(t interface{ Fatalf(string, ...any) }, pattern, path string) bool {
	ok, err := doublestar.Match(pattern, path)
	if err != nil {
		t.Fatalf("%q: %v", pattern, err)
	}
	if ok && strings.HasSuffix(pattern, "/**") {
		ok, _ = doublestar.Match(pattern+"/*", path)
	}
	return ok
}
