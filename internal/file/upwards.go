package file

import "path/filepath"

// Upwards are the directories from dir to the repository's top, which is empty outside of one: then, and where top is not
// above it, only dir.
func Upwards(dir, top string) []string {
	out := []string{dir}
	for top != "" && dir != top {
		up := filepath.Dir(dir)
		if up == dir {
			return out[:1]
		}
		dir = up
		out = append(out, dir)
	}
	return out
}

// Below reports whether a path is in a directory, as both are written. In no directory there is nothing.
func Below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return dir != "" && err == nil && filepath.IsLocal(rel)
}
