package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/internal/perm"
)

// Input is what a policy follows from: the same rules and directories that the permission engine decides by.
type Input struct {
	Settings Settings
	Rules    *perm.Ruleset
	Also     *perm.Ruleset // more rules, of which only what they deny and ask for counts; nil: none
	Roots    []string      // the working directories, links resolved; the first is where the session started
	Look     []string      // where what rules with stars mean is looked for beside these
	Repo     string        // the root of the repository that the first of them is in; "" is none
	Home     string
	State    string // the program's own state
	Config   string // the other agent's configuration folder
	Temp     string // the session's temporary directory
	Cache    string // a directory for build caches of sandboxed commands
	Show     []string
	Programs []string // files that hooks and helpers run outside
	Platform string
}

// systemKeys are for root alone to read, and a sandbox of root's stays root to files.
var systemKeys = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssh/ssh_host_*_key", "/etc/ssl/private", "/etc/krb5.keytab"}

// stateSecrets are hidden in the folders of agents.
var stateSecrets = []string{
	".credentials.json", "credentials.json", "ide", "auth", "auth.json", "projects", "sessions", "history.jsonl", "trust.json", "logs", "sandbox",
}

// derive makes the policy. It looks at the file system, so it is made anew for each command. An error means that
// a rule cannot be enforced.
func derive(in Input) (Policy, error) {
	if in.Settings.NoFiles {
		return Policy{Unlimited: true, Network: in.network()}, nil
	}
	d := &deriver{in: in, policy: Policy{Network: in.network()}, env: perm.Env{
		Rules: in.Rules, Platform: in.Platform, Protected: []string{in.State, in.Config},
		Workspace: perm.Workspace{Roots: in.Roots, Home: in.Home},
	}}
	d.writable()
	for _, root := range d.roots {
		d.protectRoot(root)
	}
	for _, path := range in.Programs {
		if r, ok := real(path); ok {
			d.keep(r)
		}
	}
	d.ownFolders()
	d.keyStores()
	if err := d.rules(); err != nil {
		return Policy{}, err
	}
	d.show()
	return d.finish(), nil
}

func (in *Input) network() Network {
	n := Network{UnixSockets: in.Settings.AllUnixSockets}
	add := func(dst *[]perm.DomainPattern, hosts []string) {
		for _, h := range hosts {
			if p, ok := perm.ParseDomain(h); ok {
				*dst = append(*dst, p)
			}
		}
	}
	add(&n.Deny, in.Settings.DenyDomains)
	add(&n.Deny, in.Rules.Domains(perm.Deny))
	add(&n.Deny, in.Rules.Domains(perm.Ask)) // nobody is asked in the middle of a command
	add(&n.Allow, in.Settings.AllowDomains)
	if !in.Settings.OnlyManagedDomains {
		add(&n.Allow, in.Rules.Domains(perm.Allow))
	}
	return n
}

// restrictions are the rules for paths that take something away.
func (in *Input) restrictions(effect perm.Verdict, write bool) []perm.PathRule {
	return append(in.Rules.PathRules(effect, write), in.Also.PathRules(effect, write)...)
}

type deriver struct {
	in     Input
	env    perm.Env
	policy Policy
	roots  []string // working directories whose protected names may not come to be
}

// real resolves links; ok is false for what does not exist.
func real(path string) (string, bool) {
	if path == "" {
		return "", false
	}
	r, err := filepath.EvalSymlinks(path)
	return r, err == nil
}

func (d *deriver) write(paths ...string) { d.policy.Write = appendNew(d.policy.Write, paths...) }
func (d *deriver) keep(paths ...string)  { d.policy.Keep = appendNew(d.policy.Keep, paths...) }
func (d *deriver) hide(paths ...string)  { d.policy.Hide = appendNew(d.policy.Hide, paths...) }

// writable collects what may be written: the working directories, the session's own, what settings and Edit rules
// add. Nothing is added that configures programs.
func (d *deriver) writable() {
	for _, root := range d.in.Roots {
		if r, ok := real(root); ok {
			d.roots = appendNew(d.roots, r)
		}
	}
	d.write(d.roots...)
	for _, dir := range []string{d.in.Temp, d.in.Cache} {
		if r, ok := real(dir); ok {
			d.write(r)
		}
	}
	more := slices.Clone(d.in.Settings.AllowWrite)
	for _, r := range d.in.Rules.PathRules(perm.Allow, true) {
		if r.Whole {
			more = append(more, r.Base)
		}
	}
	for _, path := range more {
		path = strings.TrimSuffix(strings.TrimSuffix(path, "/**"), "/*")
		if r, ok := real(path); ok && r != "/" && d.env.ProtectedPath(r) == "" {
			d.write(r)
			left := scanEntries
			d.scan(r, 1, &left)
		}
	}
}

