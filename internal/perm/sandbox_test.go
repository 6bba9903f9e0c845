package perm

import (
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func leaving(command string) Request {
	input, _ := json.Marshal(map[string]any{"command": command, "dangerouslyDisableSandbox": true})
	return Request{Tool: "Bash", Input: input}
}

func TestSandboxedCommands(t *testing.T) {
	on, auto, strict := Sandbox{On: true}, Sandbox{On: true, Auto: true}, Sandbox{On: true, Auto: true, NoExit: true}
	files := Sandbox{On: true, Auto: true, Files: true}
	for _, c := range []struct {
		name             string
		sandbox          Sandbox
		mode             Mode
		allow, ask, deny []string
		req              Request
		want             Verdict
		kind             string
	}{
		{"no sandbox asks", Sandbox{}, ModeDefault, nil, nil, nil, bash("make all"), Ask, "default"},
		{"without auto-allow it asks", on, ModeDefault, nil, nil, nil, bash("make all"), Ask, "default"},
		{"auto-allow", auto, ModeDefault, nil, nil, nil, bash("make all"), Allow, "sandbox"},
		{"in acceptEdits", auto, ModeAcceptEdits, nil, nil, nil, bash("make all"), Allow, "sandbox"},
		{"in dontAsk", auto, ModeDontAsk, nil, nil, nil, bash("make all"), Allow, "sandbox"},
		{"plan mode is not widened", auto, ModePlan, nil, nil, nil, bash("make all"), Ask, "default"},
		{"what only reads says so", auto, ModeDefault, nil, nil, nil, bash("ls"), Allow, "readonly"},
		{"a rule says so", auto, ModeDefault, []string{"Bash(make:*)"}, nil, nil, bash("make all"), Allow, "rule"},
		{"what cannot be parsed", auto, ModeDefault, nil, nil, nil, bash("make $(("), Allow, "sandbox"},
		{"a write that the sandbox refuses itself", auto, ModeDefault, nil, nil, nil, bash("echo x > .git/config"), Allow, "sandbox"},
		{"deny", auto, ModeDefault, nil, nil, []string{"Bash(make:*)"}, bash("make all"), Deny, "rule"},
		{"deny of a part", auto, ModeDefault, nil, nil, []string{"Bash(curl:*)"}, bash("x=1; true && curl a"), Deny, "rule"},
		{"deny of the tool", auto, ModeDefault, nil, nil, []string{"Bash"}, bash("make"), Deny, "rule"},
		{"deny of a path", auto, ModeDefault, nil, nil, []string{"Read(.env)"}, bash("cat .env"), Deny, "rule"},
		{"ask with content", auto, ModeDefault, nil, []string{"Bash(make:*)"}, nil, bash("make all"), Ask, "rule"},
		{"a bare ask is answered by the sandbox", auto, ModeDefault, nil, []string{"Bash"}, nil, bash("make all"), Allow, "sandbox"},
		{"so is one with a star", auto, ModeDefault, nil, []string{"Bash(*)"}, nil, bash("$x all"), Allow, "sandbox"},
		{"a bare ask in plan mode asks", auto, ModePlan, nil, []string{"Bash"}, nil, bash("make all"), Ask, "rule"},
		{"a bare ask does not hide another", auto, ModeDefault, nil, []string{"Bash", "Bash(make:*)"}, nil, bash("make all"), Ask, "rule"},
		{"a rule that might match asks", auto, ModeDefault, nil, nil, []string{"Bash(curl:*)"}, bash("$x all"), Ask, "unsure"},
		{"a path that is not known", auto, ModeDefault, nil, nil, []string{"Read(.env)"}, bash("cat $x"), Ask, "unsure"},
		{"which the sandbox looks after", files, ModeDefault, nil, nil, []string{"Read(.env)"}, bash("cat $x > $y"), Allow, "sandbox"},
		{"in plan mode nothing does", files, ModePlan, nil, nil, []string{"Read(.env)"}, bash("cat $x"), Ask, "unsure"},
		{"a path that is known", files, ModeDefault, nil, nil, []string{"Read(.env)"}, bash("cat .env"), Deny, "rule"},
		{"critical removal", auto, ModeDefault, nil, nil, nil, bash("rm -rf ~"), Ask, "critical"},
		{"leaving asks", auto, ModeDefault, nil, nil, nil, leaving("make all"), Ask, "tool"},
		{"leaving asks past an allow rule", auto, ModeDefault, []string{"Bash(make:*)"}, nil, nil, leaving("make all"), Ask, "tool"},
		{"leaving asks in bypassPermissions", auto, ModeBypass, nil, nil, nil, leaving("make all"), Ask, "tool"},
		{"leaving is denied in dontAsk", auto, ModeDontAsk, nil, nil, nil, leaving("make all"), Deny, "tool"},
		{"leaving meets the bare ask rule", auto, ModeDefault, nil, []string{"Bash"}, nil, leaving("make all"), Ask, "rule"},
		{"leaving has no effect when strict", strict, ModeDefault, nil, nil, nil, leaving("make all"), Allow, "sandbox"},
		{"bypass without a sandbox", Sandbox{}, ModeBypass, nil, nil, nil, leaving("make all"), Allow, "mode"},
		{"other tools are not in it", auto, ModeDefault, nil, nil, nil, Request{Tool: "Write", Input: json.RawMessage(`{"file_path":"/home/u/p/a"}`)}, Ask, "default"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := testEnv(t, c.mode, c.allow, c.ask, c.deny)
			env.Sandbox = c.sandbox
			if got := Decide(c.req, env); got.Verdict != c.want || got.Source.Kind != c.kind {
				t.Errorf("%s (%s: %s), want %s (%s)", got.Verdict, got.Source.Kind, got.Reason, c.want, c.kind)
			}
		})
	}
}

