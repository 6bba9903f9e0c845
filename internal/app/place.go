package app

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"lathe/internal/config"
	"lathe/internal/git"
	"lathe/internal/redact"
	"lathe/internal/sys"
)

// Version of the program; set by the linker for releases.
var Version = "0.1.0"

// place is where a run happens and what it starts from: directories, settings, trust.
type place struct {
	sys         sys.Sys
	root        string // of the repository; empty outside one
	project     string // where the project's settings, commands, agents and skills are; usually the working directory
	projectRoot string // of its repository; empty outside one
	trustedNow  bool   // for this run, whatever is there
	trustKey    string
	trusted     bool
	savedRules  bool           // not trusted, and its settings grant only what the user's own answers saved, see Trusted.Rules
	approved    string         // hash of the grants that trust, if there is any, is bound to
	grants      []config.Grant // what the project's files would bring into force
	settings    *config.Settings
	places      config.Places // where they were looked for
	redact      *redact.Redactor
	notes       []string      // to tell the user at the start
	gitRuns     func() string // see care
}

// findPlace looks at the environment, the directory and the settings. It starts nothing.
func findPlace(o *options) (*place, error) {
	work, err := workDir(o.dir)
	if err != nil {
		return nil, err
	}
	home, _ := os.UserHomeDir()
	p := &place{root: git.Root(work)}
	p.sys = sys.Sys{
		Now: time.Now, NewID: func() string { return uuid.NewString() }, Getenv: os.Getenv, Environ: os.Environ,
		Version: Version,
	}
	p.overlay(o.env)
	p.sys.Dirs = directories(work, home, p.sys.Getenv)
	if o.state != "" {
		p.sys.Dirs.State = o.state
	}
	places := config.Places{Config: p.sys.Dirs.Config, State: p.sys.Dirs.State, Work: work, Root: p.root, Inline: o.settings, Policy: o.managed, Managed: config.ManagedDirs()}
	p.project, p.projectRoot = work, p.root
	if o.configRoot != "" {
		if p.project, err = realDir(work, o.configRoot); err != nil {
			return nil, fmt.Errorf("--project-config-root: %w", err)
		}
		p.projectRoot = git.Root(p.project)
		places.Work, places.Root = p.project, p.projectRoot
	}
	p.trustKey = first(p.projectRoot, p.project)
	if o.sourcesSet {
		if places.Sources, err = settingSources(o.sources); err != nil {
			return nil, err
		}
	}
	if p.settings, err = config.Load(places); err != nil {
		return nil, err
	}
	p.lookAtGit()
	p.judgeTrust(o)
	p.settings.TrustProject(p.counts())
	places.Trusted = p.counts()
	p.places = places
	p.applyEnv()
	p.redact = p.newRedactor()
	return p, nil
}

// workDir is the directory dir, or the process's, with its links resolved.
func workDir(dir string) (string, error) {
	if dir != "" {
		real, err := realDir("", dir)
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
		d.State = filepath.Join(os.TempDir(), fmt.Sprintf("lathe-%d", os.Getuid()))
	}
	d.State, d.Config = absolute(work, d.State), absolute(work, d.Config)
	return d
}

func absolute(work, dir string) string {
	if dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(work, dir)
}

func settingSources(text string) ([]string, error) {
	out := []string{}
	for _, s := range strings.Split(text, ",") {
		switch s = strings.TrimSpace(s); s {
		case "":
		case "user", "project", "local":
			out = append(out, s)
		default:
			return nil, fmt.Errorf("--setting-sources: %q is not one of user, project, local", s)
		}
	}
	return out, nil
}

// applyEnv puts the settings' env blocks over the environment, for us and for children.
func (p *place) applyEnv() { p.overlay(p.settings.Env()) }

// overlay puts variables over the environment.
func (p *place) overlay(env map[string]string) {
	if len(env) == 0 {
		return
	}
	getenv, environ := p.sys.Getenv, p.sys.Environ
	p.sys.Getenv = func(key string) string {
		if v, ok := env[key]; ok {
			return v
		}
		return getenv(key)
	}
	p.sys.Environ = func() []string {
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

// platform is the operating system as the prompt and the permission engine name it.
func platform() string { return runtime.GOOS }

func shellName(getenv func(string) string) string {
	for _, key := range []string{"CLAUDE_CODE_SHELL", "SHELL"} {
		if s := getenv(key); s != "" {
			return filepath.Base(s)
		}
	}
	return "bash"
}

// readText returns the text of a prompt file.
func readText(flag, path string) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", flag, err)
	}
	return string(b), nil
}

// extraDirs resolves --add-dir and the settings' additional directories.
func (p *place) extraDirs(fromFlags, fromSettings []string) ([]string, error) {
	var out []string
	for _, d := range fromFlags {
		abs, err := realDir(p.sys.Dirs.Work, d)
		if err != nil {
			return nil, fmt.Errorf("--add-dir %s: %w", d, err)
		}
		out = append(out, abs)
	}
	for _, d := range fromSettings {
		if strings.HasPrefix(d, "~/") {
			d = filepath.Join(p.sys.Dirs.Home, d[2:])
		}
		abs, err := realDir(p.sys.Dirs.Work, d)
		if err != nil {
			p.notes = append(p.notes, fmt.Sprintf("additional directory %s is left out: %v", d, err))
			continue
		}
		out = append(out, abs)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func realDir(work, dir string) (string, error) {
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
