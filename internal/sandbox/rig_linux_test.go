package sandbox

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lathe/internal/perm"
	"lathe/internal/proc"
)

// TestMain makes the test binary the helper that runs inside the sandbox.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == HelperName {
		os.Exit(Helper(os.Args[2:], os.Stderr))
	}
	if len(os.Args) > 2 && os.Args[1] == "attack" {
		attack(os.Args[2:])
		return
	}
	os.Exit(m.Run())
}

// rig is a session with a sandbox: a home with secrets, a repository as workspace, a directory outside.
type rig struct {
	t                   testing.TB
	home, work, outside string
	settings            Settings
	rules               []perm.Rule
	roots               []string
	lookup              func(context.Context, string) ([]net.IP, error)
	status              *Status
	sandbox             *Sandbox
	procs               *proc.Group
	env                 []string
}

func newRig(t testing.TB, change ...func(*rig)) *rig {
	t.Helper()
	base := testDir(t)
	r := &rig{
		t: t, home: filepath.Join(base, "home"), outside: filepath.Join(base, "outside"), procs: &proc.Group{},
		settings: Settings{Mode: On, AutoAllow: true, Escape: true},
	}
	r.work = filepath.Join(r.home, "work")
	for _, dir := range []string{r.work, r.outside, r.path("~/.ssh"), r.path("~/.lathe"), r.path("~/.cache")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.put("~/.ssh/id_ed25519", "SECRET-KEY\n")
	r.put("~/.lathe/.credentials.json", "SECRET-KEY\n")
	r.put("~/.bashrc", "# mine\n")
	r.put("outside/file", "outside\n")
	r.put("a.txt", "hello\n")
	r.env = proc.Env(os.Environ(), "HOME="+r.home, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	r.env = slices.DeleteFunc(r.env, func(kv string) bool { return strings.HasPrefix(kv, "GOCACHE=") })
	r.outsideGit("init", "-q")
	r.roots = []string{r.work}
	for _, c := range change {
		c(r)
	}
	r.open()
	t.Cleanup(func() {
		r.procs.Close()
		r.sandbox.Close()
	})
	return r
}

// testDir is a directory that is not below /tmp, of which the sandbox has one of its own.
func testDir(t testing.TB) string {
	t.Helper()
	parent, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(parent, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(parent, "lathe-test-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// attacker is the path of the test binary inside the sandbox.
func (r *rig) attacker() string {
	if r.sandbox.Probe().Backend == "bubblewrap" {
		return helperPath + " attack "
	}
	exe, _ := os.Executable()
	return exe + " attack "
}

func (r *rig) open() {
	set, warnings := perm.Compile(r.rules, perm.Options{Start: r.work, Home: r.home, ProjectRoot: r.work, Trusted: true})
	for _, w := range warnings {
		r.t.Log(w)
	}
	exe, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	if r.sandbox != nil {
		r.sandbox.Close()
	}
	r.sandbox = New(Options{
		Input: func() Input {
			return Input{Rules: set, Roots: r.roots, Home: r.home, State: r.path("~/.lathe"), Config: r.path("~/.claude"), Platform: "linux"}
		},
		Settings: r.settings, Program: exe, CacheDir: r.path("~/.cache/lathe"), Lookup: r.lookup,
	})
	if r.status != nil {
		r.sandbox.probe = func() Status { return *r.status }
	}
}

// path makes a path: ~/x in the home, outside/x outside, everything else in the workspace.
func (r *rig) path(name string) string {
	switch {
	case filepath.IsAbs(name):
		return name
	case strings.HasPrefix(name, "~/"):
		return filepath.Join(r.home, name[2:])
	case strings.HasPrefix(name, "outside"):
		return filepath.Join(filepath.Dir(r.home), name)
	}
	return filepath.Join(r.work, name)
}

func (r *rig) put(name, text string) {
	r.t.Helper()
	path := r.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) read(name string) string {
	b, err := os.ReadFile(r.path(name))
	if err != nil {
		return ""
	}
	return string(b)
}

func (r *rig) outsideGit(args ...string) {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.work, r.env
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Fatalf("git %v: %v %s", args, err, out)
	}
}

type result struct {
	out   string
	code  int
	notes []string
	left  int
}

// run runs a command as the Bash tool does.
func (r *rig) run(command string) result {
	r.t.Helper()
	out := proc.NewOutput(proc.OutputOptions{})
	spec := proc.Spec{
		Args: []string{"bash", "--noprofile", "--norc", "-c", `IFS= read -r -d '' -u 3 c; exec 3<&-; eval "$c"`},
		Dir:  r.work, Env: append([]string(nil), r.env...), Script: []byte(command), Report: true, Out: out,
	}
	run, err := r.sandbox.Wrap(&spec, command, false)
	if err != nil {
		r.t.Fatalf("wrap: %v", err)
	}
	if run == nil && r.settings.Mode != Off {
		r.t.Fatal("the command would run without the sandbox")
	}
	spec.Timeout = 2 * time.Minute
	e, err := r.procs.Run(context.Background(), spec)
	if err != nil {
		r.t.Fatal(err)
	}
	x := out.Excerpt(1 << 20)
	text := x.Head + x.Tail
	return result{out: text, code: e.Code, notes: run.End(e.Code != 0, text), left: len(e.Left)}
}

// backends runs a test with each means that the machine has; what it lacks is skipped loudly.
func backends(t *testing.T, test func(t *testing.T, backend string, change func(*rig))) {
	t.Parallel()
	t.Run("bubblewrap", func(t *testing.T) {
		t.Parallel()
		needBubblewrap(t)
		test(t, "bubblewrap", func(*rig) {})
	})
	t.Run("landlock", func(t *testing.T) {
		t.Parallel()
		st := needLandlock(t)
		test(t, "landlock", func(r *rig) { r.status = &st })
	})
}

func probeOnce(t testing.TB) (Status, *Sandbox) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Input: func() Input { return Input{} }, Settings: Settings{Mode: On}, Program: exe})
	return s.Probe(), s
}

func needBubblewrap(t testing.TB) {
	if st, _ := probeOnce(t); st.Backend != "bubblewrap" {
		t.Skipf("SKIPPED, the sandbox is NOT tested with bubblewrap: %s", st.Missing)
	}
}

func needLandlock(t testing.TB) Status {
	st, s := probeOnce(t)
	if st.Landlock < minLandlock {
		t.Skipf("SKIPPED, the sandbox is NOT tested with Landlock alone: the kernel has version %d of its interface", st.Landlock)
	}
	if err := s.tryLandlock(st.Landlock); err != nil {
		t.Skipf("SKIPPED, the sandbox is NOT tested with Landlock alone: %v", err)
	}
	return Status{Backend: "landlock", Landlock: st.Landlock}
}

const sigZero = syscall.Signal(0)
