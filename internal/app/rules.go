package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"lathe/internal/config"
	"lathe/internal/event"
	"lathe/internal/file"
	"lathe/internal/git"
	"lathe/internal/perm"
	"lathe/internal/sys"
)

// rulebook is the rules of a moment. It is replaced whole when a settings file changes.
type rulebook struct {
	rules []perm.Rule
	set   *perm.Ruleset
	// blockOutside refuses reads outside the working directories in every mode.
	blockOutside bool
}

// permissions reads the rules, directories and mode.
func (r *run) permissions() error {
	p := r.place.Settings.Permissions()
	if p.Skipped > 0 {
		r.place.Notes = append(r.place.Notes, ignoredGrants(p.Skipped))
	}
	dirs, err := r.place.ExtraDirs(r.o.Dirs, p.Dirs)
	if err != nil {
		return err
	}
	r.dirs = dirs
	if r.o.Mode, err = r.chooseMode(p); err != nil {
		return err
	}
	r.latest, r.approved = r.place.Settings, r.place.Approved
	r.watch = config.NewWatcher(r.place.Places, r.place.Sys.Now)
	r.place.Notes = append(r.place.Notes, r.compile(p)...)
	return nil
}

// compile puts the rules of the command line, of this session and of the settings into force. It returns what is
// wrong with them.
func (r *run) compile(p config.Permissions) []string {
	d := r.place.Sys.Dirs
	b := &rulebook{rules: append(cliRules(r.o, d.Work), p.Rules...), blockOutside: p.BlockOutside}
	b.rules = append(b.rules, r.ownRules()...)
	r.mu.Lock()
	b.rules = append(b.rules, r.granted...)
	r.mu.Unlock()
	set, warnings := perm.Compile(b.rules, perm.Options{
		Start: d.Work, Home: d.Home, ProjectRoot: d.Work, Platform: platform(), Trusted: r.place.Counts(),
	})
	b.set = set
	r.book.Store(b)
	notes := make([]string, 0, len(warnings))
	for _, w := range warnings {
		notes = append(notes, w.String())
	}
	return notes
}

// ownRules let the model read back what was stored of its own large results, and keep the notes of its memory.
func (r *run) ownRules() []perm.Rule {
	var out []perm.Rule
	allow := func(tool, dir string) {
		text := tool + "(/" + filepath.ToSlash(dir) + "/**)"
		out = append(out, perm.Rule{Text: text, Effect: perm.Allow, Source: perm.Source{Kind: "rule", Rule: text, Scope: "session"}})
	}
	if r.conv != nil && r.conv.Folder() != "" {
		allow("Read", r.conv.Folder())
	}
	if r.memory.Dir != "" {
		allow("Read", r.memory.Dir)
		allow("Edit", r.memory.Dir)
	}
	return out
}

// remember keeps the rules of a person's lasting answer: for this session at once, and in a settings file where that
// was asked for. What the person saves is approved by that, so trust goes on to hold.
func (r *run) remember(rules []perm.Rule, where event.Scope) error {
	texts, effect := make([]string, len(rules)), perm.Allow // all of one answer have the same
	r.mu.Lock()
	for i, rule := range rules {
		texts[i] = rule.Text
		if rule.Effect == perm.Abstain {
			rule.Effect = perm.Allow
		}
		effect = rule.Effect
		rule.Source = perm.Source{Kind: "rule", Rule: rule.Text, Scope: "session"}
		r.granted = append(r.granted, rule)
	}
	r.mu.Unlock()
	r.changing.Lock()
	defer r.changing.Unlock()
	defer func() { r.compile(r.latest.Permissions()) }()
	file, err := r.settingsFile(where)
	if err != nil || file == "" { // the session
		return err
	}
	return r.save(func() error { return r.private(file, func() error { return config.AddRules(file, effect, texts) }) })
}

// private writes a settings file. Where that makes the user's own settings of a project, git is told to leave them out, in
// the list of the repository that is the user's alone: the files of the project stay as they are.
func (r *run) private(file string, write func() error) error {
	_, missing := os.Lstat(file)
	err := write()
	if err != nil || missing == nil || filepath.Base(file) != localSettings || r.place.Root == "" {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), excludeLimit)
	defer cancel()
	if err := git.Exclude(ctx, r.place.Root, file); err != nil {
		r.warn(fmt.Sprintf("%s is yours alone, but git could not be told to leave it out: %v", file, err))
	}
	return nil
}

const (
	localSettings = "settings.local.json"
	excludeLimit  = 5 * time.Second // for git, before an answer would seem to hang
)

