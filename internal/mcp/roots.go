//lint:file-ignore SA1019 roots are deprecated as of 2026-07-28; servers of earlier versions ask for them

package mcp

import (
	"net/url"
	"path/filepath"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// withRoots is what a client announces that tells of the working directories.
func withRoots() *sdk.ClientCapabilities {
	return &sdk.ClientCapabilities{RootsV2: &sdk.RootCapabilities{ListChanged: true}}
}

func (s *Set) giveRoots(c *sdk.Client) { c.AddRoots(s.rootList()...) }

// rootList is the working directories as the protocol names them.
func (s *Set) rootList() []*sdk.Root {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*sdk.Root
	for _, dir := range s.roots {
		out = append(out, &sdk.Root{URI: rootURI(dir), Name: filepath.Base(dir)})
	}
	return out
}

func rootURI(dir string) string {
	path := filepath.ToSlash(dir)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// SetRoots tells the servers of other working directories.
func (s *Set) SetRoots(dirs []string) {
	s.mu.Lock()
	s.roots = dirs
	s.mu.Unlock()
	for _, sv := range s.all() {
		sv.mu.Lock()
		c := sv.conn
		sv.mu.Unlock()
		if c != nil {
			s.giveRoots(c.client)
		}
	}
}
