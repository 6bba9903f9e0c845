package perm

import (
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"unicode"
)

// target is a path that a call would touch, looked at from every side.
type target struct {
	lexical string // absolute, cleaned by text only
	// real is where it lands: every link followed, also below a directory that does not exist yet.
	real string
	// names are all spellings: lexical, each link on the way, real. A deny rule for any of them counts.
	names   []string
	problem string // why the path cannot be judged; then real may be empty
	special string // "a named pipe" and the like, when it exists and is neither file nor directory
	dir     bool   // it is an existing directory
	exists  bool
}

const maxLinks = 40

// locate looks at a path as the tool or the shell would open it. base is the directory of relative paths.
func (e *Env) locate(path, base string) target {
	abs, problem := e.absolute(path, base)
	t := target{lexical: cleanPath(abs), problem: problem}
	t.names = append(t.names, t.lexical)
	if problem != "" {
		return t // judged by its text only: it must not be touched
	}
	e.follow(&t, abs)
	return t
}

// absolute spells a path the common way: absolute, forward slashes, /c/ for C:\. It looks at nothing.
func (e *Env) absolute(path, base string) (abs, problem string) {
	if e.Platform == "windows" {
		path, problem = windowsPath(path)
	}
	if problem == "" {
		problem = hiddenInName(path)
	}
	home := e.Workspace.Home
	switch {
	case path == "~" || strings.HasPrefix(path, "~/"):
		if home == "" && problem == "" {
			problem = "there is no home directory"
		}
		return e.common(home) + path[1:], problem
	case strings.HasPrefix(path, "/"):
		return path, problem
	}
	return e.common(base) + "/" + path, problem
}

// common spells one of the workspace's own directories the common way.
func (e *Env) common(dir string) string {
	switch e.Platform {
	case "darwin":
		return public(dir)
	case "windows":
	default:
		return dir
	}
	dir = strings.ReplaceAll(dir, `\`, "/")
	if hasDrive(dir) {
		dir = "/" + strings.ToLower(dir[:1]) + dir[2:]
	}
	return strings.TrimSuffix(dir, "/")
}

// public gives a path below the links /tmp, /var and /etc of a Mac its usual name.
func public(path string) string {
	for _, dir := range []string{"/tmp", "/var", "/etc"} {
		if _, ok := cutDir(path, "/private"+dir); ok {
			return path[len("/private"):]
		}
	}
	return path
}

// native spells a common path as the machine's file system wants it.
func (e *Env) native(path string) string {
	if runtime.GOOS == "windows" && len(path) >= 2 && path[0] == '/' && (len(path) == 2 || path[2] == '/') {
		if len(path) == 2 {
			return path[1:2] + `:\`
		}
		return path[1:2] + ":" + strings.ReplaceAll(path[2:], "/", `\`)
	}
	return path
}

// windowsPath turns a Windows spelling into the common one. Spellings that name something else than they show
// have a problem, and are never looked up: opening a network path sends credentials.
func windowsPath(path string) (common, problem string) {
	path = strings.ReplaceAll(path, `\`, "/")
	switch {
	case strings.HasPrefix(path, "//"), strings.HasPrefix(path, "/??/"):
		return path, "it is a network or device path"
	case hasDrive(path):
		path = "/" + strings.ToLower(path[:1]) + path[2:]
	case len(path) > 1 && path[1] == ':':
		problem = "it is relative to a drive"
	}
	segs := strings.Split(path, "/")
	for i, s := range segs {
		if s == "." || s == ".." || s == "" {
			continue
		}
		if trimmed := strings.TrimRight(s, ". "); trimmed != s {
			segs[i], problem = trimmed, "a name ends in a dot or blank, which Windows ignores"
		}
		if why := windowsName(s); why != "" {
			problem = why
		}
	}
	return strings.Join(segs, "/"), problem
}

func windowsName(s string) (problem string) {
	stem, _, _ := strings.Cut(strings.ToLower(s), ".")
	stem = strings.TrimRight(stem, " ")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$", "clock$":
		return "it names a device"
	}
	if len(stem) >= 4 && (stem[:3] == "com" || stem[:3] == "lpt") {
		if digit := stem[3:]; len(digit) == 1 && digit[0] >= '0' && digit[0] <= '9' || digit == "¹" || digit == "²" || digit == "³" {
			return "it names a device"
		}
	}
	if strings.ContainsAny(s, `:*?"<>|`) {
		return "it has a character that Windows names cannot have"
	}
	if i := strings.IndexByte(s, '~'); i >= 0 && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' {
		return "it may be the short form of another name"
	}
	return ""
}

