package place

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"lathe/internal/config"
	"lathe/internal/git"
	"lathe/internal/mcp"
	"lathe/internal/redact"
	"lathe/internal/session/jsonl"
	"lathe/internal/sys"
)

// Place is where a run happens and what it starts from: directories, settings, trust.
type Place struct {
	Sys         sys.Sys
	Root        string // of the repository; empty outside one
	Project     string // where the project's settings, commands, agents and skills are; usually the working directory
	ProjectRoot string // of its repository; empty outside one
	trustedNow  bool   // for this run, whatever is there
	TrustKey    string
	Trusted     bool
	Lapsed      bool           // not trusted any more: what the project's files grant or run has changed since
	SavedRules  bool           // not trusted, and its settings grant only what the user's own answers saved, see Trusted.Rules
	Approved    string         // hash of the grants that trust, if there is any, is bound to
	Grants      []config.Grant // what the project's files would bring into force
	granting    [2]string      // the working directory and the repository that they were found in
	Settings    *config.Settings
	Places      config.Places // where they were looked for
	Redact      *redact.Redactor
	Notes       []string // to tell the user at the start
}

// Options say which place is meant. The zero value is the process's directory, with all settings of it.
type Options struct {
	Dir        string            // working directory; empty: the process's
	Env        map[string]string // over the process's environment
	StateDir   string            // state directory; empty: as the environment says
	Settings   string            // a settings file, or settings as JSON
	Policy     string            // settings of the host's organisation, as JSON
	Sources    []string          // of user, project and local those that load; nil: all
	ConfigRoot string            // where the project's settings, commands and skills come from; empty: Dir
	Trust      bool              // this time, whatever is there
}

// Find looks at the environment, the directory and the settings. It starts nothing.
func Find(o Options) (*Place, error) {
	work, err := workDir(o.Dir)
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir()
	p := &Place{Root: git.Root(work)}
	p.Sys = sys.Sys{
		Now: time.Now, NewID: func() string { return uuid.NewString() }, Getenv: os.Getenv, Environ: os.Environ,
		Version: sys.Version,
	}
	p.overlay(o.Env)
	p.Sys.Dirs = directories(work, home, p.Sys.Getenv)
	if o.StateDir != "" {
		p.Sys.Dirs.State = o.StateDir
	}
	if p.Sys.Dirs.State == homeless() {
		if err := ownFolder(p.Sys.Dirs.State); err != nil {
			return nil, err
		}
	}
	places := config.Places{Config: p.Sys.Dirs.Config, State: p.Sys.Dirs.State, Work: work, Root: p.Root, Inline: o.Settings, Policy: o.Policy, Managed: config.ManagedDirs()}
	p.Project, p.ProjectRoot = work, p.Root
	if o.ConfigRoot != "" {
		if p.Project, err = RealDir(work, o.ConfigRoot); err != nil {
			return nil, fmt.Errorf("--project-config-root: %w", err)
		}
		p.ProjectRoot = git.Root(p.Project)
		places.Work, places.Root = p.Project, p.ProjectRoot
	}
	p.TrustKey = cmp.Or(p.ProjectRoot, p.Project)
	if places.Sources, err = sources(o.Sources); err != nil {
		return nil, err
	}
	if p.Settings, err = config.Load(places); err != nil {
		return nil, err
	}
	p.judgeTrust(o.Trust)
	p.Settings.TrustProject(p.Counts())
	places.Trusted = p.Counts()
	p.Places = places
	p.applyEnv()
	p.Redact = p.newRedactor()
	return p, nil
}

// workDir is the directory dir, or the process's, with its links resolved.
func workDir(dir string) (string, error) {
	if dir != "" {
		real, err := RealDir("", dir)
		if err != nil {
			return "", fmt.Errorf("the working directory cannot be used: %w", err)
		}
		return real, nil
	}
	work, err := os.Getwd()
	if err == nil {
		work, err = filepath.EvalSymlinks(work)
	}
	if err != nil {
		return "", fmt.Errorf("the working directory cannot be used (was it deleted?): %w", err)
	}
	return work, nil
}

