//go:build !unix

package file

import (
	"errors"
	"os"
)

// ErrHeld says that another process, or another part of this one, holds the file.
var ErrHeld = errors.New("it is held")

// Hold keeps others from holding a file; see hold_unix.go.
func Hold(string, bool) (*os.File, error) { return nil, errors.ErrUnsupported }
