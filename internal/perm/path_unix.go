//go:build !windows

package perm

import (
	"errors"
	"syscall"
)

// notDir says that a path goes on below a file, so that nothing can be there.
func notDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
