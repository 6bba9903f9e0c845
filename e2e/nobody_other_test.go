//go:build !unix

package e2e

import (
	"os/exec"
	"testing"
)

// asNobody is for systems with modes only.
func asNobody(t *testing.T, _ *rig, _ *exec.Cmd) {
	t.Helper()
	t.Skip("SKIPPED: needs users and file modes, which this system does not have")
}
