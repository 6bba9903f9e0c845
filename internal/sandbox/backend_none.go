//go:build !linux && !darwin

package sandbox

import (
	"errors"
	"runtime"

	"lathe/internal/proc"
)

// findBackend has nothing to find here.
func (s *Sandbox) findBackend() Status {
	return Status{Missing: "there is no sandbox for " + runtime.GOOS + "; on Windows use WSL 2"}
}

func (r *Run) wrap(*proc.Spec, Input) error { return errors.New("there is no sandbox here") }
