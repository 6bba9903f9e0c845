//go:build !unix

package e2e

import (
	"os/exec"
	"testing"
)

// asNobody is for systems with modes only.
func asNobody(t *testing.T, _ *rig, _ *exec.Cmd) {
	t.Helper()
	t.Skip("needs users and modes")
}
