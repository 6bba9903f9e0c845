//go:build unix

package file

import (
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// temp is a file that will take another one's place.
type temp struct{ p *renameio.PendingFile }

func newTemp(path string) (temp, error) {
	p, err := renameio.NewPendingFile(path, renameio.WithTempDir(filepath.Dir(path)), renameio.WithPermissions(0o644))
	return temp{p}, err
}

func (t temp) file() *os.File { return t.p.File }
func (t temp) commit() error  { return t.p.CloseAtomicallyReplace() }
func (t temp) discard()       { _ = t.p.Cleanup() }
