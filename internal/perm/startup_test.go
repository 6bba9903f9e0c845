package perm

import (
	"encoding/json"
	"testing"
)

// In the home directory, or with it among the working directories, no mode and no rule for a whole tool lets files be
// changed unasked that decide what programs run. A rule that names them does, and so does working there.
func TestStartupFiles(t *testing.T) {
	write := func(path string) Request {
		in, _ := json.Marshal(map[string]string{"file_path": path, "content": "x"})
		return Request{Tool: "Write", Input: in}
	}
	at := func(mode Mode, root string, allow ...string) Env {
		env := testEnv(t, mode, allow, nil, nil)
		env.Workspace.Cwd, env.Workspace.Roots = root, []string{root}
		return env
	}
	for _, c := range []struct {
		req  Request
		env  Env
		want Verdict
	}{
		{write("/home/u/.ssh/authorized_keys"), at(ModeAcceptEdits, "/home/u"), Ask},
		{write("/home/u/.ssh/authorized_keys"), at(ModeAuto, "/home/u"), Ask},
		{write("/home/u/.ssh/authorized_keys"), at(ModeDontAsk, "/home/u", "Edit"), Deny},
		{write("/home/u/.config/fish/config.fish"), at(ModeDefault, "/home/u", "Edit"), Ask},
		{write("/home/u/.config/fish/config.fish"), at(ModeDefault, "/home/u", "Edit(~/.config/fish/**)"), Allow},
		{write("/home/u/.config/nvim/init.lua"), at(ModeAcceptEdits, "/home/u/.config/nvim"), Allow},
		{write("/home/u/bin/x"), at(ModeAcceptEdits, "/home/u/bin"), Allow},
		{write("/home/u/bin/x"), at(ModeAcceptEdits, "/home/u"), Ask},
		{write("/home/u/notes.txt"), at(ModeAcceptEdits, "/home/u"), Allow},
		{write("/home/u/p/.ssh/config"), at(ModeAcceptEdits, "/home/u/p"), Allow},
		{write("/home/u/.ssh/authorized_keys"), at(ModeBypass, "/home/u"), Allow},
		{bash("echo x >> ~/.ssh/authorized_keys"), at(ModeAcceptEdits, "/home/u", "Bash(echo *)"), Ask},
		{bash("cp a .ssh/authorized_keys"), at(ModeAcceptEdits, "/home/u"), Ask},
		{bash("cp a .ssh/authorized_keys"), at(ModeDefault, "/home/u", "Bash(cp *)"), Ask},
		{bash("ln -s x .local/bin/git"), at(ModeDefault, "/home/u", "Bash(ln *)"), Ask},
		{bash("tee .xprofile < a"), at(ModeDefault, "/home/u", "Bash(tee *)", "Edit"), Ask},
		{bash("mkdir -p docs"), at(ModeAcceptEdits, "/home/u"), Allow},
		{bash("cat .tmux.conf"), at(ModeDefault, "/home/u"), Allow},
	} {
		if d := Decide(c.req, c.env); d.Verdict != c.want {
			t.Errorf("%s, mode %s in %s: %v, want %v: %s", c.req.Input, c.env.Mode, c.env.Workspace.Cwd, d.Verdict, c.want, d.Reason)
		}
	}
}
