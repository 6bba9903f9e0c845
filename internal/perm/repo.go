package perm

import (
	"strings"
)

// elsewhere says that git may read another repository than that of the session's start: its configuration names
// programs. The current directory alone does not tell, for it may have been changed by an earlier call, and a tree can
// bring along a directory that git takes for a repository.
func (s *shellCall) elsewhere(at []string) bool {
	e := s.env
	if len(at) != 1 {
		return true
	}
	here, now := e.common(e.Workspace.Cwd), at[0]
	if now != here {
		if now = e.locate(now, "/").real; now != here {
			return true
		}
	}
	repo, ok := e.repository(here)
	if !ok {
		return true
	}
	if start := e.common(e.start()); start != here {
		own, ok := e.repository(start)
		return !ok || own != repo
	}
	return false
}

// gitRuns is what git would run by itself; one decision looks once.
func (s *shellCall) gitRuns() string {
	if s.out.gitRuns == nil && s.env.GitRuns != nil {
		runs := s.env.GitRuns()
		s.out.gitRuns = &runs
	}
	if s.out.gitRuns == nil {
		return ""
	}
	return *s.out.gitRuns
}

// planted is a directory of the search path that lies in the working directories, or is relative, and has a program of
// the name; "" when there is none.
func (s *shellCall) planted(name string, at []string) string {
	e := s.env
	if e.Path == "" {
		return ""
	}
	list := ":"
	if e.Platform == "windows" {
		list = ";"
	}
	for dir := range strings.SplitSeq(e.Path, list) {
		bases := []string{""}
		if d := e.common(dir); strings.HasPrefix(d, "/") {
			if dir = d; !e.inside(d) {
				continue
			}
		} else if bases = at; at == nil {
			bases = []string{e.common(e.Workspace.Cwd)}
		}
		for _, base := range bases {
			if full := cleanPath(join(base, dir)); e.has(full, name) || e.Platform == "windows" && e.has(full, name+".exe") {
				return full
			}
		}
	}
	return ""
}

// repository is the directory whose repository git would use in dir; "" when there is none. ok is false when it is,
// or may be, a directory that is itself laid out like a repository.
func (e *Env) repository(dir string) (root string, ok bool) {
	for ; dir != ""; dir = parentDir(dir) {
		if e.has(dir, "HEAD") && (e.has(dir, "objects") || e.has(dir, "commondir") || e.has(dir, "refs")) {
			return "", false
		}
		if e.has(dir, ".git") {
			return dir, true
		}
	}
	return "", true
}

func (e *Env) has(dir, name string) bool {
	_, err := e.fs().Lstat(e.native(dir + "/" + name))
	return err == nil
}
