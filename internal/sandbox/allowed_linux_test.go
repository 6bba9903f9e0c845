package sandbox

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/perm"
	"lathe/internal/proc"
)

// Everyday work goes on inside: builds, commits, temporary files, servers of the command's own.
func TestWorkGoesOn(t *testing.T) {
	t.Parallel()
	needBubblewrap(t)
	r := newRig(t)
	for _, c := range []struct{ command, want string }{
		{"git add -A && git commit -q -m first && git log --format=%s", "first"},
		{"git checkout -q -b topic && echo more >> a.txt && git commit -qam second && git merge-base HEAD topic >/dev/null && git status --short", ""},
		{"git diff --stat HEAD && git log --format=%s HEAD", "second\nfirst"}, // no placeholder is taken for a revision
		{"git stash list; git worktree list | wc -l", "1"},
		{"echo kept > $TMPDIR/t; mktemp >/dev/null && cat $TMPDIR/t", "kept"},
		{"cat $TMPDIR/t /tmp/t", "kept\nkept"}, // for the whole session, under both names
		{"mkdir -p a/b && mv a c && rm -r c && touch new.txt && rm new.txt && echo ok", "ok"},
		{r.attacker() + "loopback || echo failed", "loopback: ESCAPED"}, // a server of its own; the word is the test program's
		{"(sleep 0.01; echo bg) & wait", "bg"},
		{"bash -c 'exit 3'; echo $?", "3"},
		{"diff <(echo a) <(echo b) | head -1", "1c1"},
		{"echo hi | tee /dev/stderr 2>/dev/null", "hi"},
		{"[ \"$GOCACHE\" = " + r.path("~/.cache/lathe/go-build") + " ] && mkdir -p $GOCACHE && echo x > $GOCACHE/x && cat $GOCACHE/x", "x"},
		{"echo x > /dev/null && head -c 2 /dev/urandom | wc -c", "2"},
	} {
		if res := r.run(c.command); strings.TrimSpace(res.out) != c.want || res.code != 0 {
			t.Errorf("%s\ncode %d, says %q, want %q", c.command, res.code, res.out, c.want)
		}
	}
	left, _ := os.ReadDir(r.work)
	for _, e := range left {
		if strings.HasPrefix(e.Name(), ".") && e.Name() != ".git" || e.Name() == "HEAD" {
			t.Errorf("%s is left in the workspace", e.Name())
		}
	}
}

func TestGoBuild(t *testing.T) {
	t.Parallel()
	needBubblewrap(t)
	cache, err := exec.Command("go", "env", "GOCACHE").Output() // with an empty one, the standard library is built first
	if err != nil {
		t.Skip("SKIPPED: there is no go command")
	}
	dir := strings.TrimSpace(string(cache))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	r := newRig(t, func(r *rig) { r.settings.AllowWrite = []string{dir} })
	r.put("go.mod", "module x\n\ngo 1.21\n")
	r.put("main.go", "package main\n\nfunc main() { println(\"built\") }\n")
	r.env = append(r.env, "GOTOOLCHAIN=local", "GOFLAGS=", "CGO_ENABLED=0", "GOCACHE="+dir)
	if res := r.run("go build -o prog . && ./prog"); !strings.Contains(res.out, "built") || res.code != 0 {
		t.Errorf("code %d: %s %v", res.code, res.out, res.notes)
	}
}

