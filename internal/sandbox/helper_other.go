//go:build !linux

package sandbox

import (
	"fmt"
	"io"
)

// Helper is of no use here: nothing calls it.
func Helper(_ []string, stderr io.Writer) int {
	fmt.Fprintln(stderr, "lathe: this command is for the sandbox's own use, on Linux")
	return 1
}
