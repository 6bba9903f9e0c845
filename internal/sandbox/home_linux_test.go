package sandbox

import (
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