// In a directory that is no repository, builds are not misled, and one that a command makes is harmless.
func TestNewRepository(t *testing.T) {
	t.Parallel()
	needBubblewrap(t)
	r := newRig(t, func(r *rig) {
		if err := os.RemoveAll(r.path(".git")); err != nil {
			r.t.Fatal(err)
		}
	})
	if res := r.run("[ ! -e .git ] && git init -q && git add a.txt && git commit -q -m first && git log --format=%s"); strings.TrimSpace(res.out) != "first" || len(res.notes) > 0 {
		t.Errorf("%s %q", res.out, res.notes)
	}
	if exists(r.path(".git/hooks")) || !strings.Contains(r.read(".git/config"), "bare = false") {
		t.Errorf("settings: %s", r.read(".git/config"))
	}
	if err := os.RemoveAll(r.path(".git")); err != nil {
		t.Fatal(err)
	}
	res := r.run("git init -q && git config core.fsmonitor 'touch /x' && git remote add origin https://a.test/b.git && git remote add evil 'ext::sh -c x' && echo x > .git/hooks/post-commit && mkdir -p sub && echo sub > .git/commondir")
	want := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n[remote \"origin\"]\n\turl = https://a.test/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[remote \"evil\"]\n\tfetch = +refs/heads/*:refs/remotes/evil/*\n"
	if got := r.read(".git/config"); got != want || exists(r.path(".git/hooks")) || exists(r.path(".git/commondir")) || !strings.Contains(strings.Join(res.notes, ""), "harmless") {
		t.Errorf("%s\nnotes %q\nsettings: %s", res.out, res.notes, got)
	}
	for _, command := range []string{"rm -rf .git; echo 'gitdir: sub' > .git", "rm -rf .git; ln -s sub .git", "mkdir objects refs; echo 'ref: refs/heads/main' > HEAD"} {
		_ = os.RemoveAll(r.path(".git"))
		r.run(command)
		if exists(r.path(".git")) || isGitDir(r.work) {
			t.Errorf("%s: it stays", command)
		}
	}
	_ = os.RemoveAll(r.path("objects"))
	if r.run("echo mine > HEAD"); r.read("HEAD") != "mine\n" {
		t.Error("a file HEAD that makes no repository was taken away")
	}
	r.put("HEAD", "ref: refs/heads/main\n")
	if r.run("mkdir -p objects refs"); isGitDir(r.work) { // in two steps
		t.Error("the directory has become a repository")
	}
}

// A link among the protected names cannot be covered; it is put back, and what it leads to stays as it is.
func TestProtectedLink(t *testing.T) {
	t.Parallel()
	needBubblewrap(t)
	r := newRig(t, func(r *rig) {
		r.put("editor/tasks.json", "{}\n")
		if err := os.Symlink("editor", r.path(".vscode")); err != nil {
			r.t.Fatal(err)
		}
	})
	res := r.run("rm .vscode; mkdir .vscode; echo x > .vscode/tasks.json; echo x > editor/tasks.json")
	to, _ := os.Readlink(r.path(".vscode"))
	if to != "editor" || r.read(".vscode/tasks.json") != "{}\n" || !strings.Contains(strings.Join(res.notes, ""), "took back a change of "+r.path(".vscode")) {
		t.Errorf("link to %q, tasks %q, notes %q, output %s", to, r.read(".vscode/tasks.json"), res.notes, res.out)
	}
}

// With more writable above it, a working directory cannot be moved away with its protection.
func TestFoldersAboveAWorkingDirectory(t *testing.T) {
	t.Parallel()
	needBubblewrap(t)
	r := newRig(t, func(r *rig) {
		r.put("~/code/team/x", "")
		r.settings.AllowWrite = []string{r.path("~/code")}
		r.put("~/code/team/p/.claude/settings.json", "{}\n")
		r.work = r.path("~/code/team/p")
		r.roots = []string{r.work}
	})
	res := r.run("mv ~/code/team ~/code/t2; mkdir -p ~/code/team/p/.claude && echo evil > ~/code/team/p/.claude/settings.json; echo fine > ~/code/new")
	if r.read("~/code/team/p/.claude/settings.json") != "{}\n" || r.read("~/code/new") != "fine\n" {
		t.Errorf("%s", res.out)
	}
}

// What the helper does with signals does not change how the command takes them.
func TestSignalsInside(t *testing.T) {
	backends(t, func(t *testing.T, backend string, change func(*rig)) {
		r := newRig(t, change)
		if res := r.run("sleep 60 & kill $!; wait $!; echo $?; trap -p"); strings.TrimSpace(res.out) != "143" {
			t.Errorf("%q", res.out)
		}
	})
}

// A linked work tree may commit: the repository that it belongs to is writable, but for its settings and hooks.
func TestLinkedWorktree(t *testing.T) {
	t.Parallel()
	needBubblewrap(t)
	r := newRig(t)
	r.outsideGit("commit", "-q", "--allow-empty", "-m", "first")
	r.outsideGit("worktree", "add", "-q", r.path("~/tree"))
	r.roots, r.work = []string{r.path("~/tree")}, r.path("~/tree")
	r.open()
	if res := r.run("echo x > f && git add f && git commit -q -m second && git log --format=%s | head -1"); strings.TrimSpace(res.out) != "second" {
		t.Errorf("code %d: %s", res.code, res.out)
	}
	main := r.path("~/work/.git")
	for _, command := range []string{"echo x >> " + main + "/config", "echo x > " + main + "/hooks/post-commit", "echo /tmp > " + main + "/worktrees/tree/commondir", "echo 'gitdir: /tmp' > .git"} {
		if res := r.run(command); res.code == 0 {
			t.Errorf("%s: done", command)
		}
	}
	// A file that names a repository which does not point back opens nothing.
	r.put("~/fake/.git", "gitdir: "+main+"/worktrees/tree\n")
	r.roots, r.work = []string{r.path("~/fake")}, r.path("~/fake")
	r.open()
	if res := r.run("echo x > " + main + "/x"); res.code == 0 {
		t.Error("a repository that does not point back was opened")
	}
}

// web is a server on this machine under several names.
func web(t *testing.T, r *rig) (port string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { fmt.Fprintf(w, "page of %s", req.Host) }))
	t.Cleanup(s.Close)
	_, port, _ = net.SplitHostPort(s.Listener.Addr().String())
	r.lookup = func(_ context.Context, host string) ([]net.IP, error) {
		if !strings.HasSuffix(host, ".test") {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
		return []net.IP{net.IPv4(127, 0, 0, 1)}, nil
	}
	return port
}