// settingsFile is the file of a scope, "" for the session. A host looks for what it has saved in the folder of the
// program that it was written for. What is saved for a project stays in it: a link may not make it hold everywhere.
func (r *run) settingsFile(where event.Scope) (string, error) {
	d := r.place.Sys.Dirs
	folder, user := ".lathe", d.State
	if r.o.Host != nil {
		folder, user = ".claude", d.Config
	}
	project, path := d.Work, ""
	switch where {
	case event.SaveLocal:
		project = first(r.place.Root, d.Work)
		path = filepath.Join(project, folder, localSettings)
	case event.SaveProject:
		path = filepath.Join(project, folder, "settings.json")
	case event.SaveUser:
		return filepath.Join(user, "settings.json"), nil
	default:
		return "", nil
	}
	real, err := file.Resolve(path)
	if err == nil && !file.Below(project, real) {
		err = fmt.Errorf("%s is a link that leads out of the project (%s), so nothing was saved", path, real)
	}
	return path, err
}

// save writes a settings file, takes up what it then says, and binds the trust that there is to that. Only what write
// did is approved: where the project's files came to grant something else since they were judged, trust stays with what
// they granted then.
func (r *run) save(write func() error) error {
	p := r.place
	before, err := config.Load(p.Places)
	if err != nil {
		return err
	}
	none := len(before.Grants(p.Sys.Dirs.Work, p.Root)) == 0
	unchanged := r.grantsHash(before) == r.approved
	if err := write(); err != nil {
		return err
	}
	after, err := config.Load(p.Places)
	if err != nil {
		return err
	}
	defer func() { r.latest = after }()
	if !unchanged {
		after.TrustProject(false)
		r.warn("what was saved for this project counts only in this session: its files came to grant something else meanwhile (lathe trust shows and approves it)")
		return nil
	}
	list := config.NewTrust(p.Sys.Dirs.State)
	entry, known := list.Get(p.TrustKey)
	grants := after.Grants(p.Sys.Dirs.Work, p.Root)
	hash := config.GrantsHash(grants, p.TrustKey)
	if hash == r.approved {
		return nil // the user's own file, or a rule that forbids
	}
	r.approved = hash
	switch {
	case p.Trusted && known && !entry.Rules:
		err = list.Add(p.TrustKey, grants, p.Sys.Now())
	case none || p.SavedRules:
		err = list.AddRules(p.TrustKey, grants, p.Sys.Now())
		p.SavedRules, p.Places.Trusted = true, true
		r.watch = config.NewWatcher(p.Places, p.Sys.Now)
	case !p.Trusted:
		r.warn("what was saved for this project counts only in this session: the project is not trusted (lathe trust)")
	}
	after.TrustProject(p.Counts())
	return err
}

func (r *run) grantsHash(s *config.Settings) string {
	p := r.place
	return config.GrantsHash(s.Grants(p.Sys.Dirs.Work, p.Root), p.TrustKey)
}

// refresh takes up settings that changed while the session runs: their rules count from the next call on. Settings
// that cannot be read leave those in force that were. Sub-agents look too, beside each other; what else there is in the
// settings only the session itself takes up.
func (r *run) refresh() {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.look()
	if r.agent == nil && r.place.Settings != r.latest {
		r.place.Settings = r.latest
	}
}

func (r *run) look() {
	s, err := r.watch.Changed()
	if err != nil {
		r.warn("the settings changed and cannot be used: " + err.Error())
		return
	}
	if s == nil {
		return
	}
	for _, p := range s.Problems {
		if !slices.Contains(r.latest.Problems, p) {
			r.warn(p)
		}
	}
	for _, l := range r.latest.Layers {
		if broken(s, l.File) {
			return // the file was just named; the rules that it had stay in force until it can be read again
		}
	}
	if r.hooks != nil && r.hooks.configChanged(r.watch.Files()) {
		r.warn("a ConfigChange hook refused the changed settings; those from before stay in force")
		return
	}
	if r.place.Counts() && r.grantsHash(s) != r.approved {
		s.TrustProject(false)
		r.warn("what this project's files grant changed while the session runs; their grants no longer count (lathe trust approves them for the next)")
	}
	r.latest = s
	for _, n := range r.compile(s.Permissions()) {
		r.warn(n)
	}
}

// broken reports a file that had settings, is still there and cannot be read now.
func broken(s *config.Settings, file string) bool {
	if file == "" || slices.ContainsFunc(s.Layers, func(l *config.Layer) bool { return l.File == file }) {
		return false
	}
	_, err := os.Stat(file)
	return err == nil
}

var modes = []perm.Mode{perm.ModeDefault, perm.ModeAcceptEdits, perm.ModePlan, perm.ModeAuto, perm.ModeDontAsk, perm.ModeBypass}

