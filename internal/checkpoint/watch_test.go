package checkpoint_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/checkpoint"
)

// shell runs a command in the working directory as the Bash tool does.
func (w *world) shell(script string) {
	w.t.Helper()
	watch := w.store.Watch(context.Background(), "Bash", []string{w.dir})
	w.run(script)
	if err := watch.End(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) run(script string) {
	w.t.Helper()
	cmd := exec.Command("bash", "-c", script)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Logf("%s: %v: %s", script, err, out) // commands may fail; what they did counts
	}
}

// stamp is what the clock of the file system says now.
func (w *world) stamp() time.Time {
	w.t.Helper()
	probe := filepath.Join(w.opt.Dir, "..", "probe")
	if err := os.WriteFile(probe, nil, 0o600); err != nil {
		w.t.Fatal(err)
	}
	info, err := os.Stat(probe)
	if err != nil {
		w.t.Fatal(err)
	}
	return info.ModTime()
}

// settle lets the clock of the file system move on, so that git takes what it knows of files for certain.
func (w *world) settle() {
	w.t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for first := w.stamp(); w.stamp().Equal(first); {
		if time.Now().After(deadline) {
			w.t.Fatal("the clock stands still")
		}
	}
}

// age waits until all that is there is older than a command that begins from now on, by more than clocks differ.
func (w *world) age() {
	w.t.Helper()
	for last := w.stamp(); !w.opt.Now().Add(-checkpoint.Slack).After(last); time.Sleep(time.Millisecond) {
	}
}

func TestCommands(t *testing.T) {
	needGit(t)
	w := newWorld(t)
	w.outside("tracked", "committed\n")
	w.outside("dirty", "committed\n")
	w.outside("lost/deep/x", "x\n")
	w.outside("run.sh", "#!/bin/sh\n")
	w.outside(".gitignore", "build/\n*.o\n")
	w.outside("build/out", "1")
	w.run("git init -q && chmod 755 run.sh && git add -A && git commit -qm one")
	w.settle()
	w.run("git update-index -q --refresh")
	w.outside("dirty", "work\n")
	w.outside("untracked", "\x00\xff\r\n")
	if err := os.Symlink("tracked", w.path("link")); err != nil {
		t.Fatal(err)
	}
	before := w.tree()
	w.age()
	w.begin("p1")
	w.shell(`echo 1 > tracked; git checkout -q -- dirty; rm untracked; rm -r lost; chmod 644 run.sh; rm link; ln -s /etc/passwd link
		mkdir -p new/dir empty; echo n > new/dir/f; printf 2 > build/out; mv .gitignore gitignore`)
	plan, err := w.store.Plan("p1", false)
	if err != nil || len(plan.Conflicts)+len(plan.Skipped) > 0 || len(plan.Lost) != 1 { // build/out, which is not ignored any more
		t.Fatalf("%v %+v", err, plan)
	}
	w.rewind("p1", false)
	after := w.tree()
	if !strings.HasSuffix(after["build/out"], "2") {
		t.Error("what git ignores is not put back")
	}
	after["build/out"] = before["build/out"]
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

func needGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git here")
	}
}

// TestWasIgnoredBefore: files that a command only makes visible to git are not taken for new ones.
func TestWasIgnoredBefore(t *testing.T) {
	needGit(t)
	w := newWorld(t)
	w.outside(".gitignore", "deps/\n")
	w.outside("deps/a/b", "precious")
	w.run("git init -q && git add -A && git commit -qm one")
	w.age()
	w.begin("p1")
	w.shell("rm .gitignore")
	w.rewind("p1", true)
	if got := w.tree(); !strings.HasSuffix(got["deps/a/b"], "precious") || got[".gitignore"] == "" {
		t.Errorf("%v", got)
	}
}

