package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Layer is the sandbox block of one settings file, or of the command line. Layers go from the highest scope down.
type Layer struct {
	Raw     json.RawMessage
	Name    string // of the file, for messages
	Managed bool   // set by an administrator
	Repo    bool   // the repository brings it along
	Trusted bool   // what it grants counts; what it restricts counts anyway
	Anchor  string // the directory that its relative paths start at
}

// Mode says how much the sandbox is wanted.
type Mode int

// The modes.
const (
	Off      Mode = iota
	On            // used where it is available; else commands are asked for as ever
	Required      // without it no command runs
)

func (m Mode) String() string { return [...]string{"off", "on", "required"}[m] }

// Settings are the merged sandbox blocks. Paths are absolute.
type Settings struct {
	Mode      Mode
	AutoAllow bool // commands in the sandbox need no question
	Escape    bool // a call may ask to leave it
	Weaker    bool // enableWeakerNestedSandbox
	NoFiles   bool // filesystem.disabled: files are not confined

	Excluded                                   []string // patterns of commands that run outside
	AllowWrite, DenyWrite, AllowRead, DenyRead []string
	AllowDomains, DenyDomains                  []string
	OnlyManagedDomains                         bool
	AllUnixSockets                             bool
	ProxyPort                                  int // a proxy of the user's own on this machine
	Bwrap                                      string
	DropEnv                                    []string            // variables that commands do not get
	Ignore                                     map[string][]string // command, then texts of violations not to be told of
}

type block struct {
	Enabled       *bool               `json:"enabled"`
	FailIfMissing *bool               `json:"failIfUnavailable"`
	AutoAllow     *bool               `json:"autoAllowBashIfSandboxed"`
	AllowEscape   *bool               `json:"allowUnsandboxedCommands"`
	Weaker        *bool               `json:"enableWeakerNestedSandbox"`
	Excluded      []string            `json:"excludedCommands"`
	Ignore        map[string][]string `json:"ignoreViolations"`
	BwrapPath     string              `json:"bwrapPath"`
	Platforms     []string            `json:"enabledPlatforms"`
	Filesystem    filesystemBlock     `json:"filesystem"`
	Network       networkBlock        `json:"network"`
	Credentials   struct {
		Files []struct {
			Path string `json:"path"`
			Mode string `json:"mode"`
		} `json:"files"`
		EnvVars []struct {
			Name string `json:"name"`
		} `json:"envVars"`
	} `json:"credentials"`
}

type filesystemBlock struct {
	AllowWrite []string `json:"allowWrite"`
	DenyWrite  []string `json:"denyWrite"`
	AllowRead  []string `json:"allowRead"`
	DenyRead   []string `json:"denyRead"`
	Disabled   bool     `json:"disabled"`
	OnlyReads  bool     `json:"allowManagedReadPathsOnly"`
}

type networkBlock struct {
	Allowed     []string `json:"allowedDomains"`
	Denied      []string `json:"deniedDomains"`
	AllUnix     bool     `json:"allowAllUnixSockets"`
	HTTPPort    int      `json:"httpProxyPort"`
	OnlyManaged bool     `json:"allowManagedDomainsOnly"`
}

// wrongType says in the words of a settings file what could not be read.
func wrongType(err error) string {
	var e *json.UnmarshalTypeError
	if !errors.As(err, &e) {
		return fmt.Sprintf("sandbox: %v (what is wrong is ignored)", err)
	}
	if e.Field == "" {
		return fmt.Sprintf("sandbox is a %s, and must be an object such as {\"enabled\": true}: it is ignored, and switches nothing on", e.Value)
	}
	want := "another kind of value"
	switch e.Type.Kind() {
	case reflect.Bool:
		want = "true or false"
	case reflect.String:
		want = "a text"
	case reflect.Slice:
		want = "a list"
	case reflect.Int:
		want = "a whole number"
	case reflect.Struct:
		want = "an object"
	}
	return fmt.Sprintf("sandbox.%s is a %s, and must be %s: it is ignored", e.Field, e.Value, want)
}

// ReadSettings merges the sandbox blocks: lists are joined, a single value comes from the highest layer. What
// grants counts only from trusted layers, and not from the repository where an administrator requires the
// sandbox; what restricts counts from every layer. problems name what could not be understood.
func ReadSettings(layers []Layer, home, platform string) (s Settings, problems []string) {
	s = Settings{AutoAllow: true, Escape: true, Ignore: map[string][]string{}}
	blocks := make([]block, len(layers))
	required, onlyManagedReads := false, false
	for i, l := range layers {
		if err := json.Unmarshal(l.Raw, &blocks[i]); err != nil {
			problems = append(problems, l.Name+": "+wrongType(err))
		}
		required = required || l.Managed && isTrue(blocks[i].Enabled) && isTrue(blocks[i].FailIfMissing)
		onlyManagedReads = onlyManagedReads || l.Managed && blocks[i].Filesystem.OnlyReads
	}
	m := merger{s: &s, home: home, onlyManagedReads: onlyManagedReads}
	for i, l := range layers {
		l.Trusted = l.Trusted && !(required && l.Repo)
		m.restrict(l, &blocks[i])
		if l.Trusted {
			m.grant(l, &blocks[i])
		}
	}
	m.mode(layers, blocks, platform)
	return s, problems
}