func TestAllowedHostThroughTheProxy(t *testing.T) {
	t.Parallel()
	needBubblewrap(t)
	port := ""
	r := newRig(t, func(r *rig) {
		r.settings.AllowDomains = []string{"named.test", "*.wide.test"}
		r.settings.DenyDomains = []string{"no.wide.test"}
		r.rules = []perm.Rule{{Text: "WebFetch(domain:rule.test)", Effect: perm.Allow}, {Text: "WebFetch(domain:denied.test)", Effect: perm.Deny}}
		port = web(t, r)
	})
	hosts := []struct{ name, want string }{
		{"named.test", "status 200: page of named.test"},
		{"NAMED.test.", "status 200: page of NAMED.test."},
		{"rule.test", "status 200: page of rule.test"},
		{"denied.test", "status 403"},
		{"other.test", "status 403"},
		{"no.wide.test", "status 403"},
		{"a.wide.test", "status 403"}, // leads to this machine, and no rule names it
		{"127.0.0.1.test", "status 403"},
		{"named.test.evil", "status 403"},
	}
	var tries, refused []string
	for _, h := range hosts {
		tries = append(tries, "get http://"+h.name+":"+port+"/")
		if strings.Contains(h.want, "403") {
			refused = append(refused, h.name)
		}
	}
	res := r.run(r.attacker() + strings.Join(tries, " , "))
	answers := strings.SplitAfter(res.out, "ESCAPED\n") // the test program's word for an answer
	for i, h := range hosts {
		if i >= len(answers) || !strings.HasPrefix(answers[i], h.want) {
			t.Errorf("%s: want %q in %q", h.name, h.want, res.out)
		}
	}
	if note := strings.Join(res.notes, ""); !strings.Contains(note, "refused the network for: "+strings.Join(refused, ", ")+".") {
		t.Errorf("notes %q", note)
	}
	if curl, err := exec.LookPath("curl"); err == nil {
		for _, flags := range []string{"-s", "-s -p", "-s --socks5-hostname 127.0.0.1:3128 --noproxy ''"} {
			if res := r.run(curl + " " + flags + " http://named.test:" + port + "/"); !strings.Contains(res.out, "page of named.test") {
				t.Errorf("curl %s: %q", flags, res.out)
			}
			if res := r.run(curl + " " + flags + " http://other.test:" + port + "/"); strings.Contains(res.out, "page of") {
				t.Errorf("curl %s reaches another host: %q", flags, res.out)
			}
		}
	}
}

