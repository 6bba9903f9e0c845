package checkpoint

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"lathe/internal/diff"
	"lathe/internal/file"
)

// ErrUnknown is wrapped by errors for a prompt that has no checkpoint.
var ErrUnknown = errors.New("no checkpoint")

// Change is what a rewind does to one path, or would do.
type Change struct {
	Path     string
	From, To State
	Added    int // lines that are put in, of a text
	Removed  int // lines that are taken out
	Why      string

	soft bool // Why gives way where the change is forced
}

// Plan is what going back to a prompt does.
type Plan struct {
	To        string
	Changes   []Change // files, links and directories that differ, by path
	Conflicts []Change // somebody else changed them since, or Options.Refuse is soft: left alone, unless forced
	Skipped   []Change // links in the way, files with several names, what Options.Refuse refuses: always left alone
	Lost      []Change // what they were was not kept
	Blind     []Change // directories in which commands ran unwatched
	Failed    []Change // of Apply: what could not be done
	Undo      string   // of Apply: going back to this undoes it; empty when nothing was to be done
}

// Files lists the paths of the changes that are files or links.
func (p *Plan) Files() []string {
	out := []string{}
	for _, c := range p.Changes {
		if c.From.Kind != Dir && c.To.Kind != Dir || c.From.Kind == File || c.To.Kind == File {
			out = append(out, c.Path)
		}
	}
	return out
}

// Lines counts the lines that the changes put in and take out.
func (p *Plan) Lines() (added, removed int) {
	for _, c := range p.Changes {
		added, removed = added+c.Added, removed+c.Removed
	}
	return added, removed
}

// Plan tells what going back to the state before the prompt would do; it changes nothing. An id without a checkpoint is
// an error that wraps ErrUnknown.
func (s *Store) Plan(to string, force bool) (*Plan, error) {
	s.ready()
	var p *Plan
	err := s.locked(func() (err error) {
		p, err = s.plan(to, force)
		return err
	})
	return p, err
}

// trail is what the log says of one path since a prompt.
type trail struct {
	first, last record
	foreign     bool // somebody else changed it between two records
}

func (s *Store) plan(to string, force bool) (*Plan, error) {
	from, ok := s.log.turns[to]
	if !ok {
		return nil, fmt.Errorf("%w of the message %s: it is older than what is kept, or checkpoints were off", ErrUnknown, to)
	}
	p := &Plan{To: to}
	trails := map[string]*trail{}
	var paths []string
	for _, r := range s.log.records {
		if r.Type == typeBlind && s.log.place(r) >= from && !slices.ContainsFunc(p.Blind, func(c Change) bool { return c.Path == r.Path }) {
			p.Blind = append(p.Blind, Change{Path: r.Path, Why: r.Was.Lost})
		}
		if r.Type != typeChange {
			continue
		}
		t := trails[r.Path]
		if t == nil {
			if s.log.place(r) >= from {
				trails[r.Path] = &trail{first: r, last: r}
				paths = append(paths, r.Path)
			}
			continue
		}
		// The record before may be of a write that did not happen.
		if !r.Was.same(t.last.Now) && !r.Was.same(t.last.Was) && r.Was.Kind != Dir {
			t.foreign = true
		}
		t.last = r
	}
	for _, path := range paths {
		s.judge(p, trails, path, force)
	}
	return p, nil
}

// judge adds what becomes of one path.
func (s *Store) judge(p *Plan, trails map[string]*trail, path string, force bool) {
	t := trails[path]
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		p.Skipped = append(p.Skipped, Change{Path: path, To: t.first.Was, Why: "it is no path that this program has written down"})
		return
	}
	now, data, _, err := look(path)
	if err != nil && linkGoes(trails, path) {
		now, data, err = State{}, nil, nil
	}
	c := Change{Path: path, From: now, To: t.first.Was}
	switch {
	case errors.Is(err, file.ErrMoved):
		c.Why = "a link was put in its way"
		p.Skipped = append(p.Skipped, c)
		return
	case err != nil:
		c.Why = err.Error()
		p.Conflicts = append(p.Conflicts, c)
		return
	case now.Kind == Nothing && c.To.Kind == Nothing, now.equal(c.To):
		return
	case c.To.Lost != "" || now.Lost != "":
		c.Why = c.To.Lost + now.Lost
		p.Lost = append(p.Lost, c)
		return
	case s.refused(&c) && !c.soft:
		p.Skipped = append(p.Skipped, c)
		return
	case now.Kind == Other || c.To.Kind == Other:
		c.Why = "it is a special file"
		p.Skipped = append(p.Skipped, c)
		return
	case now.Names > 1:
		c.Why = fmt.Sprintf("the file has %d names (hard links), and all of them would have to change", now.Names)
		p.Skipped = append(p.Skipped, c)
		return
	case c.To.Kind == File && !now.same(c.To) && !s.blobs.has(c.To.Hash):
		c.Why = "its content is not among the checkpoints any more"
		p.Lost = append(p.Lost, c)
		return
	}
	c.Added, c.Removed = s.count(now, c.To, data)
	if c.Why = cmp.Or(t.conflict(now), c.Why); c.Why != "" && !force {
		p.Conflicts = append(p.Conflicts, c)
		return
	}
	p.Changes = append(p.Changes, c)
}