// TestKilledDuringCommand: what a command did is known to the next process, though this one never saw its end.
func TestKilledDuringCommand(t *testing.T) {
	for _, repo := range []bool{false, true} {
		t.Run(fmt.Sprint("git=", repo), func(t *testing.T) {
			w := newWorld(t)
			w.outside("a", "1\n")
			w.outside("b", "1\n")
			if repo {
				needGit(t)
				w.run("git init -q && git add -A && git commit -qm one")
				w.outside("b", "2\n")
			}
			before := w.tree()
			w.begin("p1")
			watch := w.store.Watch(context.Background(), "Bash", []string{w.dir})
			w.run("echo x > a; rm b; echo c > c; ln -s a d")
			checkpoint.Abandon(watch) // as the end of the process does
			w.store = checkpoint.Open(w.opt)
			w.begin("p2")
			w.rewind("p1", false)
			if diff := cmp.Diff(before, w.tree()); diff != "" {
				t.Error(diff)
			}
			left, _ := filepath.Glob(filepath.Join(w.opt.Dir, "p*-*"))
			if len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestLargeFilesAreTold(t *testing.T) {
	w := newWorld(t)
	w.outside("big", strings.Repeat("x", 9<<20))
	w.outside("small", "1")
	w.begin("p1")
	w.shell("echo y >> big; echo 2 > small")
	p := w.rewind("p1", false)
	if len(p.Lost) != 1 || filepath.Base(p.Lost[0].Path) != "big" || !strings.Contains(p.Lost[0].Why, "larger") || len(p.Files()) != 1 {
		t.Errorf("%+v", p)
	}
}

// TestRandomCommands: as TestRandomHistories, with commands between the edits, in a repository and outside.
func TestRandomCommands(t *testing.T) {
	steps := []string{
		"echo %d > a", "echo %d >> d/a", "rm -f a", "rm -rf d", "mkdir -p d/e && echo %d > d/e/f", "mv d dd", "mv dd d", "mv a d/a", "ln -sfn a l", "rm -f l",
		"chmod 600 a", "chmod 755 a", "mkdir -p empty/x", "rm -rf empty", "rm -rf d && echo %d > d", "printf 'x\\r\\n%d' > c", "cp -p c a", "cp a c", "truncate -s 0 c", "rm -rf l && mkdir l",
	}
	repo := []string{"git add -A && git commit -qm %d", "git checkout -q -- .", "git stash -q -u", "git stash pop -q", "git clean -fdq", "git reset -q --hard HEAD~1", "git add -A"}
	for seed := range uint64(16) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			w := newWorld(t)
			choice := steps
			if seed%2 == 0 {
				needGit(t)
				w.run("git init -q && git commit -qm zero --allow-empty")
				choice = slices.Concat(steps, repo)
			}
			trees := map[string]map[string]string{}
			for i := range 10 {
				id := fmt.Sprint("p", i)
				w.begin(id)
				trees[id] = w.tree()
				for range rng.IntN(4) {
					switch rng.IntN(4) {
					case 0:
						if info, err := os.Lstat(w.path("c")); err == nil && !info.Mode().IsRegular() {
							continue
						}
						w.edit("c", fmt.Sprintln("edit", rng.IntN(3)))
					default:
						script := choice[rng.IntN(len(choice))]
						if strings.Contains(script, "%d") {
							script = fmt.Sprintf(script, rng.IntN(3))
						}
						w.shell(script)
					}
				}
				if rng.IntN(3) > 0 {
					continue
				}
				to := slices.Sorted(maps.Keys(trees))[rng.IntN(len(trees))]
				if p := w.rewind(to, false); len(p.Conflicts)+len(p.Skipped)+len(p.Lost) > 0 {
					t.Fatalf("rewind to %s: %+v", to, slices.Concat(p.Conflicts, p.Skipped, p.Lost))
				}
				if diff := cmp.Diff(trees[to], w.tree()); diff != "" {
					t.Fatalf("rewind to %s: %s", to, diff)
				}
			}
		})
	}
}