// hiddenInName names characters that would make a shown name lie.
func hiddenInName(path string) (problem string) {
	for _, r := range path {
		switch {
		case unicode.Is(unicode.Cc, r), r == unicode.ReplacementChar:
			return "it has a control character"
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x2028, r == 0x2029:
			return "it has a character that changes how it is shown"
		}
	}
	return ""
}

// follow resolves links by walking the path as the system does.
func (e *Env) follow(t *target, abs string) {
	cur, rest := e.trusted(abs), ""
	rest = abs[len(cur):]
	missing := false
	t.exists, t.dir = true, true
	for links := 0; rest != ""; {
		var seg string
		seg, rest, _ = strings.Cut(strings.TrimLeft(rest, "/"), "/")
		switch seg {
		case "", ".":
			continue
		case "..":
			cur, missing = parentDir(cur), false
			t.exists, t.dir, t.special = true, true, ""
			continue
		}
		cur += "/" + seg
		t.exists, t.dir, t.special = false, false, ""
		if missing {
			continue
		}
		info, err := e.fs().Lstat(e.native(cur))
		switch {
		case errors.Is(err, fs.ErrNotExist), err != nil && notDir(err):
			missing = true
			continue
		case err != nil:
			t.problem = "it cannot be resolved: " + lastError(err)
			return
		}
		t.exists = true
		t.note(info.Mode())
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if links++; links > maxLinks {
			t.problem = "its links do not end"
			return
		}
		next, ok := e.link(cur)
		if !ok {
			t.problem = "a link on it cannot be read"
			return
		}
		cur, rest = "", next+"/"+rest
		t.names = append(t.names, cleanPath(rest))
	}
	t.real = cur
	if cur == "" {
		t.real = "/"
	}
	if e.Platform == "darwin" {
		t.real = public(t.real)
	}
	if t.real != t.names[len(t.names)-1] {
		t.names = append(t.names, t.real)
	}
}

// link is where a link leads, as an absolute path.
func (e *Env) link(name string) (to string, ok bool) {
	to, err := e.fs().Readlink(e.native(name))
	if err != nil {
		return "", false
	}
	to = e.common(to)
	if !strings.HasPrefix(to, "/") {
		to = parentDir(name) + "/" + to
	}
	return to, true
}

// trusted is the longest working directory that path starts with: its links are already resolved.
func (e *Env) trusted(path string) string {
	best := ""
	for _, root := range e.Workspace.Roots {
		root = e.common(root)
		if _, ok := cutDir(path, root); ok && len(root) > len(best) {
			best = root
		}
	}
	return best
}

func (t *target) note(mode fs.FileMode) {
	t.dir, t.special = mode.IsDir(), ""
	switch {
	case mode.IsDir(), mode.IsRegular(), mode&fs.ModeSymlink != 0:
	case mode&fs.ModeNamedPipe != 0:
		t.special = "a named pipe"
	case mode&fs.ModeSocket != 0:
		t.special = "a socket"
	default:
		t.special = "a device"
	}
}

// cleanPath cleans an absolute path by its text.
func cleanPath(abs string) string {
	if !strings.Contains(abs, "//") && !strings.Contains(abs, "/.") && !strings.HasSuffix(abs, "/") {
		return abs
	}
	var out []string
	for seg := range strings.SplitSeq(abs, "/") {
		switch seg {
		case "", ".":
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, seg)
		}
	}
	return "/" + strings.Join(out, "/")
}

func lastError(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// inside says whether a path is one of the working directories or below one.
func (e *Env) inside(path string) bool {
	for _, root := range e.Workspace.Roots {
		if root = e.common(root); root == "" {
			continue
		}
		if e.Platform == "windows" {
			path, root = foldName(path), foldName(root)
		}
		if _, ok := cutDir(path, strings.TrimSuffix(root, "/")); ok {
			return true
		}
	}
	return false
}
