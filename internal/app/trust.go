package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"lathe/internal/config"
	"lathe/internal/event"
	"lathe/internal/git"
	"lathe/internal/mcp"
)

// judgeTrust decides whether the project's files may grant. Trust is bound to what they granted when the user gave
// it: a change asks again.
func (p *place) judgeTrust(o *options) {
	grants := p.settings.Grants(p.sys.Dirs.Work, p.root)
	p.grants, p.approved = grants, config.GrantsHash(grants, p.trustKey)
	if o.trust || o.hostTrusts() {
		p.trusted, p.trustedNow = true, true
		return
	}
	entry, known := config.NewTrust(p.sys.Dirs.State).Get(p.trustKey)
	switch {
	case !known:
	case entry.Hash == p.approved && entry.Rules:
		p.savedRules = true
	case entry.Hash == p.approved:
		p.trusted = true
		for _, dir := range p.deeper() {
			if !p.trustsDeeper(dir) {
				p.notes = append(p.notes, "what the commands, skills and agents of "+dir+" run or allow does not count: you have not approved it; run lathe trust there")
			}
		}
	case entry.Rules: // the folder was never trusted; what else is in its settings now is asked about as anywhere
	default:
		p.notes = append(p.notes, "what this project's files grant or run has changed since you trusted it, so they do not count; see what it is with lathe trust --show, and run lathe trust to approve it")
	}
}

// counts reports whether what the project's settings grant is in force: the project is trusted, or they grant nothing
// but what the user's own answers have saved there.
func (p *place) counts() bool { return p.trusted || p.savedRules }

// hostTrusts reports whether a host has named the project's files as sources of settings: that it starts a session with
// them is its own decision, like --trust.
func (o *options) hostTrusts() bool {
	if o.host == nil || !o.sourcesSet {
		return false
	}
	for s := range strings.SplitSeq(o.sources, ",") {
		if s = strings.TrimSpace(s); s == "project" || s == "local" {
			return true
		}
	}
	return false
}

// trustsAt reports whether what a definition of the project runs or allows counts: the project is trusted, and so is the
// folder below its top that the definition belongs to, with what is there now.
func (p *place) trustsAt(path string) bool {
	if !p.trusted {
		return false
	}
	for _, dir := range p.deeper() {
		if below(filepath.Join(dir, ".claude"), path) || below(filepath.Join(dir, ".lathe"), path) {
			return p.trustsDeeper(dir)
		}
	}
	return true
}

// deeper are the folders from the one that the session started in up to the top of the project, without that. They are read
// when they are needed: most have no definitions.
func (p *place) deeper() []string {
	top := first(p.projectRoot, p.project)
	var out []string
	for dir := p.project; dir != top && below(top, dir); dir = filepath.Dir(dir) {
		out = append(out, dir)
	}
	return out
}

// trustsDeeper reports whether a folder below the top of a project that is trusted has nothing of power, or what the user
// has approved there.
func (p *place) trustsDeeper(dir string) bool {
	if p.trustedNow {
		return true
	}
	grants := p.grantsDeeper(dir)
	if len(grants) == 0 {
		return true
	}
	entry, known := config.NewTrust(p.sys.Dirs.State).Get(dir)
	return known && !entry.Rules && entry.Hash == config.GrantsHash(grants, dir)
}

// approve keeps the user's trust in the project as it is now. What its servers say counts anew.
func (p *place) approve(list config.Trust) error {
	if err := list.Add(p.trustKey, p.approved, p.sys.Now()); err != nil {
		return err
	}
	return mcp.NewKnown(p.sys.Dirs.State, p.trustKey).Forget("")
}

// grantsDeeper is what a folder below the top grants; its hooks may name files from where the session started on.
func (p *place) grantsDeeper(dir string) []config.Grant {
	return config.Deeper(dir, p.project, first(p.projectRoot, p.project))
}

