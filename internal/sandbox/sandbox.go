package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"lathe/internal/perm"
	"lathe/internal/proc"
)

// HelperName is the hidden subcommand that runs inside the sandbox.
const HelperName = "__sandbox"

// Options are what a Sandbox works with.
type Options struct {
	// Input is asked before each command: directories and rules may change. Settings, Temp and Cache are filled in.
	Input    func() Input
	Settings Settings
	// Program is the path of this program, which confines itself inside the sandbox before it becomes the shell.
	Program string
	// CacheDir is where build caches of sandboxed commands go; empty is none.
	CacheDir string
	// Lookup resolves the hosts that commands connect to; nil is the system's resolver.
	Lookup func(ctx context.Context, host string) ([]net.IP, error)
	// AskHost decides on a host that no list names; nil refuses it.
	AskHost func(host string) bool
}

// Status is what the probe found.
type Status struct {
	Backend string   // "bubblewrap", "landlock", "seatbelt"; empty when there is none
	Missing string   // why there is none, or why not the better one, and what to do
	Weaker  []string // what this back end leaves open
	// Landlock is the version of the kernel's interface, 0 for none.
	Landlock int

	hostProc bool // the outer /proc is shown
}

// Available says that commands can be confined.
func (s Status) Available() bool { return s.Backend != "" }

// Sandbox confines the commands of one session, or of a part of it that works elsewhere. It is safe for concurrent use;
// nothing is made before the first command.
type Sandbox struct {
	*core
	now func() Input // what policies follow from
}

// core is what a session's sandboxes share.
type core struct {
	o     Options
	probe func() Status

	mu     sync.Mutex
	active map[*Run]struct{}
	base   string // private directory: the session's temporary files, and what hides others
	closed bool
}

// ErrMissing is the error of Wrap where the sandbox is required and cannot be had.
var ErrMissing = errors.New("the sandbox is required and not available")

// New makes a sandbox.
func New(o Options) *Sandbox {
	s := &Sandbox{&core{o: o}, o.Input}
	s.probe = sync.OnceValue(func() Status { return s.findBackend() })
	return s
}

// With is the same sandbox for commands whose policy follows from something else: of a sub-agent in a work tree of its own.
func (s *Sandbox) With(input func() Input) *Sandbox { return &Sandbox{s.core, input} }

// Probe tries the means of the system, once. The first call starts a process or two.
func (s *Sandbox) Probe() Status { return s.probe() }

// Mode is how much it is wanted.
func (s *Sandbox) Mode() Mode { return s.o.Settings.Mode }

// Escape says that a call may ask to run outside.
func (s *Sandbox) Escape() bool { return s.o.Settings.Escape }

// Check returns an error when the sandbox is required and not there.
func (s *Sandbox) Check() error {
	if s.o.Settings.Mode != Required {
		return nil
	}
	if st := s.Probe(); !st.Available() {
		return fmt.Errorf("%w, so nothing is run: %s", ErrMissing, st.Missing)
	}
	return nil
}

// Rules is what the permission engine must know of one command: whether it will run in the sandbox.
func (s *Sandbox) Rules(command string) perm.Sandbox {
	set := &s.o.Settings
	if set.Mode == Off || perm.Excluded(set.Excluded, command) || !s.Probe().Available() {
		return perm.Sandbox{}
	}
	return perm.Sandbox{On: true, Auto: set.AutoAllow, NoExit: !set.Escape, Files: s.keepsRules()}
}

