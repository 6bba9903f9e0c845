//go:build !linux

package proc

// spawner starts children; only Linux needs a thread for it.
type spawner struct{}

func (*spawner) do(f func()) { f() }
func (*spawner) stop()       {}

// Environments of other processes cannot be read without privileges here, so what left its process group is
// neither found nor listed.
func killMarked(string)        {}
func listMarked(string) []Left { return nil }
