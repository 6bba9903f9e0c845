package perm

import "strings"

// homeNames are files and folders of the home directory whose content decides what programs run, who may come in, or where
// what is fetched comes from. Elsewhere these names mean nothing.
const homeNames = ".ssh .gnupg .aws .azure .kube .docker .netrc .pypirc .pip .gemrc .m2 .gradle .rustup .config/pip .config/gh .config/gcloud " +
	".config/fish .config/zsh .config/autostart .config/systemd .config/environment.d .config/plasma-workspace .config/nvim .config/tmux .config/direnv .config/mise " +
	".config/Code .config/VSCodium .config/kitty .config/alacritty .config/wezterm .config/ghostty .config/i3 .config/sway .config/hypr .config/gdb " +
	".local/bin bin .local/share/applications .local/share/systemd .local/share/dbus-1 .local/share/bash-completion .local/share/fish .local/lib " +
	".pam_environment .xprofile .xinitrc .xsession .xsessionrc .Xsession .Xresources .cshrc .tcshrc .login .logout .kshrc .mkshrc .inputrc .bash_completion .oh-my-zsh " +
	".tmux.conf .screenrc .vim .vimrc .emacs .emacs.d .doom.d .curlrc .wgetrc .gdbinit .lldbinit .psqlrc .sqliterc .pythonrc .ipython .irbrc .pryrc .wezterm.lua " +
	".mozilla .asdf .nvm .pyenv .rbenv .hammerspoon Library/LaunchAgents Library/Keychains"

// startup says why a path may not be changed by the mode alone, or "": a hook runs it, or it is one of those of the home
// directory. Whoever works in one of these folders has chosen to.
func (e *Env) startup(path string) (why string) {
	for _, p := range e.Programs {
		if e.fold(path) == e.fold(e.common(p)) {
			return "a hook, a helper or a variable of the environment has it run or obeyed, outside of any sandbox"
		}
	}
	home := e.common(e.Workspace.Home)
	if home == "" {
		return ""
	}
	rest, ok := cutDir(e.fold(path), e.fold(home))
	if !ok || rest == "" {
		return ""
	}
	for name := range strings.FieldsSeq(homeNames) {
		if _, in := cutDir(rest, e.fold(name)); !in || e.worksIn(home+"/"+name) {
			continue
		}
		return "~/" + name + " decides what programs run, or who may use them"
	}
	return ""
}

// StartupPaths are the files and folders of the home directory (absolute, there or not) that only a rule which names them lets
// be changed unasked.
func (e *Env) StartupPaths() (out []string) {
	home := e.common(e.Workspace.Home)
	if home == "" {
		return nil
	}
	for name := range strings.FieldsSeq(homeNames) {
		if !e.worksIn(home + "/" + name) {
			out = append(out, home+"/"+name)
		}
	}
	return out
}

// worksIn reports whether a working directory is in a folder.
func (e *Env) worksIn(dir string) bool {
	for _, root := range e.Workspace.Roots {
		if _, ok := cutDir(e.fold(e.common(root)), e.fold(dir)); ok {
			return true
		}
	}
	return false
}

// startupFinding is the question for such a path, unless a rule names it.
func (e *Env) startupFinding(tool string, t target) finding {
	for _, name := range t.names {
		why := e.startup(name)
		if why == "" {
			continue
		}
		if r := e.granted(tool, true, t); r != nil {
			if p, err := parseRule(r.Text); err == nil && !p.bare {
				return finding{}
			}
		}
		return because(Ask, "protected", name+" is protected: "+why)
	}
	return finding{}
}