// refused asks the owner of the store about a change.
func (s *Store) refused(c *Change) bool {
	if s.opt.Refuse != nil {
		c.Why, c.soft = s.opt.Refuse(c.Path, c.To.Target)
	}
	return c.Why != ""
}

// linkGoes reports whether the path lies behind a link that a command put in the place of a directory: the link goes
// first, and then there is nothing.
func linkGoes(trails map[string]*trail, path string) bool {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if t := trails[dir]; t != nil && t.first.Was.Kind == Dir && t.last.Now.Kind == Link {
			return true
		}
	}
	return false
}

// conflict says why the change of a path would undo what somebody else did, "" if it would not.
func (t *trail) conflict(now State) string {
	bare := func(k Kind) bool { return k == Dir || k == Nothing } // only empty directories are ever removed
	switch {
	case bare(now.Kind) && bare(t.last.Now.Kind) && bare(t.first.Was.Kind):
		return ""
	case !now.same(t.last.Now) && !now.same(t.last.Was):
		if now.Kind == Nothing {
			return "somebody else removed it"
		}
		return "somebody else changed it"
	case t.foreign:
		return "somebody else changed it between two changes of this session"
	}
	return ""
}

// largeDiff is the size of content from which on all lines count as changed.
const largeDiff = 1 << 20

// count is how many lines differ. Binary content has none.
func (s *Store) count(from, to State, data []byte) (added, removed int) {
	var next []byte
	if to.Kind == File && to.Lost == "" {
		next, _ = s.blobs.get(to.Hash) // what cannot be read is told when it is needed
	}
	return countLines(data, next)
}

func countLines(before, after []byte) (added, removed int) {
	old, ok := text(before)
	now, ok2 := text(after)
	switch {
	case !ok || !ok2:
		return 0, 0
	case len(old)+len(now) > largeDiff:
		return strings.Count(now, "\n"), strings.Count(old, "\n")
	}
	return diff.Count(diff.Patch(old, now))
}

// text decodes content for counting its lines.
func text(data []byte) (string, bool) {
	if t, err := file.Decode(data); err == nil && t.Enc != file.Other {
		return t.Body, true
	}
	return "", utf8.Valid(data) && len(data) == 0
}

// countMost is of how many files of one prompt the lines are counted for the list.
const countMost = 200

// Point is a prompt that one can go back to, or an earlier rewind that can be undone.
type Point struct {
	Turn
	Files          []string // that were changed since, before the next point
	Added, Removed int      // lines, as far as they can be known
	Lost           int      // files whose content was not kept
}

// Points lists what one can go back to, oldest first.
func (s *Store) Points() ([]Point, error) {
	s.ready()
	var out []Point
	err := s.locked(func() error {
		for _, i := range s.log.order {
			r := s.log.records[i]
			out = append(out, Point{Turn: Turn{ID: r.Turn, At: r.At, RewindTo: r.To}, Files: []string{}})
		}
		seen := make([]map[string]*trail, len(out))
		for _, r := range s.log.records {
			i := s.log.place(r)
			if r.Type != typeChange || i < 0 || r.Was.Kind == Dir || r.Now.Kind == Dir {
				continue
			}
			if seen[i] == nil {
				seen[i] = map[string]*trail{}
			}
			if t := seen[i][r.Path]; t != nil {
				t.last = r
				continue
			}
			seen[i][r.Path] = &trail{first: r, last: r}
			out[i].Files = append(out[i].Files, r.Path)
		}
		for i := range out {
			for _, path := range out[i].Files[:min(len(out[i].Files), countMost)] {
				out[i].count(s, seen[i][path])
			}
		}
		return nil
	})
	return out, err
}

func (p *Point) count(s *Store, t *trail) {
	if t.first.Was.Lost != "" {
		p.Lost++
		return
	}
	before, ok := s.content(t.first.Path, t.first.Was)
	after, ok2 := s.content(t.first.Path, t.last.Now)
	if ok && ok2 {
		added, removed := countLines(before, after)
		p.Added, p.Removed = p.Added+added, p.Removed+removed
	}
}

// content finds the content of a state: among the copies, or in the file itself.
func (s *Store) content(path string, st State) ([]byte, bool) {
	if st.Kind != File {
		return nil, true
	}
	if s.blobs.has(st.Hash) {
		data, err := s.blobs.get(st.Hash)
		return data, err == nil
	}
	now, data, _, err := look(path)
	return data, err == nil && now.same(st)
}