// ownFolders keeps the program's own state and configuration from being written, and its secrets from being read.
func (d *deriver) ownFolders() {
	folders := []string{d.in.State, d.in.Config}
	if d.in.Home != "" {
		folders = append(folders, filepath.Join(d.in.Home, ".claude"), filepath.Join(d.in.Home, ".lathe"))
	}
	for _, dir := range folders {
		r, ok := real(dir)
		if !ok {
			if dir != "" && d.env.ProtectedPath(dir) != "" {
				d.absent(dir)
			}
			continue
		}
		d.keep(r)
		for _, name := range stateSecrets {
			if s, ok := real(filepath.Join(r, name)); ok {
				d.hide(s)
			}
		}
	}
	if d.in.Home == "" {
		return
	}
	for _, name := range homeNames {
		d.protect(d.in.Home, name)
	}
	for _, path := range d.env.StartupPaths() {
		info, err := os.Lstat(path)
		switch r, ok := real(path); {
		case d.opened(path):
		case err == nil && info.Mode()&os.ModeSymlink != 0:
			d.linked(path)
		case ok:
			d.keep(r)
		case withinAny(path, d.policy.Write) && !withinAny(path, d.policy.Absent): // a placeholder for each would fill the home directory
			d.policy.Aside = appendNew(d.policy.Aside, path)
		}
	}
}

// opened reports whether the settings or an Edit rule let all of a start-up file or folder be written. What they let be written
// inside of one leaves the rest of it kept.
func (d *deriver) opened(path string) bool {
	names := []string{path}
	if r, ok := real(path); ok {
		names = append(names, r)
	}
	covers := func(name string) bool {
		return slices.ContainsFunc(d.in.Settings.AllowWrite, func(a string) bool {
			return within(name, strings.TrimSuffix(strings.TrimSuffix(a, "/**"), "/*"))
		}) || slices.ContainsFunc(d.in.Rules.PathRules(perm.Allow, true), func(r perm.PathRule) bool { return r.Match(name) })
	}
	return slices.ContainsFunc(names, covers)
}

func (d *deriver) keyStores() {
	for _, pattern := range systemKeys {
		found, _ := filepath.Glob(pattern) // the patterns are well formed
		for _, path := range found {
			if r, ok := real(path); ok && !withinAny(path, d.in.Settings.AllowRead) {
				d.hide(r)
			}
		}
	}
	if d.in.Home == "" {
		return
	}
	for _, name := range perm.KeyStores() {
		path := filepath.Join(d.in.Home, name)
		r, ok := real(path)
		lifted := slices.ContainsFunc(d.in.Settings.AllowRead, func(a string) bool { return within(path, a) || within(r, a) })
		if ok && !lifted {
			d.hide(r)
		}
	}
}

// show adds what can be read again below what is hidden by default, but not below what a rule hides.
func (d *deriver) show() {
	var byRule []string
	also := d.env
	also.Rules = d.in.Also
	for _, h := range d.policy.Hide {
		if d.env.ReadDenied(h) || d.in.Also != nil && also.ReadDenied(h) {
			byRule = append(byRule, h)
		}
	}
	for _, path := range append(slices.Clone(d.in.Settings.AllowRead), d.in.Show...) {
		if r, ok := real(strings.TrimSuffix(path, "/**")); ok && !withinAny(r, byRule) {
			d.policy.Show = appendNew(d.policy.Show, r)
		}
	}
}

// finish drops entries that would weaken others: what is below a hidden path is not brought back by being kept.
func (d *deriver) finish() Policy {
	p := d.policy
	below := func(path string) bool {
		return slices.ContainsFunc(p.Hide, func(h string) bool { return within(path, h) && path != h }) &&
			(&Policy{Hide: p.Hide, Show: p.Show, Write: p.Write}).at(path) == hidden
	}
	for _, list := range []*[]string{&p.Keep, &p.Absent, &p.Aside, &p.Pinned, &p.Restore} {
		*list = slices.DeleteFunc(*list, below)
		slices.Sort(*list)
	}
	for _, list := range [][]string{p.Keep, p.Absent, p.Hide, p.Restore, p.Write} {
		for _, path := range list {
			p.pin(path)
		}
	}
	slices.Sort(p.Pinned)
	// What is kept is so with all that is below it, but for work trees of the agent's own.
	p.Write = slices.DeleteFunc(p.Write, func(w string) bool {
		return !slices.Contains(d.roots, w) && w != d.in.Temp && w != d.in.Cache && withinAny(w, p.Keep) && d.env.ProtectedPath(w) != ""
	})
	return p
}

// rules hides what may not be read without a question and keeps what may not be written without one.
func (d *deriver) rules() error {
	extra, _ := perm.Compile(d.settingsRules(), perm.Options{Start: d.start(), Home: d.in.Home, ProjectRoot: d.start(), Platform: d.in.Platform})
	m := &matcher{d: d}
	for _, effect := range []perm.Verdict{perm.Deny, perm.Ask} {
		m.add(d.in.restrictions(effect, false), hidden)
		m.add(d.in.restrictions(effect, true), kept)
	}
	m.add(extra.PathRules(perm.Deny, false), hidden)
	m.add(extra.PathRules(perm.Deny, true), kept)
	return m.run()
}

func (d *deriver) start() string {
	if len(d.in.Roots) > 0 {
		return d.in.Roots[0]
	}
	return "/"
}

// settingsRules writes the settings' own lists as rules, so that one matcher reads both.
func (d *deriver) settingsRules() []perm.Rule {
	var out []perm.Rule
	for _, path := range d.in.Settings.DenyRead {
		out = append(out, perm.Rule{Text: fmt.Sprintf("Read(/%s)", filepath.ToSlash(path)), Effect: perm.Deny})
	}
	for _, path := range d.in.Settings.DenyWrite {
		out = append(out, perm.Rule{Text: fmt.Sprintf("Edit(/%s)", filepath.ToSlash(path)), Effect: perm.Deny})
	}
	return out
}

func appendNew(list []string, more ...string) []string {
	for _, m := range more {
		if m != "" && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }
