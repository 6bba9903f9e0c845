package perm

import "strings"

// keyStores are files and folders of the home directory that hold keys, tokens and passwords.
const keyStores = ".ssh .gnupg .aws .azure .kube .docker .config/gcloud .config/gh .config/op .config/hub .config/doctl .config/rclone .config/age .config/sops " +
	".netrc .git-credentials .config/git/credentials .pypirc .cargo/credentials .cargo/credentials.toml .local/share/keyrings .local/share/heroku .password-store " +
	".terraform.d/credentials.tfrc.json .config/containers/auth.json .vault-token .pgpass .my.cnf .s3cfg .boto " +
	".mozilla .config/google-chrome .config/chromium Library/Keychains .claude.json .lathe.json"

// keyFiles are more of them, which programs of everyday work read, and what was typed in shells.
const keyFiles = ".npmrc .yarnrc.yml .m2/settings.xml .gradle/gradle.properties .config/pip/pip.conf .terraformrc .bash_history .zsh_history .python_history " +
	".psql_history .mysql_history .local/share/fish/fish_history"

// KeyStores are files and folders of keys, relative to the home directory, with slashes.
func KeyStores() []string { return strings.Fields(keyStores) }

// systemKeys are files and folders of that kind beside home directories. A star stands for a part of one name.
const systemKeys = "/etc/shadow* /etc/gshadow* /etc/sudoers /etc/sudoers.d /etc/ssh/ssh_host_*_key /etc/ssl/private /etc/krb5.keytab /etc/wireguard " +
	"/var/lib/docker /var/spool/cron /proc/*/environ /proc/*/mem /proc/*/task/*/environ /proc/*/task/*/mem /proc/kcore /run/secrets"

// keys says why a path is not read just because it is in a working directory, or "": it holds keys. Whoever works in such a
// folder has chosen to.
func (e *Env) keys(t target) (why string) {
	for _, name := range t.names {
		name = foldName(name) // see protected
		home, rest := e.homeOf(name)
		for store := range strings.FieldsSeq(keyStores + " " + keyFiles) {
			if _, in := cutDir(rest, foldName(store)); in && rest != "" && !e.worksBelow(home+"/"+foldName(store)) {
				return "~/" + store + " may hold keys"
			}
		}
		for store := range strings.FieldsSeq(systemKeys) {
			if below(store, name) && !e.worksBelow(store) {
				return store + " may hold keys"
			}
		}
	}
	return ""
}

// homeOf is the home directory that a path is in, the user's or somebody's in the usual place, and the rest of the path; "" for
// none.
func (e *Env) homeOf(name string) (home, rest string) {
	own := foldName(e.common(e.Workspace.Home))
	if rest, ok := cutDir(name, own); ok && own != "" {
		return own, rest
	}
	if rest, ok := cutDir(name, "/root"); ok {
		return "/root", rest
	}
	for _, base := range []string{"/home", "/users"} {
		if rest, ok := cutDir(name, base); ok {
			user, rest, _ := strings.Cut(rest, "/")
			return base + "/" + user, rest
		}
	}
	return "", ""
}

// below reports whether a path is one that a pattern of systemKeys means, or below one.
func below(pattern, name string) bool {
	for pattern != "" {
		var p, n string
		p, pattern, _ = strings.Cut(strings.TrimPrefix(pattern, "/"), "/")
		n, name, _ = strings.Cut(strings.TrimPrefix(name, "/"), "/")
		if n == "" || !Stars(p, n) {
			return false
		}
	}
	return true
}

// above reports whether a directory is one that holds what a pattern of systemKeys means.
func above(dir, pattern string) bool {
	names, parts := strings.FieldsFunc(dir, isSlash), strings.FieldsFunc(pattern, isSlash)
	if len(names) >= len(parts) {
		return false
	}
	for i, n := range names {
		if !Stars(parts[i], n) {
			return false
		}
	}
	return true
}

func isSlash(r rune) bool { return r == '/' }

// worksBelow reports whether a working directory is in a folder of keys.
func (e *Env) worksBelow(pattern string) bool {
	for _, root := range e.Workspace.Roots {
		if below(pattern, foldName(e.common(root))) {
			return true
		}
	}
	return false
}

// keysBelow names something that holds keys below a directory, "" for none. It looks at names only.
func (e *Env) keysBelow(dir string, skips func(name string, dir bool) bool) string {
	for store := range strings.FieldsSeq(systemKeys) {
		if above(foldName(dir), store) && !e.worksBelow(store) {
			return store
		}
	}
	home := e.common(e.Workspace.Home)
	if home == "" {
		return ""
	}
	for store := range strings.FieldsSeq(keyStores + " " + keyFiles) {
		path := home + "/" + store
		rest, ok := cutDir(e.fold(path), e.fold(dir))
		if !ok || rest == "" || e.worksIn(path) {
			continue
		}
		if first, _, _ := strings.Cut(rest, "/"); skips != nil && skips(first, strings.Contains(rest, "/")) {
			continue
		}
		if t := e.locate(path, "/"); t.exists && !(t.dir && skips != nil && skips(lastSegment(path), true)) {
			return "~/" + store
		}
	}
	return ""
}

// Withheld says whether searches leave a file (absolute) out of their results: a deny rule covers reading it, or it holds keys
// and nothing says that it may be read.
func (e *Env) Withheld(path string) bool {
	if e.ReadDenied(path) {
		return true
	}
	t := e.locate(path, e.Workspace.Cwd)
	if e.Mode == ModeBypass || e.keys(t) == "" && e.credential(t.lexical) == "" && e.credential(t.real) == "" {
		return false
	}
	return e.judge("Read", access{path: path}, t).verdict != Allow
}

// Unmentionable says why a file (absolute) is not read just because a prompt names it with @, or "". A name is a person's word
// for what it shows, and prompts hold text of others too: not for keys, and not for what a link leads to elsewhere.
func (e *Env) Unmentionable(path string) string {
	t := e.locate(path, e.Workspace.Cwd)
	keys := e.keys(t)
	for _, name := range []string{t.lexical, t.real} {
		if why := e.credential(name); why != "" {
			keys = why
		}
	}
	leads := t.problem == "" && e.inside(t.lexical) && !e.inside(t.real)
	if keys == "" && !leads || e.judge("Read", access{path: path}, t).verdict == Allow {
		return ""
	}
	if keys != "" {
		return keys + "; ask for it to be read, and you are asked in turn"
	}
	return "it is a link that leads out of the working directories, to " + t.real + "; name that instead if it is meant"
}