// keepsRules says that every rule for paths is enforced wherever it means: not so for a pattern with stars that
// starts above the working directories, of which only the matches inside are looked for.
func (s *Sandbox) keepsRules() bool {
	if s.o.Settings.NoFiles || s.o.Settings.Weaker {
		return false
	}
	in := s.now()
	if in.Rules.RestrictsAllPaths() || in.Also.RestrictsAllPaths() {
		return false
	}
	for _, effect := range []perm.Verdict{perm.Deny, perm.Ask} {
		for _, write := range []bool{false, true} {
			for _, r := range in.restrictions(effect, write) {
				for _, root := range slices.Concat(in.Roots, in.Look) {
					if !r.Whole && root != r.Base && within(root, or(r.Base, "/")) {
						return false
					}
				}
			}
		}
	}
	return true
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// Run is one command in the sandbox.
type Run struct {
	sandbox *Sandbox
	policy  Policy
	command string
	status  Status
	proxy   *proxy // nil where there is no network at all
	holds   []*placeholder
	before  []state
	once    sync.Once
	notes   []string
}

// Wrap changes how a command is started so that it runs in the sandbox. leave is the wish of the call to run
// outside, which the permission engine has asked about. A nil Run means that it runs as it is. End must be called
// when the command has ended, or could not be started.
func (s *Sandbox) Wrap(spec *proc.Spec, command string, leave bool) (*Run, error) {
	set := &s.o.Settings
	if set.Mode == Off {
		return nil, nil
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	if leave && set.Escape || perm.Excluded(set.Excluded, command) {
		return nil, nil
	}
	st := s.Probe()
	if !st.Available() {
		return nil, nil // its decision was made without the sandbox
	}
	in, err := s.input()
	if err != nil {
		return nil, err
	}
	policy, err := derive(in)
	if err != nil {
		return nil, err
	}
	r := &Run{sandbox: s, policy: policy, command: command, status: st}
	s.enter(r)
	if err := r.prepare(spec, in); err != nil {
		r.End(false, "")
		return nil, fmt.Errorf("prepare the sandbox: %w", err)
	}
	return r, nil
}

// input completes what policies follow from, and makes the session's directories.
func (s *Sandbox) input() (Input, error) {
	in := s.now()
	in.Settings = s.o.Settings
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return in, errors.New("the session is ending, nothing new is started")
	}
	if s.base == "" {
		base, err := os.MkdirTemp("", "lathe-sandbox-*")
		if err != nil {
			return in, fmt.Errorf("make the sandbox's temporary directory: %w", err)
		}
		if base, err = filepath.EvalSymlinks(base); err != nil {
			return in, err
		}
		if err := os.Mkdir(filepath.Join(base, "tmp"), 0o700); err != nil {
			return in, err
		}
		if err := os.WriteFile(filepath.Join(base, "hidden"), nil, 0); err != nil {
			return in, err
		}
		s.base = base
	}
	in.Temp = filepath.Join(s.base, "tmp")
	if s.o.CacheDir != "" {
		if err := os.MkdirAll(s.o.CacheDir, 0o700); err == nil {
			in.Cache, _ = real(s.o.CacheDir)
		}
	}
	return in, nil
}

func (s *Sandbox) enter(r *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active == nil {
		s.active = map[*Run]struct{}{}
	}
	s.active[r] = struct{}{}
}

func (s *Sandbox) leave(r *Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.active, r)
}

func (s *Sandbox) hiddenFile() string { return filepath.Join(s.base, "hidden") }

