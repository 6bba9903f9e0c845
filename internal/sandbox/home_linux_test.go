package sandbox

import (
	"os"
	"strings"
	"testing"

	"lathe/internal/perm"
)

// A session in the home directory leaves alone what is there and decides what programs run, but for what a rule names.
func TestHomeAsAWorkingDirectory(t *testing.T) {
	backends(t, func(t *testing.T, _ string, change func(*rig)) {
		r := newRig(t, func(r *rig) {
			r.put("~/.tmux.conf", "mine\n")
			r.put("~/.local/bin/tool", "mine\n")
			r.put("~/.config/nvim/init.lua", "mine\n")
			r.put("~/notes.txt", "mine\n")
			r.roots = []string{r.home}
			r.rules = append(r.rules, perm.Rule{Text: "Edit(~/.config/nvim/**)", Effect: perm.Allow})
		}, change)
		r.run("cd ~; for f in .tmux.conf .local/bin/tool .config/nvim/init.lua notes.txt; do echo x >> $f; done; mv .local/bin .b; rm -f .tmux.conf; true")
		for name, want := range map[string]string{
			"~/.tmux.conf": "mine\n", "~/.local/bin/tool": "mine\n", "~/.config/nvim/init.lua": "mine\nx\n", "~/notes.txt": "mine\nx\n",
		} {
			if got := r.read(name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
	})
}

// What is not there yet and would decide what programs run does not come to be: it is moved aside, not lost.
func TestHomeGetsNothingThatRuns(t *testing.T) {
	backends(t, func(t *testing.T, backend string, change func(*rig)) {
		r := newRig(t, func(r *rig) {
			r.put("~/notes.txt", "mine\n")
			r.put("~/.vim.from-sandbox-1", "older\n")
			r.roots = []string{r.home}
			r.rules = append(r.rules, perm.Rule{Text: "Edit(~/.config/nvim/**)", Effect: perm.Allow})
		}, change)
		names := strings.Fields(".vimrc .vim/x .bash_profile .inputrc .local/bin/git bin/ls .config/systemd/user/x .config/git/config .config/nvim/init.lua .oh-my-zsh/x")
		out := r.run("cd ~; for f in " + strings.Join(names, " ") + "; do mkdir -p $(dirname $f); echo x > $f; done 2>/dev/null; true")
		for _, name := range names {
			opened := name == ".config/nvim/init.lua" && backend != "landlock" // which can make nothing beside what it keeps
			if _, err := os.Lstat(r.path("~/" + name)); (err == nil) != opened {
				t.Errorf("%s is there: %v", name, err == nil)
			}
		}
		if backend == "landlock" {
			return
		}
		if got := r.read("~/.vimrc.from-sandbox-1") + r.read("~/.vim.from-sandbox-1") + r.read("~/.vim.from-sandbox-2/x"); got != "x\nolder\nx\n" {
			t.Errorf("what was moved aside holds %q", got)
		}
		if notes := strings.Join(out.notes, " "); !strings.Contains(notes, "moved what the command made under") || !strings.Contains(notes, ".vimrc.from-sandbox-1") {
			t.Errorf("it says %q", notes)
		}
	})
}
