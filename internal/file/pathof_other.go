//go:build !linux

package file

import "os"

// pathOf is known on Linux only.
func pathOf(*os.Root) string { return "" }
