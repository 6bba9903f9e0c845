package place

import (
	"cmp"
	"path/filepath"
	"slices"

	"lathe/internal/config"
	"lathe/internal/file"
	"lathe/internal/git"
	"lathe/internal/mcp"
)

// judgeTrust decides whether the project's files may grant. Trust is bound to what they granted when the user gave
// it: a change asks again.
func (p *Place) judgeTrust(now bool) {
	p.granting = [2]string{p.Sys.Dirs.Work, p.Root}
	grants := p.Settings.Grants(p.granting[0], p.granting[1])
	p.Grants, p.Approved = grants, config.GrantsHash(grants, p.TrustKey)
	if now {
		p.Trusted, p.trustedNow = true, true
		return
	}
	entry, known := config.NewTrust(p.Sys.Dirs.State).Get(p.TrustKey)
	switch {
	case !known:
	case entry.Hash == p.Approved && entry.Rules:
		p.SavedRules = true
	case entry.Hash == p.Approved:
		p.Trusted = true
		for _, dir := range p.Deeper() {
			if !p.trustsDeeper(dir) {
				p.Notes = append(p.Notes, "what the commands, skills and agents of "+dir+" run or allow does not count: you have not approved it; run lathe trust there")
			}
		}
	case entry.Rules: // the folder was never trusted; what else is in its settings now is asked about as anywhere
	default:
		p.Lapsed = true
		p.Notes = append(p.Notes, "what this project's files grant or run has changed since you trusted it, so they do not count; see what it is with lathe trust --show, and run lathe trust to approve it")
	}
}

// Counts reports whether what the project's settings grant is in force: the project is trusted, or they grant nothing
// but what the user's own answers have saved there.
func (p *Place) Counts() bool { return p.Trusted || p.SavedRules }

// TrustsAt reports whether what a definition of the project runs or allows counts: the project is trusted, and so is the
// folder below its top that the definition belongs to, with what is there now.
func (p *Place) TrustsAt(path string) bool {
	if !p.Trusted {
		return false
	}
	for _, dir := range p.Deeper() {
		if file.Below(filepath.Join(dir, ".claude"), path) || file.Below(filepath.Join(dir, ".lathe"), path) {
			return p.trustsDeeper(dir)
		}
	}
	return p.asApproved(path)
}

// asApproved reports whether what a definition at the project's top has of power, and what the programs hold that its hooks
// name, is what was there when the project was found trusted: a session may run for long, and files change meanwhile.
func (p *Place) asApproved(path string) bool {
	if config.Power(path) == "" {
		return true
	}
	dirs := p.grantDirs()
	now := config.Deeper(dirs[len(dirs)-1], dirs...)
	known := func(g config.Grant) bool {
		return slices.ContainsFunc(p.Grants, func(o config.Grant) bool { return o.Key == g.Key && o.File == g.File && o.Text == g.Text })
	}
	i := slices.IndexFunc(now, func(g config.Grant) bool { return g.File == path || sameFile(g.File, path) })
	if i < 0 { // beyond the list: what is there is known as a whole
		i = slices.IndexFunc(now, func(g config.Grant) bool { return g.Key == config.Unlisted })
	}
	same := i >= 0 && known(now[i]) && !slices.ContainsFunc(now, func(g config.Grant) bool { return g.Key == "script of "+now[i].Key && !known(g) })
	if !same {
		_, same = p.approvedSince()
	}
	return same
}

// FromProject reports whether the value of a setting that counts comes from the project's files.
func (p *Place) FromProject(key string) bool {
	for _, l := range p.Settings.Layers { // highest first
		if v, ok := l.Keys[key]; ok && l.Trusted && string(v) != "null" {
			return l.Scope == config.Project || l.Scope == config.Local
		}
	}
	return false
}

// RunsAsApproved reports whether the programs of the project that a command of its settings names hold what they held when
// the project was found trusted. cwd is where it would run.
func (p *Place) RunsAsApproved(command string, args []string, cwd string) bool {
	if !p.Trusted || config.SameScripts(p.Grants, command, args, p.grantDirs(), cwd) {
		return true
	}
	now, ok := p.approvedSince()
	return ok && config.SameScripts(now, command, args, p.grantDirs(), cwd)
}