// Close ends what is left of commands, which must have been stopped, and removes the session's temporary files.
func (s *Sandbox) Close() {
	s.mu.Lock()
	s.closed = true
	runs := slices.Collect(maps.Keys(s.active))
	s.mu.Unlock()
	for _, r := range runs {
		r.End(false, "")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.base != "" {
		_ = os.RemoveAll(s.base)
	}
}

// prepare makes placeholders, starts the proxy and rewrites the command line.
func (r *Run) prepare(spec *proc.Spec, in Input) error {
	if exe, ok := real(r.sandbox.o.Program); ok && r.policy.Writable(exe) {
		r.policy.Keep = appendNew(r.policy.Keep, exe)
	}
	r.before = remember(r.policy.Restore)
	if r.status.Backend == "bubblewrap" {
		for _, m := range r.policy.mounts() {
			if m.kind != kept || exists(m.path) && !leftover(m.path) {
				continue
			}
			h, err := hold(m.path)
			if err != nil {
				return err
			}
			r.holds = append(r.holds, h)
		}
	}
	spec.Env = childEnv(spec.Env, in)
	return r.wrap(spec, in)
}

// childEnv points temporary files and build caches to where they may be written, and drops what leads to sockets.
func childEnv(env []string, in Input) []string {
	drop := map[string]bool{}
	for _, key := range strings.Fields("SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO DBUS_SESSION_BUS_ADDRESS DOCKER_HOST XDG_RUNTIME_DIR DISPLAY WAYLAND_DISPLAY TMUX WSL_INTEROP NOTIFY_SOCKET") {
		drop[key] = !in.Settings.AllUnixSockets
	}
	for _, key := range in.Settings.DropEnv {
		drop[key] = true
	}
	set := map[string]string{"TMPDIR": in.Temp, "LATHE_SANDBOX": "1"}
	have := map[string]bool{}
	var out []string
	for _, kv := range env {
		key, _, _ := strings.Cut(kv, "=")
		have[key] = true
		if _, replaced := set[key]; !replaced && !drop[key] {
			out = append(out, kv)
		}
	}
	if in.Cache != "" {
		for key, dir := range map[string]string{"GOCACHE": "go-build", "npm_config_cache": "npm", "PIP_CACHE_DIR": "pip"} {
			if !have[key] {
				set[key] = filepath.Join(in.Cache, dir)
			}
		}
	}
	for _, key := range sortedKeys(set) {
		out = append(out, key+"="+set[key])
	}
	return out
}

// proxyEnv are the variables by which programs find the proxy.
func proxyEnv(addr string) []string {
	var out []string
	url := "http://" + addr
	for _, key := range []string{"http_proxy", "https_proxy", "all_proxy"} {
		out = append(out, key+"="+url, strings.ToUpper(key)+"="+url)
	}
	return append(out, "no_proxy=localhost,127.0.0.1,::1", "NO_PROXY=localhost,127.0.0.1,::1", "NODE_USE_ENV_PROXY=1")
}

// End puts back what must not have changed, lets go of what the command needed, and says what the sandbox
// refused. failed and output tell how the command went.
func (r *Run) End(failed bool, output string) []string {
	if r == nil {
		return nil
	}
	r.once.Do(func() {
		defer r.sandbox.leave(r)
		var hosts []string
		if r.proxy != nil {
			hosts = r.proxy.close()
		}
		for _, h := range r.holds {
			h.release()
		}
		r.notes = append(append(restore(r.before), setAside(r.policy.Aside)...), r.explain(failed, output, hosts)...)
	})
	return r.notes
}

// ends of texts by which programs report what a sandbox refuses.
var refusals = []string{
	"Read-only file system", "Permission denied", "Operation not permitted", "EROFS", "EACCES", "EPERM", "read-only file system",
	"permission denied", "operation not permitted", "Device or resource busy", "device or resource busy",
}

var offline = []string{
	"Could not resolve", "Network is unreachable", "network is unreachable", "Temporary failure in name resolution", "no such host",
	"Name or service not known", "EAI_AGAIN", "ENOTFOUND", "ENETUNREACH",
}

func (r *Run) explain(failed bool, output string, hosts []string) []string {
	var notes []string
	if len(hosts) > 0 {
		notes = append(notes, fmt.Sprintf("The sandbox refused the network for: %s. A host is allowed by a rule WebFetch(domain:HOST) or sandbox.network.allowedDomains.", strings.Join(hosts, ", ")))
	}
	if !failed || r.ignored(output) {
		return notes
	}
	leave := ""
	if r.sandbox.o.Settings.Escape {
		leave = " If the command needs it, call again with dangerouslyDisableSandbox: the user is asked."
	}
	if s := firstIn(output, refusals); s != "" {
		notes = append(notes, fmt.Sprintf("(“%s” may come from the sandbox: only %s can be written; settings of the project, git and agents in it, key stores and what rules deny stay out of reach.%s)",
			s, strings.Join(r.shown(), ", "), leave))
	} else if s := firstIn(output, offline); s != "" && len(hosts) == 0 {
		notes = append(notes, fmt.Sprintf("(“%s” may come from the sandbox: the network is closed but for allowed hosts, through the proxy in HTTP_PROXY.%s)", s, leave))
	}
	return notes
}

// ignored says that the settings want no note on such an output of such a command.
func (r *Run) ignored(output string) bool {
	for command, texts := range r.sandbox.o.Settings.Ignore {
		if command == "*" || strings.HasPrefix(strings.TrimSpace(r.command), command) {
			if firstIn(output, texts) != "" {
				return true
			}
		}
	}
	return false
}

// shown are the writable directories that a person would name.
func (r *Run) shown() []string {
	var out []string
	for _, dir := range r.policy.Write {
		if filepath.Base(dir) != ".git" && !strings.HasPrefix(dir, r.sandbox.o.CacheDir+string(filepath.Separator)) && dir != r.sandbox.o.CacheDir {
			out = append(out, dir)
		}
	}
	return out[:min(len(out), 5)]
}

func firstIn(text string, list []string) string {
	for _, s := range list {
		if s != "" && strings.Contains(text, s) {
			return s
		}
	}
	return ""
}