func TestExcluded(t *testing.T) {
	patterns := []string{"docker *", "git", "npm test:*"}
	for command, want := range map[string]bool{
		"docker ps":                     true,
		"docker":                        true,
		"git push origin main":          true,
		"github":                        false,
		"npm test --watch":              true,
		"npm run x":                     false,
		"docker ps && git fetch":        true,
		"docker ps | grep x":            false,
		"docker ps > out":               false,
		"docker ps 2>&1":                false, // any redirection stays inside
		"sudo docker ps":                false,
		"timeout 5 docker ps":           false,
		"cd x && git push":              false,
		"git push $(id)":                false,
		"git $x":                        false,
		"X=1 git push":                  false,
		"(git push)":                    false,
		"if true; then git push; fi":    false,
		"for x in 1; do git push; done": false,
		"git push &":                    true,
		"{ git push; }":                 false,
		"xargs git":                     false,
		"bash -c 'git push'":            false,
		"git push '":                    false,
		"":                              false,
	} {
		if got := Excluded(patterns, command); got != want {
			t.Errorf("%q: %v, want %v", command, got, want)
		}
	}
	if Excluded(nil, "ls") {
		t.Error("nothing is excluded by no patterns")
	}
}

func TestPathRulesForTheSandbox(t *testing.T) {
	env := testEnv(t, ModeDefault, []string{"Edit(//data/out/**)", "Edit"}, nil,
		[]string{"Read(.env)", "Read(~/.ssh/**)", "Read(secrets/*.key)", "Edit(//etc/app.conf)", "Read(**/x)"})
	type row struct {
		Text, Base string
		Whole      bool
	}
	var got []row
	for _, effect := range []Verdict{Allow, Deny} {
		for _, write := range []bool{false, true} {
			for _, r := range env.Rules.PathRules(effect, write) {
				got = append(got, row{r.Rule.Text, r.Base, r.Whole})
			}
		}
	}
	want := []row{
		{"Edit(//data/out/**)", "/data/out", true},
		{"Read(.env)", "/home/u/p", false},
		{"Read(~/.ssh/**)", "/home/u/.ssh", true},
		{"Read(secrets/*.key)", "/home/u/p/secrets", false},
		{"Read(**/x)", "/home/u/p", false},
		{"Edit(//etc/app.conf)", "/etc/app.conf", true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestInternalAddr(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": true, "10.0.0.1": true, "169.254.169.254": true, "::1": true, "fe80::1%eth0": true, "::ffff:127.0.0.1": true,
		"100.64.1.1": true, "0.0.0.0": true, "fd00::1": true, "224.0.0.1": true, "8.8.8.8": false, "2606:4700::1111": false,
	} {
		if got := InternalAddr(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
