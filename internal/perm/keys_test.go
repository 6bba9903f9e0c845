package perm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Where the session works in the home directory or above it, what holds keys is not read unasked; a rule that covers it, and
// working in that folder, says that it may be.
func TestKeys(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(base, "u")
	for name, text := range map[string]string{".ssh/id": "k", ".npmrc": "k", "p/a": "x", "notes": "x", ".claude/.credentials.json": "k"} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(".ssh/id", filepath.Join(home, "link")); err != nil {
		t.Skip("SKIPPED: links cannot be made here: ", err)
	}
	at := func(root string, mode Mode, allow ...string) Env {
		env := testEnv(t, mode, nil, nil, nil)
		env.FS, env.Workspace = OS{}, Workspace{Cwd: root, Roots: []string{root}, Home: home}
		var rules []Rule
		for _, text := range allow {
			rules = append(rules, Rule{Text: text, Effect: Allow})
		}
		env.Rules, _ = Compile(rules, Options{Start: root, Home: home, ProjectRoot: root, Platform: "linux", Trusted: true})
		return env
	}
	read := func(path string) Request {
		in, _ := json.Marshal(map[string]string{"file_path": path})
		return Request{Tool: "Read", Input: in}
	}
	for _, c := range []struct {
		req  Request
		env  Env
		want Verdict
	}{
		{read("notes"), at(home, ModeDefault), Allow},
		{read(".ssh/id"), at(home, ModeDefault), Ask},
		{read(".ssh/id"), at(home, ModeAcceptEdits), Ask},
		{read(".ssh/id"), at(home, ModeDontAsk), Deny},
		{read(".ssh/id"), at(home, ModeBypass), Allow},
		{read("link"), at(home, ModeDefault), Ask},
		{read("u/.ssh/id"), at(base, ModeDefault), Ask},
		{read(".npmrc"), at(home, ModeDefault), Ask},
		{read(".ssh/id"), at(home, ModeDefault, "Read(~/.ssh/**)"), Allow},
		{read("id"), at(home+"/.ssh", ModeDefault), Allow},
		{read(".SSH/id"), at(home, ModeDefault), Ask},
		{bash("cat .ssh/id"), at(home, ModeDefault), Ask},
		{bash("cat < .ssh/id"), at(home, ModeDefault), Ask},
		{bash("cd .ssh && cat *"), at(home, ModeDefault), Ask},
		{bash("cat .s*/id"), at(home, ModeDefault), Ask},
		{bash("cp .ssh/id p/b"), at(home, ModeAcceptEdits), Ask},
		{bash("grep -r k ."), at(home, ModeDefault), Ask},
		{bash("grep -r k u"), at(base, ModeDefault), Ask},
		{bash("grep -r k p"), at(home, ModeDefault), Allow},
		{bash("rg k"), at(home, ModeDefault), Allow},
		{bash("rg k u"), at(base, ModeDefault), Allow},
		{bash("rg --hidden k"), at(home, ModeDefault), Ask},
		{bash("rg k .ssh"), at(home, ModeDefault), Ask},
		{bash("diff -r . p"), at(home, ModeDefault), Ask},
		{bash("ls -la .ssh"), at(home, ModeDefault), Allow},
		{bash("test -f .ssh/id"), at(home, ModeDefault), Allow},
		{bash("grep -r k ."), at(home+"/p", ModeDefault), Allow},
		{read("/etc/shadow"), at("/", ModeDefault), Ask},
		{read("/etc/shadow-"), at("/etc", ModeDefault), Ask},
		{read("/etc/hosts"), at("/", ModeDefault), Allow},
		{read("/etc/ssh/ssh_host_rsa_key"), at("/", ModeDefault), Ask},
		{read("/etc/ssh/ssh_host_rsa_key.pub"), at("/", ModeDefault), Allow},
		{read("/proc/self/environ"), at("/", ModeDefault), Ask},
		{read("/proc/1/task/1/environ"), at("/", ModeDefault), Ask},
		{read("/proc/1/environ"), at("/", ModeBypass), Allow},
		{read("/root/.ssh/id"), at("/", ModeDefault), Ask},
		{read("/home/other/.aws/credentials"), at("/home", ModeDefault), Ask},
		{read("/home/other/notes"), at("/home", ModeDefault), Allow},
		{read("/etc/wireguard/a.conf"), at("/etc/wireguard", ModeDefault), Allow},
		{bash("grep -r x /etc"), at("/etc", ModeDefault), Ask},
		{bash("cat /proc/self/environ"), at("/", ModeDefault), Ask},
	} {
		if d := Decide(c.req, c.env); d.Verdict != c.want {
			t.Errorf("%s, mode %s in %s: %v, want %v: %s", c.req.Input, c.env.Mode, c.env.Workspace.Cwd, d.Verdict, c.want, d.Reason)
		}
	}
	for name, c := range map[string]struct {
		env  Env
		hide bool
	}{
		".ssh/id": {at(home, ModeDefault), true}, "link": {at(home, ModeDefault), true}, "notes": {at(home, ModeDefault), false},
		".claude/.credentials.json": {at(home, ModeDefault), true}, "./.ssh/id": {at(home, ModeBypass), false},
		"p/../.ssh/id": {at(home, ModeDefault, "Read(~/.ssh/**)"), false},
	} {
		if got := c.env.Withheld(filepath.Join(home, name)); got != c.hide {
			t.Errorf("a search withholds %s: %v", name, got)
		}
	}
	out := filepath.Join(base, "out")
	for path, text := range map[string]string{filepath.Join(out, "a"): "x"} {
		if err := os.MkdirAll(out, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(out, filepath.Join(home, "p/away")); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env     Env
		path    string
		refused bool
	}{
		"a file":                        {at(home, ModeDefault), "notes", false},
		"keys":                          {at(home, ModeDefault), ".ssh/id", true},
		"keys outside":                  {at(home+"/p", ModeDefault), ".ssh/id", true},
		"keys behind a link":            {at(home, ModeDefault), "link", true},
		"keys of the agent":             {at(home+"/p", ModeDefault), ".claude/.credentials.json", true},
		"keys that a rule opens":        {at(home, ModeDefault, "Read(~/.ssh/**)"), ".ssh/id", false},
		"keys where nothing is asked":   {at(home, ModeBypass), ".ssh/id", false},
		"a file outside, by its name":   {at(home+"/p", ModeDefault), "notes", false},
		"a file outside, behind a link": {at(home+"/p", ModeDefault), "p/away/a", true},
		"the same where a rule says so": {at(home+"/p", ModeDefault, "Read(/"+base+"/**)"), "p/away/a", false},
	} {
		if got := c.env.Unmentionable(filepath.Join(home, c.path)); (got != "") != c.refused {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A directory above keys of the system is known by its place alone, however it is spelt.
func TestKeysBelow(t *testing.T) {
	env := testEnv(t, ModeDefault, nil, nil, nil)
	env.Workspace = Workspace{Cwd: "/", Roots: []string{"/"}}
	for dir, want := range map[string]string{
		"/": "/etc/shadow*", "/etc": "/etc/shadow*", "/ETC": "/etc/shadow*", "/etc/ssh": "/etc/ssh/ssh_host_*_key", "/proc": "/proc/*/environ",
		"/proc/1": "/proc/*/environ", "/proc/1/task/1": "/proc/*/task/*/environ", "/proc/1/net": "", "/etc/sudo": "", "/usr": "", "/etcetera": "",
	} {
		if got := env.keysBelow(dir, nil); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}
