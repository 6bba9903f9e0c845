package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

const patience = time.Minute

// repository makes a repository with one commit of the file f.
func repository(t *testing.T) (dir string, do func(args ...string) string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git on this machine")
	}
	dir = t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(dir, "none"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	do = func(args ...string) string {
		t.Helper()
		out, err := Run(t.Context(), dir, append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return out
	}
	do("init", "-q", "-b", "main", ".")
	write(t, filepath.Join(dir, "f"), "one\n")
	do("add", "f")
	do("commit", "-q", "-m", "first")
	return dir, do
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTake(t *testing.T) {
	dir, _ := repository(t)
	write(t, filepath.Join(dir, "new"), "x")
	s := Take(context.Background(), dir, patience)
	if s == nil || s.Branch != "main" || s.Default != "main" || s.Status != "?? new" || !strings.HasSuffix(s.Log, " first") {
		t.Errorf("snapshot %+v", s)
	}
	if s := Take(context.Background(), t.TempDir(), patience); s != nil {
		t.Errorf("outside a repository: %+v", s)
	}
}

// The snapshot is taken before anybody has trusted the repository, so nothing that its configuration names may run.
func TestTakeRunsNothingOfTheRepository(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the commands of this test are for a shell")
	}
	trap := filepath.Join(t.TempDir(), "trap")
	touch := "touch '" + trap + "'"
	dirty := func(t *testing.T, dir string) {
		write(t, filepath.Join(dir, ".gitattributes"), "* filter=a=b\n")
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(dir, "f"), old, old); err != nil {
			t.Fatal(err)
		}
	}
	for name, set := range map[string]func(t *testing.T, dir string, do func(...string) string){
		"filter": func(t *testing.T, dir string, do func(...string) string) {
			do("config", "filter.a=b.clean", touch+"; cat")
			do("config", "filter.a=b.required", "true")
			dirty(t, dir)
		},
		"filter process": func(t *testing.T, dir string, do func(...string) string) {
			do("config", "filter.a=b.process", touch)
			dirty(t, dir)
		},
		"included filter": func(t *testing.T, dir string, do func(...string) string) {
			write(t, filepath.Join(dir, ".git", "more"), "[filter \"a=b\"]\n\tclean = \""+touch+"; cat\"\n")
			do("config", "include.path", "more")
			dirty(t, dir)
		},
		"monitor": func(t *testing.T, dir string, do func(...string) string) { do("config", "core.fsmonitor", touch) },
		"missing object": func(t *testing.T, dir string, do func(...string) string) {
			tree := do("rev-parse", "HEAD^{tree}")
			do("config", "core.repositoryformatversion", "1")
			do("config", "extensions.partialClone", "origin")
			do("config", "remote.origin.promisor", "true")
			do("config", "remote.origin.url", "ext::sh -c touch% "+trap)
			do("config", "protocol.ext.allow", "always")
			if err := os.Remove(filepath.Join(dir, ".git", "objects", tree[:2], tree[2:])); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, do := repository(t)
			set(t, dir, do)
			s := Take(context.Background(), dir, patience)
			if _, err := os.Stat(trap); err == nil {
				_ = os.Remove(trap)
				t.Error("a command of the repository ran")
			}
			if name == "missing object" {
				return
			}
			if s == nil || strings.Contains(s.Status, " M f") {
				t.Errorf("snapshot %+v", s)
			}
		})
	}
}