// An empty list of domains means no network, not no filter.
func TestNoDomainsNoNetwork(t *testing.T) {
	t.Parallel()
	needBubblewrap(t)
	port := ""
	r := newRig(t, func(r *rig) { r.settings.AllowDomains = []string{}; port = web(t, r) })
	if res := r.run(r.attacker() + "get http://named.test:" + port + "/"); !strings.Contains(res.out, "status 403") {
		t.Errorf("%q", res.out)
	}
}

func TestRefusalsAreExplained(t *testing.T) {
	t.Parallel()
	needBubblewrap(t)
	r := newRig(t)
	res := r.run("echo x > " + r.outside + "/new")
	if text := strings.Join(res.notes, "\n"); !strings.Contains(text, "Read-only file system") || !strings.Contains(text, r.work) || !strings.Contains(text, "dangerouslyDisableSandbox") {
		t.Errorf("notes %q", res.notes)
	}
	res = r.run("echo x > .git/commondir")
	if text := strings.Join(res.notes, "\n"); !strings.Contains(text, "took back") || exists(r.path(".git/commondir")) {
		t.Errorf("notes %q", res.notes)
	}
	if res := r.run("false"); len(res.notes) > 0 {
		t.Errorf("notes without a reason: %q", res.notes)
	}
}

// Settings open and close more.
func TestFilesystemSettings(t *testing.T) {
	t.Parallel()
	needBubblewrap(t)
	r := newRig(t, func(r *rig) {
		r.put("~/data/out/x", "")
		r.put("~/data/out/.claude/settings.json", "{}")
		r.put("~/secret/y", "SECRET\n")
		r.put("~/secret/open/z", "shown\n")
		r.put("vendor/v", "v\n")
		r.settings.AllowWrite = []string{r.path("~/data/out"), r.path("~/.lathe"), r.path("~/.bashrc")}
		r.settings.DenyRead = []string{r.path("~/secret")}
		r.settings.AllowRead = []string{r.path("~/secret/open"), r.path("~/.ssh")}
		r.settings.DenyWrite = []string{r.path("vendor")}
		r.rules = []perm.Rule{{Text: "Edit(~/granted/**)", Effect: perm.Allow}}
		r.put("~/granted/g", "")
	})
	for command, ok := range map[string]bool{
		"echo x > ~/data/out/new":                   true,
		"echo x > ~/data/other":                     false,
		"echo x > ~/data/out/.claude/settings.json": false,
		"echo x > ~/.lathe/settings.json":           false,
		"echo x > ~/.bashrc":                        false,
		"cat ~/secret/y":                            false,
		"cat ~/secret/open/z":                       true,
		"echo x > ~/secret/open/z":                  false,
		"cat ~/.ssh/id_ed25519":                     true,
		"echo x > vendor/v":                         false,
		"cat vendor/v":                              true,
		"echo x > ~/granted/new":                    true,
	} {
		if res := r.run(command); (res.code == 0) != ok {
			t.Errorf("%s: code %d (%s), want ok %v", command, res.code, res.out, ok)
		}
	}
}

