//go:build unix

package place

import (
	"fmt"
	"os"
	"syscall"
)

// ownFolder makes a folder in a place where everybody may make some, and makes sure that it is the user's alone: what
// another one has put there before could say whom to trust.
func ownFolder(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(owner.Uid) != os.Geteuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("there is no home directory, and %s is not yours alone: set HOME, or LATHE_HOME to a folder of yours", dir)
	}
	return nil
}