// directories says where state is written and configuration read: LATHE_HOME, else CLAUDE_CONFIG_DIR, else
// ~/.lathe for state; CLAUDE_CONFIG_DIR, else ~/.claude for configuration.
func directories(work, home string, getenv func(string) string) sys.Dirs {
	d := sys.Dirs{Work: work, Home: home}
	conf := getenv("CLAUDE_CONFIG_DIR")
	d.Config = conf
	if conf == "" && home != "" {
		d.Config = filepath.Join(home, ".claude")
	}
	switch state := getenv("LATHE_HOME"); {
	case state != "":
		d.State = state
	case conf != "":
		d.State = conf
	case home != "":
		d.State = filepath.Join(home, ".lathe")
	default:
		d.State = homeless()
	}
	d.State, d.Config = Absolute(work, d.State), Absolute(work, d.Config)
	return d
}

// homeless is where state goes where there is no home directory.
func homeless() string { return filepath.Join(os.TempDir(), fmt.Sprintf("lathe-%d", os.Getuid())) }

// Absolute is a path seen from the working directory.
func Absolute(work, dir string) string {
	if dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(work, dir)
}

// sources checks which sources of settings load; nil: all.
func sources(names []string) ([]string, error) {
	for _, s := range names {
		if s != "user" && s != "project" && s != "local" {
			return nil, fmt.Errorf("--setting-sources: %q is not one of user, project, local", s)
		}
	}
	return names, nil
}

// applyEnv puts the settings' env blocks over the environment, for us and for children.
func (p *Place) applyEnv() { p.overlay(p.Settings.Env()) }

// overlay puts variables over the environment.
func (p *Place) overlay(env map[string]string) {
	if len(env) == 0 {
		return
	}
	getenv, environ := p.Sys.Getenv, p.Sys.Environ
	p.Sys.Getenv = func(key string) string {
		if v, ok := env[key]; ok {
			return v
		}
		return getenv(key)
	}
	p.Sys.Environ = func() []string {
		out := slices.DeleteFunc(environ(), func(kv string) bool {
			key, _, _ := strings.Cut(kv, "=")
			_, over := env[key]
			return over
		})
		for _, k := range slices.Sorted(maps.Keys(env)) {
			out = append(out, k+"="+env[k])
		}
		return out
	}
}

// ExtraDirs resolves --add-dir and the settings' additional directories.
func (p *Place) ExtraDirs(fromFlags, fromSettings []string) ([]string, error) {
	var out []string
	for _, d := range fromFlags {
		abs, err := RealDir(p.Sys.Dirs.Work, d)
		if err != nil {
			return nil, fmt.Errorf("--add-dir %s: %w", d, err)
		}
		out = append(out, abs)
	}
	for _, d := range fromSettings {
		if strings.HasPrefix(d, "~/") {
			d = filepath.Join(p.Sys.Dirs.Home, d[2:])
		}
		abs, err := RealDir(p.Sys.Dirs.Work, d)
		if err != nil {
			p.Notes = append(p.Notes, fmt.Sprintf("additional directory %s is left out: %v", d, err))
			continue
		}
		out = append(out, abs)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// RealDir is a directory, seen from the working directory, with its links resolved.
func RealDir(work, dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(work, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	return real, err
}

// ProjectName is what the folder of this project's sessions is called, where the environment says it; else "".
func (p *Place) ProjectName() string {
	if p.Sys.Getenv("CLAUDE_CONFIG_DIR") == "" {
		return ""
	}
	return p.Sys.Getenv("CLAUDE_CODE_PROJECT_DIR_NAME")
}

// Sessions is where the sessions of this place are.
func (p *Place) Sessions() jsonl.Store {
	return jsonl.Store{StateDir: p.Sys.Dirs.State, Version: p.Sys.Version, Project: p.ProjectName()}
}

// ServerStore has the user's own entries of MCP servers, and choices about them.
func (p *Place) ServerStore() mcp.Store {
	d := p.Sys.Dirs
	other := ""
	switch {
	case p.Sys.Getenv("CLAUDE_CONFIG_DIR") != "":
		other = filepath.Join(d.Config, ".claude.json")
	case d.Home != "":
		other = filepath.Join(d.Home, ".claude.json")
	}
	return mcp.NewStore(d.State, other)
}

// Wants reports whether the options leave a source of settings in: user, project or local.
func (p *Place) Wants(source string) bool {
	return p.Places.Sources == nil || slices.Contains(p.Places.Sources, source)
}