// approvedSince is what the project's files grant and run now, where the user has approved that.
func (p *Place) approvedSince() ([]config.Grant, bool) {
	entry, known := config.NewTrust(p.Sys.Dirs.State).Get(p.TrustKey)
	if !known || entry.Rules {
		return nil, false
	}
	s, err := config.Load(p.Places)
	if err != nil {
		return nil, false
	}
	now := s.Grants(p.granting[0], p.granting[1])
	return now, config.GrantsHash(now, p.TrustKey) == entry.Hash
}

// grantDirs are the folders that grants are looked for in, the project's top last. A place that moved to a work tree of the
// project looks where it came from.
func (p *Place) grantDirs() []string {
	return slices.DeleteFunc(slices.Clone(p.granting[:]), func(d string) bool { return d == "" })
}

func sameFile(a, b string) bool {
	x, err := filepath.EvalSymlinks(a)
	if err != nil {
		return false
	}
	y, err := filepath.EvalSymlinks(b)
	return err == nil && x == y
}

// Deeper are the folders from the one that the session started in up to the top of the project, without that. They are read
// when they are needed: most have no definitions.
func (p *Place) Deeper() []string {
	top := cmp.Or(p.ProjectRoot, p.Project)
	var out []string
	for dir := p.Project; dir != top && file.Below(top, dir); dir = filepath.Dir(dir) {
		out = append(out, dir)
	}
	return out
}

// trustsDeeper reports whether a folder below the top of a project that is trusted has nothing of power, or what the user
// has approved there.
func (p *Place) trustsDeeper(dir string) bool {
	if p.trustedNow {
		return true
	}
	grants := p.GrantsDeeper(dir)
	if len(grants) == 0 {
		return true
	}
	entry, known := config.NewTrust(p.Sys.Dirs.State).Get(dir)
	return known && !entry.Rules && entry.Hash == config.GrantsHash(grants, dir)
}

// Approve keeps the user's trust in the project as it is now. What its servers say counts anew.
func (p *Place) Approve(list config.Trust) error {
	if err := list.Add(p.TrustKey, p.Grants, p.Sys.Now()); err != nil {
		return err
	}
	known := mcp.NewKnown(p.Sys.Dirs.State, p.TrustKey)
	if err := known.Forget(""); err != nil {
		return err
	}
	for _, g := range p.Grants {
		if g.Key == config.ServersFile {
			servers, _, _ := mcp.Parse([]byte(g.Text), mcp.Project, g.File) // what cannot be read starts nothing
			return known.Meet(servers, p.programs)
		}
	}
	return nil
}

// Programs tells what the programs of the project hold that a command names, "" for none. It is nil where the project is
// trusted for this run, whatever is there.
func (p *Place) Programs() func(command string, args []string) string {
	if p.trustedNow {
		return nil
	}
	return p.programs
}

func (p *Place) programs(command string, args []string) string {
	return config.Programs(command, args, p.grantDirs())
}

// GrantsDeeper is what a folder below the top grants; its hooks may name files from where the session started on.
func (p *Place) GrantsDeeper(dir string) []config.Grant {
	return config.Deeper(dir, p.Project, cmp.Or(p.ProjectRoot, p.Project))
}

// ApproveDeeper keeps the user's trust in the folders below the top, and returns what they grant, by folder.
func (p *Place) ApproveDeeper(list config.Trust) (map[string][]config.Grant, error) {
	out := map[string][]config.Grant{}
	for _, dir := range p.Deeper() {
		grants := p.GrantsDeeper(dir)
		if len(grants) == 0 {
			continue
		}
		if err := list.Add(dir, grants, p.Sys.Now()); err != nil {
			return nil, err
		}
		out[dir] = grants
	}
	return out, nil
}

// Trusts reports whether the user has trusted another folder, with what it grants now.
func (p *Place) Trusts(dir string) bool {
	root := git.Root(dir)
	key := cmp.Or(root, dir)
	entry, known := config.NewTrust(p.Sys.Dirs.State).Get(key)
	if !known {
		return false
	}
	s, err := config.Load(config.Places{Config: p.Sys.Dirs.Config, State: p.Sys.Dirs.State, Work: dir, Root: root})
	return err == nil && config.GrantsHash(s.Grants(dir, root), key) == entry.Hash
}
