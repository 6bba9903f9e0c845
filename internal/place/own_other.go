//go:build !unix

package place

import "os"

// ownFolder makes the folder; temporary folders are the user's own here.
func ownFolder(dir string) error { return os.MkdirAll(dir, 0o700) }