// approveDeeper keeps the user's trust in the folders below the top.
func (p *place) approveDeeper(list config.Trust) ([]config.Grant, error) {
	var out []config.Grant
	for _, dir := range p.deeper() {
		grants := p.grantsDeeper(dir)
		if len(grants) == 0 {
			continue
		}
		if err := list.Add(dir, config.GrantsHash(grants, dir), p.sys.Now()); err != nil {
			return nil, err
		}
		out = append(out, grants...)
	}
	return out, nil
}

// trusts reports whether the user has trusted another folder, with what it grants now.
func (p *place) trusts(dir string) bool {
	root := git.Root(dir)
	key := first(root, dir)
	entry, known := config.NewTrust(p.sys.Dirs.State).Get(key)
	if !known {
		return false
	}
	s, err := config.Load(config.Places{Config: p.sys.Dirs.Config, State: p.sys.Dirs.State, Work: dir, Root: root})
	return err == nil && config.GrantsHash(s.Grants(dir, root), key) == entry.Hash
}

const trustUsage = `usage:
  lathe trust            trust this repository, or this directory outside one: its settings may grant and run things
  lathe trust --show     what they would grant and run
  lathe trust --remove   trust it no longer
  lathe trust --list     what is trusted`

// trustCommand keeps the user's trust in the repository, or in the directory outside one, and shows what that means.
func trustCommand(args []string, st Streams) error {
	p, err := findPlace(&options{})
	if err != nil {
		return err
	}
	list := config.NewTrust(p.sys.Dirs.State)
	arg := ""
	if len(args) == 1 {
		arg = args[0]
	}
	switch {
	case len(args) == 0:
		if err := p.approve(list); err != nil {
			return err
		}
		more, err := p.approveDeeper(list)
		if err != nil {
			return err
		}
		p.grants = append(p.grants, more...)
		fmt.Fprintf(st.Out, "Trusted: %s\n", p.trustKey)
		showGrants(p, st)
		return nil
	case arg == "--show":
		for _, dir := range p.deeper() {
			p.grants = append(p.grants, p.grantsDeeper(dir)...)
		}
		fmt.Fprintf(st.Out, "%s\n", p.trustKey)
		showGrants(p, st)
		return nil
	case arg == "--remove":
		for _, dir := range append([]string{p.trustKey}, p.deeper()...) {
			if err := list.Remove(dir); err != nil {
				return err
			}
		}
		fmt.Fprintf(st.Out, "No longer trusted: %s\n", p.trustKey)
		return nil
	case arg == "--list":
		return listTrust(list, st)
	}
	return errors.New(trustUsage)
}

// alsoTrusted is what counts with trust and is no setting.
const alsoTrusted = "Its commands, skills and agents count with trust too. What they run or allow is listed; their words and models may change."

func showGrants(p *place, st Streams) {
	if len(p.grants) == 0 {
		fmt.Fprintln(st.Out, "Its settings grant and run nothing now; when that changes, you are asked again.")
		fmt.Fprintln(st.Out, alsoTrusted)
		return
	}
	fmt.Fprintln(st.Out, "With trust, these count. A change of any of them asks again.")
	for _, g := range p.grants { // whole: nobody can approve what is left out
		fmt.Fprintf(st.Out, "  %s = %s\n      %s:%d\n", event.InertLine(g.Key), strings.ReplaceAll(g.Text, "\n", "\n        "), event.InertLine(g.File), g.Line)
	}
	fmt.Fprintln(st.Out, alsoTrusted)
}

func listTrust(list config.Trust, st Streams) error {
	dirs, err := list.List()
	if err != nil {
		return err
	}
	names := make([]string, 0, len(dirs))
	for d := range dirs {
		names = append(names, d)
	}
	sort.Strings(names)
	for _, d := range names {
		only := ""
		if dirs[d].Rules {
			only = "  only the permission rules that you saved there"
		}
		fmt.Fprintf(st.Out, "%s  since %s%s\n", event.InertLine(d), dirs[d].At.Format("2006-01-02"), only)
	}
	return nil
}
