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

// A rule for one file of a start-up folder opens that file; one with a pattern opens no folder, nor one elsewhere in the home directory.
func TestHomeOpensOnlyWhatARuleNames(t *testing.T) {
	backends(t, func(t *testing.T, _ string, change func(*rig)) {
		r := newRig(t, func(r *rig) {
			for _, name := range []string{"nvim/init.lua", "nvim/other.lua", "fontconfig/x.md"} {
				r.put("~/.config/"+name, "mine\n")
			}
			r.put("~/.vim/vimrc", "mine\n")
			r.put("~/.local/bin/tool", "mine\n")
			r.put("~/.local/bin/other", "mine\n")
			r.put("~/.tmux.conf", "mine\n")
			r.put("~/.inputrc", "mine\n")
			r.roots = []string{r.home}
			for _, text := range []string{"Edit(~/.config/nvim/init.lua)", "Edit(~/**/*.md)", "Edit(**/*.txt)", "Edit(~/.vim/**)"} {
				r.rules = append(r.rules, perm.Rule{Text: text, Effect: perm.Allow})
			}
			r.put("~/dotfiles/screen", "mine\n")
			if err := os.Symlink("dotfiles/screen", r.path("~/.screenrc")); err != nil {
				r.t.Fatal(err)
			}
			r.settings.AllowWrite = []string{r.path("~/dotfiles/screen"), r.path("~/.local/bin/tool"), r.path("~/.inputrc")}
		}, change)
		r.run("cd ~; for f in .config/nvim/init.lua .config/nvim/other.lua .vim/vimrc .local/bin/tool .local/bin/other .tmux.conf .inputrc .screenrc; do echo x >> $f; done; true")
		for name, changed := range map[string]bool{
			".config/nvim/init.lua": true, ".config/nvim/other.lua": false, ".vim/vimrc": true,
			".local/bin/tool": true, ".local/bin/other": false, ".tmux.conf": false, ".inputrc": true, "dotfiles/screen": true,
		} {
			if got := r.read("~/"+name) != "mine\n"; got != changed {
				t.Errorf("%s changed: %v", name, got)
			}
		}
	})
}

// A start-up name that is a link stays one, each link on its way too; what a write through a dangling one makes is moved aside.
func TestHomeLinksAtStartupNames(t *testing.T) {
	backends(t, func(t *testing.T, backend string, change func(*rig)) {
		r := newRig(t, func(r *rig) {
			r.put("~/dotfiles/tmux", "mine\n")
			for name, to := range map[string]string{
				".tmux.conf": "hop", "hop": "dotfiles/tmux", ".vimrc": "dotfiles/vimrc", ".bash_profile": "dotfiles/profile", ".inputrc": "there", "there": "dotfiles/input", ".gdbinit": "via/gdb", "via": "dotfiles",
				"work/.mcp.json": "mcp.json", ".zshrc": ".zshrc",
			} {
				if err := os.Symlink(to, r.path("~/"+name)); err != nil {
					r.t.Fatal(err)
				}
			}
			r.roots = []string{r.home, r.work}
		}, change)
		r.run("cd ~; for f in .vimrc .bash_profile .gdbinit .inputrc .tmux.conf work/.mcp.json; do echo x >> $f; done 2>/dev/null; rm -f hop; echo x > hop; rm -f .vimrc via; echo x > .vimrc; true")
		for _, name := range []string{"dotfiles/vimrc", "dotfiles/profile", "dotfiles/input", "dotfiles/gdb", "work/mcp.json"} {
			if _, err := os.Lstat(r.path("~/" + name)); err == nil {
				t.Errorf("%s came to be", name)
			}
			if got := r.read("~/" + name + ".from-sandbox-1"); backend != "landlock" && got != "x\n" {
				t.Errorf("%s: what was moved aside holds %q", name, got)
			}
		}
		for name, want := range map[string]string{".tmux.conf": "hop", "hop": "dotfiles/tmux", ".vimrc": "dotfiles/vimrc"} {
			if got, _ := os.Readlink(r.path("~/" + name)); got != want {
				t.Errorf("%s leads to %q", name, got)
			}
		}
		if got := r.read("~/dotfiles/tmux"); got != "mine\n" {
			t.Errorf("what a link leads to holds %q", got)
		}
	})
}