// chooseMode applies the order: flag, settings, default.
func (r *run) chooseMode(p config.Permissions) (string, error) {
	mode, from := r.o.Mode, "--permission-mode"
	if r.o.SkipPermissions {
		mode = string(perm.ModeBypass)
	}
	if mode == "" {
		mode, from = p.Mode, "permissions.defaultMode"
	}
	if mode == "" || mode == "manual" {
		mode = string(perm.ModeDefault)
	}
	if !slices.Contains(modes, perm.Mode(mode)) {
		return "", fmt.Errorf("%s: %q is not one of default, acceptEdits, plan, auto, dontAsk, bypassPermissions", from, mode)
	}
	if mode == string(perm.ModeBypass) {
		if err := r.bypassRefused(p); err != nil {
			return "", fmt.Errorf("%s: %w", from, err)
		}
	}
	return mode, nil
}

// bypassRefused says why the mode bypassPermissions may not be had here, at the start and later.
func (r *run) bypassRefused(p config.Permissions) error {
	switch {
	case p.DisableBypass:
		return errors.New("bypassPermissions is switched off by the settings")
	case os.Geteuid() == 0 && !sys.IsOn(r.place.Sys.Getenv("IS_SANDBOX")):
		return errors.New("bypassPermissions is refused for root; set IS_SANDBOX=1 in a container made for it")
	}
	return nil
}

// decide judges a call by the rules, the mode and the workspace of this moment.
func (r *run) decide(req perm.Request) perm.Decision {
	r.refresh()
	return r.decideIn(req, r.mode())
}

func (r *run) decideIn(req perm.Request, mode perm.Mode) perm.Decision {
	env := r.envIn(mode)
	env.Mode = r.serverModes.of(req.Tool, env.Mode)
	env.Sandbox = r.sandboxOf(req)
	r.place.Care(&env, req.Tool)
	if d, refused := r.notes.refuses(req, r.tools.workspace.Abs); refused {
		return d
	}
	return r.judge(req, env)
}

func (r *run) env() perm.Env { return r.envIn(r.mode()) }

func (r *run) envIn(mode perm.Mode) perm.Env {
	ws := r.tools.workspace
	d := r.place.Sys.Dirs
	book := r.book.Load()
	var free []string
	if r.memory.Dir != "" {
		free = []string{r.memory.Dir}
	}
	var copied, original string
	if t := r.tree(); t != nil {
		copied, original = t.Path, t.Root
	}
	return r.notes.over(perm.Env{
		Copy: copied, Original: original,
		Free: free, Rules: r.skillSet(r.ruleset()), Mode: mode, Platform: platform(),
		Workspace: perm.Workspace{Cwd: ws.Cwd(), Roots: ws.Roots(), Home: d.Home},
		Protected: []string{d.State, d.Config}, BlockOutsideReads: book.blockOutside,
		Tracked: tracked, Programs: r.root().programs,
	})
}

// tracked lists the files that git tracks in a repository, for those rules that depend on it.
func tracked(root string) (paths []string, ok bool) {
	x, err := git.ReadIndex(git.IndexFile(root))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true // nothing was added yet
	}
	if err != nil {
		return nil, false
	}
	for _, e := range x.Entries {
		paths = append(paths, e.Path)
	}
	return paths, true
}

// readDenied reports whether a read rule forbids a path; names of files and mentions leave it out.
func (r *run) readDenied(path string) bool {
	return r.kept(func(e perm.Env) bool { return e.ReadDenied(path) })
}

// withheld reports whether a search leaves out what a file holds.
func (r *run) withheld(path string) bool {
	return r.kept(func(e perm.Env) bool { return e.Withheld(path) })
}

// unmentionable says why a file that a prompt names with @ is not attached, "" for those that are.
func (r *run) unmentionable(path string) string {
	if r.readDenied(path) {
		return "a permission rule forbids reading it"
	}
	env := r.env()
	return env.Unmentionable(path)
}

// kept asks the rules that hold here, and in a work tree of an agent those of the session.
func (r *run) kept(keeps func(perm.Env) bool) bool {
	env := r.env()
	if keeps(env) || r.tree() == nil {
		return keeps(env)
	}
	env.Rules = r.book.Load().set
	return keeps(env)
}

// toolDenied reports whether a bare deny rule removes a tool, so that the model is not told of it.
func (r *run) toolDenied(name string) bool {
	for _, rule := range r.book.Load().rules {
		if rule.Effect != perm.Deny {
			continue
		}
		tool, _, bare, err := perm.ParseRule(rule.Text)
		if err != nil || !bare {
			continue
		}
		if ok, _ := filepath.Match(tool, name); ok {
			return true
		}
	}
	return false
}

func ignoredGrants(n int) string {
	what := "1 permission grant of this project is"
	if n != 1 {
		what = fmt.Sprintf("%d permission grants of this project are", n)
	}
	return what + " ignored: it is not trusted (lathe trust, or --trust for one run)"
}
