//go:build unix

package place

import (
	"os"
	"path/filepath"
	"testing"
)

// Where there is no home directory, state goes where anybody may make folders: one that is not the user's alone is not used.
func TestOwnFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lathe-1")
	for range 2 {
		if err := ownFolder(dir); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	for name, spoil := range map[string]func() error{
		"others may write": func() error { return os.Chmod(dir, 0o777) },
		"a link":           func() error { return os.Symlink(t.TempDir(), dir) },
		"a file":           func() error { return os.WriteFile(dir, nil, 0o600) },
		"another owner": func() error {
			if os.Geteuid() != 0 {
				return os.Chmod(dir, 0o755)
			}
			return os.Chown(dir, 12345, -1)
		},
	} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if name == "others may write" || name == "another owner" {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if ownFolder(dir) == nil {
			t.Error(name)
		}
	}
}
