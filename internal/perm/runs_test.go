package perm

import "testing"

// What a rule denies stays denied, or is asked about, however a command has it run: past flags of wrappers that are not
// known, in strings that programs hand to a shell, by git, under another name.
func TestDeniedCommandsThroughOthers(t *testing.T) {
	for _, command := range []string{
		"env -S'rm x'", "env -iS 'rm x'", "env --split-string='rm x'", "env -S rm x", "env -iu X rm x", "env BASH_ENV=f bash -c :",
		"sudo -nu root rm x", "sudo -iu root -- rm x", "timeout --new 5 rm x", "/usr/bin/time -v rm x", "/usr/bin/time -o f rm x",
		"watch 'rm x'", "parallel 'rm {}' ::: x", "tmux new -d 'rm x'", "hyperfine 'rm x'", "screen -dm rm x", "setpriv --reuid 0 rm x",
		"pkexec rm x", "linux64 rm x", "faketime now rm x", "bwrap --bind / / rm x", "/lib64/ld-linux-x86-64.so.2 /bin/rm x",
		"echo rm x | sh -s", "echo rm x | bash -x", "script --command='rm x'", "su --command='rm x'",
		"hash -p /bin/rm q; q x", "mapfile -C 'rm x' -c1 < f", "compgen -C 'rm x'", "PS4='$(rm x)' bash -xc :",
		"fd -Hx rm", "fd --exec=rm", "rg --pre rm x", "rg --pre=rm x", "sort --compress-program=rm x", "tar -I rm -cf a b",
		"tar --checkpoint-action=exec='rm x' -cf a b", "rsync -e 'rm x' a b:", "git grep -O'rm x' y", "git bisect run rm x",
		"git submodule foreach 'rm x'", "git submodule foreach --recursive rm x", "git rebase -x 'rm x' HEAD~1", "git rebase --exec='rm x' HEAD~1",
		"git filter-branch --tree-filter 'rm x'", "git difftool -x 'rm x'", "git -c core.pager='rm x' log", "git -ccore.editor='rm x' commit",
		"git -c alias.p=push p origin", "git -c alias.p='!rm x' p", "git p origin", "git config alias.p push && git p",
		"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p origin",
	} {
		for _, mode := range []Mode{ModeBypass, ModeDefault, ModeAuto} {
			env := testEnv(t, mode, []string{"Bash"}, nil, []string{"Bash(rm *)", "Bash(git push *)"})
			if d := Decide(bash(command), env); d.Verdict != Deny && !(d.Verdict == Ask && d.Source.Kind == "unsure") {
				t.Errorf("%s, mode %s: %v (%s): %s", command, mode, d.Verdict, d.Source.Kind, d.Reason)
			}
		}
	}
	for _, command := range []string{
		"git commit -m 'rm x'", "echo rm x", "git lfs pull", "git -c user.name=a commit -m x", "bash --version", "env A=1 go build ./...",
		"sudo apt-get install -y x", "timeout 60 go test ./...", "git rebase --exec 'go test ./...' HEAD~2", "hash -r", "mapfile -t a < a.txt",
		"git submodule update --init", "git submodule foreach 'git status'", "time make", "tmux ls", "sort -u a.txt",
	} {
		env := testEnv(t, ModeBypass, nil, nil, []string{"Bash(rm *)", "Bash(git push *)"})
		if d := Decide(bash(command), env); d.Verdict != Allow {
			t.Errorf("%s: %v: %s", command, d.Verdict, d.Reason)
		}
	}
}

// Differences inside submodules run git in folders that the history names: what is there now may be a repository with
// settings of somebody else's.
func TestDifferencesOfSubmodulesAsk(t *testing.T) {
	for command, want := range map[string]Verdict{
		"git log -p --submodule=diff": Ask, "git diff --submodule=diff": Ask, "git show --submodule=di": Ask, "git diff --submod=diff": Ask,
		"git log -p --submodule": Allow, "git diff --submodule=log": Allow, "git diff --submodule=short": Allow,
	} {
		if d := Decide(bash(command), testEnv(t, ModeDefault, nil, nil, nil)); d.Verdict != want {
			t.Errorf("%s: %v: %s", command, d.Verdict, d.Reason)
		}
	}
}

// A rule for a skill or a type of sub-agent means it by any name under which the tool finds it.
func TestNamedRulesInEverySpelling(t *testing.T) {
	rules := []string{"Skill(deploy)", "Skill(/ship)", "Skill(tools:lint *)", "Agent(Deployer)", "Agent(general-purpose)"}
	for _, c := range []struct {
		tool, input string
		also        []string
		held        bool
	}{
		{"Skill", `{"skill":"deploy"}`, nil, true},
		{"Skill", `{"skill":" /deploy ","args":"x"}`, nil, true},
		{"Skill", `{"skill":"team:deploy"}`, []string{"deploy", "team:deploy"}, true},
		{"Skill", `{"skill":"ship"}`, nil, true},
		{"Skill", `{"skill":"lint","args":"x"}`, []string{"lint", "tools:lint"}, true},
		{"Skill", `{"skill":"other"}`, []string{"other", ""}, false},
		{"Agent", `{"subagent_type":"deployer"}`, nil, true},
		{"Task", `{"subagent_type":" DEPLOYER"}`, nil, true},
		{"Agent", `{"subagent_type":""}`, nil, true},
		{"Agent", `{"subagent_type":null}`, nil, true},
		{"Agent", `{}`, nil, true},
		{"Agent", `{"subagent_type":"Explore"}`, nil, false},
	} {
		for effect, env := range map[Verdict]Env{Deny: testEnv(t, ModeBypass, nil, nil, rules), Ask: testEnv(t, ModeBypass, nil, rules, nil)} {
			d := Decide(Request{Tool: c.tool, Input: []byte(c.input), Also: c.also}, env)
			if want := map[bool]Verdict{true: effect, false: Allow}[c.held]; d.Verdict != want {
				t.Errorf("%s %s: %v, want %v", c.tool, c.input, d.Verdict, want)
			}
		}
	}
	env := testEnv(t, ModeDefault, []string{"Skill(deploy)"}, nil, nil)
	if d := Decide(Request{Tool: "Skill", Input: []byte(`{"skill":"team:deploy"}`), Also: []string{"deploy"}}, env); d.Verdict == Allow {
		t.Error("a rule that allows means one name")
	}
}
