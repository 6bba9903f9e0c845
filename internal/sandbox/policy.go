package sandbox

import (
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/perm"
)

// Policy is what a sandboxed command may do. All paths are absolute, with links resolved. Where entries overlap,
// the deeper one counts; of the same path, the stricter one.
type Policy struct {
	// Write are directories and files that may be changed, with all that is below them.
	Write []string
	// Keep are existing paths below Write that stay as they are: what grants power outside the sandbox.
	Keep []string
	// Absent are names below Write that do not exist and must not come to be.
	Absent []string
	// Pinned are directories below Write that must not be moved away, since something in them is kept or hidden.
	Pinned []string
	// Hide are paths that cannot be read, nor changed.
	Hide []string
	// Show are paths below Hide that can be read all the same.
	Show []string
	// Restore are names that no means can keep from being changed while a command runs: links among the protected
	// names, and names that must stay absent but for which no placeholder may stand. They are put back afterwards.
	Restore []string
	// Aside are names that must stay absent, too many for placeholders, or in folders that are not there: what came to be under
	// one is moved aside afterwards. Nobody's file may be lost for it.
	Aside []string
	// Unlimited says that files are not confined at all.
	Unlimited bool

	Network Network
}

// Network is what a sandboxed command may reach through the proxy. Nothing listed is nothing reachable.
type Network struct {
	Allow, Deny []perm.DomainPattern
	// UnixSockets says that Unix sockets may be opened: of a daemon that answers on one, anything can be asked.
	UnixSockets bool
}

// kind is what a policy says of a path.
type kind int

const (
	readOnly kind = iota
	writable
	kept
	hidden
)

// at is what the policy says of an absolute path without links.
func (p *Policy) at(path string) kind {
	best, depth := readOnly, -1
	look := func(list []string, k kind) {
		for _, dir := range list {
			if d := len(dir); within(path, dir) && (d > depth || d == depth && k > best) {
				best, depth = k, d
			}
		}
	}
	look(p.Write, writable)
	look(p.Show, readOnly)
	look(p.Keep, kept)
	look(p.Absent, kept)
	look(p.Hide, hidden)
	return best
}

// Writable says whether a command may change, make or remove a path (absolute, without links).
func (p *Policy) Writable(path string) bool { return p.Unlimited || p.at(path) == writable }

// Readable says whether a command may read a path (absolute, without links).
func (p *Policy) Readable(path string) bool { return p.Unlimited || p.at(path) != hidden }

// pin notes the folders between a path and the writable directory that it is in: moved away, they would take the
// path along, to where no rule knows it.
func (p *Policy) pin(path string) {
	for dir := filepath.Dir(path); !slices.Contains(p.Write, dir) && withinAny(dir, p.Write); dir = filepath.Dir(dir) {
		p.Pinned = appendNew(p.Pinned, dir)
	}
}

// within says whether path is dir or below it.
func within(path, dir string) bool {
	if dir == "/" {
		return true
	}
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

func withinAny(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(d string) bool { return within(path, d) })
}

// mount is one step of the view of the files: what a path becomes.
type mount struct {
	path string
	kind kind // readOnly shows a path below a hidden one
}

// mounts orders the policy for a view that starts read-only: parents before children, and nothing that would
// bring back what a hidden parent hides.
func (p *Policy) mounts() []mount {
	kinds := map[string]kind{}
	add := func(list []string, k kind) {
		for _, path := range list {
			if old, there := kinds[path]; !there || k > old {
				kinds[path] = k
			}
		}
	}
	add(p.Show, readOnly)
	add(p.Pinned, writable)
	add(p.Write, writable)
	add(p.Keep, kept)
	add(p.Absent, kept)
	add(p.Hide, hidden)
	var out []mount
	for path, k := range kinds {
		if k == kept || slices.Contains(p.Pinned, path) {
			// Only what would be writable needs to be kept, and what is hidden must stay so.
			if above := p.at(filepath.Dir(path)); above != writable {
				continue
			}
		}
		out = append(out, mount{path, k})
	}
	slices.SortFunc(out, func(a, b mount) int { return strings.Compare(a.path, b.path) })
	return out
}
