//go:build unix

package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/perm"
)

// tree makes files below a fresh directory: "name" a file, "name/" a directory, "name -> to" a link.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name, to, link := strings.Cut(name, " -> ")
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case link:
			err = os.Symlink(strings.ReplaceAll(to, "$", base), path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, []byte("x"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return base
}

// The engine and the sandbox must not disagree: what the engine would not let a file tool do without a question, no
// program in the sandbox may do; and what it allows outright works in the sandbox too.
func TestPolicyAgreesWithTheEngine(t *testing.T) {
	names := []string{
		"home/p/a.go", "home/p/sub/b.go", "home/p/sub/deep/c.go", "home/p/.env", "home/p/sub/.env", "home/p/sub/.env.local", "home/p/keys/k.pem", "home/p/keys/sub/l.pem", "home/p/keys/readme",
		"home/p/vendor/v.go", "home/p/vendor/x/w.go", "home/p/asked.txt", "home/p/gen/out.txt", "home/p/gen/x/out.txt", "home/p/.git/config", "home/p/.git/hooks/pre-commit", "home/p/.git/HEAD",
		"home/p/.git/objects/", "home/p/.git/refs/", "home/p/.git/index", "home/p/.claude/settings.json", "home/p/.claude/agents/a.md", "home/p/.vscode/tasks.json", "home/p/sub/.npmrc", "home/p/.envrc",
		"home/p/link.txt -> $/home/p/vendor/v.go", "home/p/out -> $/home/other", "home/p/envlink -> .env", "home/other/o.txt", "home/extra/e.txt", "home/extra/.mcp.json", "home/granted/g.txt",
		"home/granted/sub/h.txt", "home/.bashrc", "home/.ssh/id", "home/notes/n.txt", "home/.lathe/settings.json", "home/.claude/settings.json", "home/.claude/.credentials.json", "etc/conf",
	}
	base := tree(t, names...)
	home, work := filepath.Join(base, "home"), filepath.Join(base, "home/p")
	rule := func(effect perm.Verdict, texts ...string) (out []perm.Rule) {
		for _, text := range texts {
			out = append(out, perm.Rule{Text: strings.ReplaceAll(text, "$", base), Effect: effect})
		}
		return out
	}
	sets := map[string][]perm.Rule{
		"no rules": nil,
		"rules": append(append(rule(perm.Deny, "Read(.env)", "Read(keys/**/*.pem)", "Edit(vendor/**)", "Read(~/notes/**)", "Edit(/$/etc/conf)", "Read(*.local)"),
			rule(perm.Ask, "Read(asked.txt)", "Edit(gen/*.txt)")...), rule(perm.Allow, "Edit(~/granted/**)", "Edit(src/**)")...),
		"everything denied for reading in a folder": rule(perm.Deny, "Read(sub/**)", "Read(//etc/**)"),
	}
	for name, rules := range sets {
		t.Run(name, func(t *testing.T) {
			set, _ := perm.Compile(rules, perm.Options{Start: work, Home: home, ProjectRoot: work, Trusted: true})
			in := Input{
				Rules: set, Roots: []string{work, filepath.Join(home, "extra")}, Home: home, State: filepath.Join(home, ".lathe"), Config: filepath.Join(home, ".claude"),
			}
			policy, err := derive(in)
			if err != nil {
				t.Fatal(err)
			}
			env := perm.Env{
				Rules: set, Mode: perm.ModeAcceptEdits, Protected: []string{in.State, in.Config},
				Workspace: perm.Workspace{Cwd: work, Roots: in.Roots, Home: home},
			}
			decide := func(tool, path string) perm.Decision {
				input, _ := json.Marshal(map[string]string{"file_path": path})
				return perm.Decide(perm.Request{Tool: tool, Input: input}, env)
			}
			for _, n := range names {
				n, _, _ = strings.Cut(n, " -> ")
				path := filepath.Join(base, n)
				landed, err := filepath.EvalSymlinks(path)
				if err != nil || strings.HasSuffix(n, "/") {
					continue
				}
				edit, read := decide("Edit", path), decide("Read", path)
				inGit := strings.Contains(n, ".git/") && !strings.Contains(n, "config") && !strings.Contains(n, "hooks")
				if edit.Verdict != perm.Allow && policy.Writable(landed) && !inGit {
					t.Errorf("%s: the engine says %s (%s), the sandbox lets it be written", n, edit.Verdict, edit.Reason)
				}
				if edit.Verdict == perm.Allow && !policy.Writable(landed) {
					t.Errorf("%s: the engine allows an edit (%s), the sandbox refuses it", n, edit.Reason)
				}
				byRule := read.Source.Kind == "rule" && read.Verdict != perm.Allow || read.Source.Kind == "protected"
				if byRule && policy.Readable(landed) {
					t.Errorf("%s: the engine says %s to reading (%s), the sandbox shows it", n, read.Verdict, read.Reason)
				}
				if read.Verdict == perm.Allow && !policy.Readable(landed) {
					t.Errorf("%s: the engine allows reading (%s), the sandbox hides it", n, read.Reason)
				}
			}
		})
	}
}

func TestPolicyPrecedence(t *testing.T) {
	p := Policy{
		Write: []string{"/w", "/w/keep/again"}, Keep: []string{"/w/keep"}, Absent: []string{"/w/.mcp.json"}, Hide: []string{"/w/secret", "/home/.ssh"}, Show: []string{"/home/.ssh/config"},
	}
	type row struct{ Write, Read bool }
	got := map[string]row{}
	for _, path := range []string{"/w/a", "/w2", "/w/keep/x", "/w/keep/again/x", "/w/.mcp.json", "/w/secret/x", "/w/secretive", "/home/.ssh/id", "/home/.ssh/config", "/etc/passwd"} {
		got[path] = row{p.Writable(path), p.Readable(path)}
	}
	want := map[string]row{
		"/w/a": {true, true}, "/w2": {false, true}, "/w/keep/x": {false, true}, "/w/keep/again/x": {true, true}, "/w/.mcp.json": {false, true}, "/w/secret/x": {false, false},
		"/w/secretive": {true, true}, "/home/.ssh/id": {false, false}, "/home/.ssh/config": {false, true}, "/etc/passwd": {false, true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A rule that cannot be enforced is an error, not a hole; a cheap one costs no walk.
func TestRuleThatCannotBeEnforced(t *testing.T) {
	base := tree(t, "p/x/.env")
	set, _ := perm.Compile([]perm.Rule{{Text: "Read(**/.env)", Effect: perm.Deny}}, perm.Options{Start: filepath.Join(base, "p"), ProjectRoot: filepath.Join(base, "p")})
	d := &deriver{in: Input{Rules: set, Roots: []string{filepath.Join(base, "p")}}, roots: []string{filepath.Join(base, "p")}}
	m := &matcher{d: d, left: 2}
	m.add(set.PathRules(perm.Deny, false), hidden)
	if err := m.walk(filepath.Join(base, "p"), []*pathRule{&m.rules[0]}); err == nil || !strings.Contains(err.Error(), "Read(**/.env)") {
		t.Errorf("error %v", err)
	}
}

// A policy for a work tree opens it and what git needs, and hides in the checkout, too, what its rules hide.
func TestPolicyOfAWorkTree(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(base, "repo")
	tree := filepath.Join(repo, ".claude", "worktrees", "a")
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/index": "x", ".git/config": "", ".git/objects/x": "", ".git/refs/x": "", ".git/hooks/x": "",
		".git/worktrees/a/gitdir": tree + "/.git\n", ".git/worktrees/a/HEAD": "ref: refs/heads/a\n", ".git/worktrees/a/commondir": "../..\n", ".git/worktrees/a/index": "x",
		".git/worktrees/b/gitdir": base + "/b/.git\n", ".git/worktrees/b/HEAD": "ref: refs/heads/b\n",
		".claude/worktrees/a/.git": "gitdir: " + repo + "/.git/worktrees/a\n", ".claude/worktrees/a/secret": "x", ".claude/worktrees/a/main.go": "x",
		"secret": "x", "sub/key.pem": "x", "main.go": "x",
	} {
		path := filepath.Join(repo, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rules := func(dir string) *perm.Ruleset {
		set, _ := perm.Compile([]perm.Rule{
			{Text: "Read(./secret)", Effect: perm.Deny, Source: perm.Source{Scope: "project"}, Dir: dir},
			{Text: "Read(**/*.pem)", Effect: perm.Deny, Source: perm.Source{Scope: "project"}, Dir: dir},
		}, perm.Options{Start: dir, Home: base, ProjectRoot: dir, Platform: "linux"})
		return set
	}
	p, err := derive(Input{Rules: rules(tree), Also: rules(repo), Look: []string{repo}, Roots: []string{tree}, Repo: tree, Home: base, Platform: "linux"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]kind{
		".claude/worktrees/a/main.go": writable, ".claude/worktrees/a/new": writable, ".claude/worktrees/a/.git": kept, ".claude/worktrees/a/secret": hidden,
		".claude/settings.json": readOnly, ".claude/worktrees/b": readOnly, "main.go": readOnly, "secret": hidden, "sub/key.pem": hidden,
		".git/objects/new": writable, ".git/refs/heads/a": writable, ".git/worktrees/a/index": writable, ".git/worktrees/a/HEAD": writable,
		".git/worktrees/a/commondir": kept, ".git/worktrees/b/HEAD": kept, ".git/HEAD": kept, ".git/index": kept, ".git/config": kept, ".git/hooks/x": kept,
	} {
		if got := p.at(filepath.Join(repo, path)); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// What the rules of a checkout hide stays hidden in a work tree of it, whatever is shown again, and such rules are counted
// among those that the sandbox must keep.
func TestRulesOfTheCheckoutCount(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	repo, tree := filepath.Join(base, "repo"), filepath.Join(base, "tree")
	for _, path := range []string{filepath.Join(repo, "keys", "a"), filepath.Join(tree, "a")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set := func(texts ...string) *perm.Ruleset {
		var list []perm.Rule
		for _, text := range texts {
			list = append(list, perm.Rule{Text: text, Effect: perm.Deny, Source: perm.Source{Scope: "project"}, Dir: repo})
		}
		out, _ := perm.Compile(list, perm.Options{Start: repo, Home: base, ProjectRoot: repo, Platform: "linux"})
		return out
	}
	in := Input{Rules: set(), Also: set("Read(./keys)"), Look: []string{repo}, Roots: []string{tree}, Show: []string{filepath.Join(repo, "keys", "a")}, Home: base, Platform: "linux"}
	p, err := derive(in)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.at(filepath.Join(repo, "keys", "a")); got != hidden {
		t.Errorf("%v", got)
	}
	for also, want := range map[string]bool{"Read(./keys)": true, "Read": false, "Read(**/*.pem)": true} {
		in.Also = set(also)
		if got := New(Options{Input: func() Input { return in }}).keepsRules(); got != want {
			t.Errorf("with %s: %v", also, got)
		}
	}
}