// Two commands hold the same placeholder; the first to end does not take it from the other.
func TestPlaceholdersAreShared(t *testing.T) {
	t.Parallel()
	path := filepath.Join(testDir(t), ".mcp.json")
	a, err := hold(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := hold(path)
	if err != nil {
		t.Fatal(err)
	}
	a.release()
	if !exists(path) {
		t.Error("the placeholder went with the first")
	}
	b.release()
	if exists(path) {
		t.Error("the placeholder stayed after the last")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := hold(path); err == nil {
		t.Error("a file was taken for a placeholder")
	}
}

// A killed session leaves a placeholder; the next command takes it along.
func TestLeftoverPlaceholder(t *testing.T) {
	t.Parallel()
	needBubblewrap(t)
	r := newRig(t)
	for _, name := range []string{".mcp.json", ".vscode"} {
		if err := os.Mkdir(r.path(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.run("true")
	if exists(r.path(".mcp.json")) || exists(r.path(".vscode")) {
		t.Error("it is still there")
	}
}

func TestLeavingAndExclusion(t *testing.T) {
	t.Parallel()
	needBubblewrap(t)
	r := newRig(t, func(r *rig) { r.settings.Excluded = []string{"docker *"} })
	spec := func() *proc.Spec { return &proc.Spec{Args: []string{"true"}, Dir: r.work, Env: r.env} }
	for _, c := range []struct {
		command string
		leave   bool
		escape  bool
		inside  bool
	}{
		{"make", false, true, true}, {"make", true, true, false}, {"make", true, false, true}, {"docker ps", false, true, false}, {"docker ps; x", false, true, true},
	} {
		r.settings.Escape = c.escape
		r.open()
		s := spec()
		run, err := r.sandbox.Wrap(s, c.command, c.leave)
		if err != nil || (run != nil) != c.inside {
			t.Errorf("%+v: %v, %v", c, run, err)
		}
		run.End(false, "")
		for _, f := range s.Files {
			_ = f.Close()
		}
		want := perm.Sandbox{On: true, Auto: true, Files: true, NoExit: !c.escape}
		if c.command == "docker ps" {
			want = perm.Sandbox{}
		}
		if got := r.sandbox.Rules(c.command); got != want {
			t.Errorf("%+v: engine is told %+v, want %+v", c, got, want)
		}
	}
}

// Without the primitives a required sandbox runs nothing, and says what is missing.
func TestRequiredAndMissing(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(r *rig) {
		r.settings.Mode = Required
		r.status = &Status{Missing: "bubblewrap is not installed (apt install bubblewrap)"}
	})
	run, err := r.sandbox.Wrap(&proc.Spec{Args: []string{"true"}}, "true", true)
	if run != nil || err == nil || !strings.Contains(err.Error(), "required") || !strings.Contains(err.Error(), "apt install bubblewrap") {
		t.Errorf("%v, %v", run, err)
	}
	r.settings.Mode = On
	r.open()
	if run, err := r.sandbox.Wrap(&proc.Spec{Args: []string{"true"}}, "true", false); run != nil || err != nil {
		t.Errorf("only wanted: %v, %v", run, err)
	}
	if got := r.sandbox.Rules("true"); got != (perm.Sandbox{}) {
		t.Errorf("the engine is told of a sandbox that is not there: %+v", got)
	}
}

// The helper itself fails closed.
func TestHelperFailsClosed(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(exe, HelperName, "/bin/echo", "ESCAPED").CombinedOutput()
	if err == nil || strings.Contains(string(out), "ESCAPED") || !strings.Contains(string(out), "could not be entered") {
		t.Errorf("without orders: %v, %s", err, out)
	}
	err = runProbe([]string{exe, HelperName, probeArg}, helperSpec{Mounts: []string{"/nowhere"}})
	if err == nil || !strings.Contains(err.Error(), "can be written and should not be") {
		t.Errorf("with mounts that nobody meant: %v", err)
	}
}