func isTrue(b *bool) bool { return b != nil && *b }

type merger struct {
	s                      *Settings
	home                   string
	onlyManagedReads       bool
	autoSet, escSet, weSet bool
}

func (m *merger) restrict(l Layer, b *block) {
	s := m.s
	s.DenyWrite = append(s.DenyWrite, m.paths(l, b.Filesystem.DenyWrite)...)
	s.DenyRead = append(s.DenyRead, m.paths(l, b.Filesystem.DenyRead)...)
	s.DenyDomains = append(s.DenyDomains, b.Network.Denied...)
	s.OnlyManagedDomains = s.OnlyManagedDomains || l.Managed && b.Network.OnlyManaged
	for _, f := range b.Credentials.Files { // a masked file is not made up here: it is hidden
		s.DenyRead = append(s.DenyRead, m.paths(l, []string{f.Path})...)
	}
	for _, v := range b.Credentials.EnvVars {
		s.DropEnv = append(s.DropEnv, v.Name)
	}
	if !l.Trusted {
		if b.AutoAllow != nil && !*b.AutoAllow && !m.autoSet {
			s.AutoAllow, m.autoSet = false, true
		}
		if b.AllowEscape != nil && !*b.AllowEscape && !m.escSet {
			s.Escape, m.escSet = false, true
		}
	}
}

func (m *merger) grant(l Layer, b *block) {
	s := m.s
	first(&s.AutoAllow, b.AutoAllow, &m.autoSet)
	first(&s.Escape, b.AllowEscape, &m.escSet)
	first(&s.Weaker, b.Weaker, &m.weSet)
	s.Excluded = append(s.Excluded, b.Excluded...)
	s.AllowWrite = append(s.AllowWrite, m.paths(l, b.Filesystem.AllowWrite)...)
	if l.Managed || !m.onlyManagedReads {
		s.AllowRead = append(s.AllowRead, m.paths(l, b.Filesystem.AllowRead)...)
	}
	if l.Managed || !s.OnlyManagedDomains {
		s.AllowDomains = append(s.AllowDomains, b.Network.Allowed...)
	}
	s.AllUnixSockets = s.AllUnixSockets || b.Network.AllUnix
	s.NoFiles = s.NoFiles || b.Filesystem.Disabled && !l.Repo
	if s.ProxyPort == 0 {
		s.ProxyPort = b.Network.HTTPPort
	}
	if s.Bwrap == "" && l.Managed {
		s.Bwrap = b.BwrapPath
	}
	maps.Copy(s.Ignore, b.Ignore)
}

// first takes a value from the highest layer that has it.
func first(dst, v *bool, set *bool) {
	if v != nil && !*set {
		*dst, *set = *v, true
	}
}

// mode reads enabled and failIfUnavailable. A layer that is not trusted can switch the sandbox on, not off.
func (m *merger) mode(layers []Layer, blocks []block, platform string) {
	value := func(get func(*block) *bool) bool {
		for i, l := range layers {
			if v := get(&blocks[i]); v != nil && (l.Trusted || *v) {
				return *v
			}
		}
		return false
	}
	if !value(func(b *block) *bool { return b.Enabled }) {
		return
	}
	m.s.Mode = On
	if value(func(b *block) *bool { return b.FailIfMissing }) {
		m.s.Mode = Required
	}
	for i, l := range layers {
		if p := blocks[i].Platforms; p != nil && l.Trusted && !l.Repo && !slices.Contains(p, platformName(platform)) {
			m.s.Mode = Off
		}
	}
}

// platformName is how enabledPlatforms calls a system.
func platformName(goos string) string {
	if goos == "darwin" {
		return "macos"
	}
	return goos
}

// paths makes a list absolute: /x is absolute (//x too, as in rules), ~/x is in the home directory, everything
// else is below the layer's own directory.
func (m *merger) paths(l Layer, list []string) []string {
	var out []string
	for _, p := range list {
		switch {
		case p == "":
			continue
		case p == "~" || strings.HasPrefix(p, "~/"):
			if m.home == "" {
				continue
			}
			p = filepath.Join(m.home, p[1:])
		case !filepath.IsAbs(p):
			p = filepath.Join(l.Anchor, p)
		}
		out = append(out, filepath.Clean(p))
	}
	return out
}
