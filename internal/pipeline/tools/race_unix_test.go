//go:build unix

package tools_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lathe/internal/perm"
	"lathe/internal/pipeline/tools"
	"lathe/internal/tool"
	"lathe/internal/tool/edit"
	"lathe/internal/tool/read"
	"lathe/internal/tool/write"
)

// raceTime is how long links are swapped: LATHE_RACE_SECONDS, else two seconds.
func raceTime(t *testing.T) time.Duration {
	if s, err := strconv.Atoi(os.Getenv("LATHE_RACE_SECONDS")); err == nil {
		return time.Duration(s) * time.Second
	}
	if testing.Short() {
		return 200 * time.Millisecond
	}
	return 2 * time.Second
}

// While a program swaps files and directories of the workspace for links out of it, nothing that Edit and Write do
// ever lands outside, and Read never shows what is outside, since nobody allowed that.
func TestLinksSwappedInALoop(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work, out := filepath.Join(base, "work"), filepath.Join(base, "out")
	const theirs, ours = "SECRET of others\n", "one\ntwo\n"
	for _, d := range []string{work + "/real", work + "/e", out} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(out+"/f", theirs)
	for _, f := range []string{"/real/f", "/e/f", "/g"} {
		put(work+f, ours)
	}
	stop := make(chan struct{})
	var swaps sync.WaitGroup
	for _, f := range []func(i int){
		func(i int) { relink(work+"/d", [2]string{"real", "../out"}[i%2]) },         // a link to a directory
		func(i int) { relink(work+"/l", [2]string{"real/f", out + "/f"}[i%2]) },     // a link to a file
		func(i int) { relink(work+"/n", [2]string{"real/new", out + "/new"}[i%2]) }, // a link to nothing yet
		func(i int) { swap(work+"/e", work+"/e.kept", out) },                        // a directory and a link
		func(i int) { swap(work+"/g", work+"/g.kept", out+"/f") },                   // a file and a link
	} {
		swaps.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
					f(i)
				}
			}
		})
	}
	env := perm.Env{Mode: perm.ModeAcceptEdits, Platform: runtime.GOOS, Workspace: perm.Workspace{Cwd: work, Roots: []string{work}}}
	ws, files := tool.NewWorkspace(work, ""), tool.NewReadCache()
	done, refused := 0, 0
	begin, least := time.Now(), raceTime(t)
	for i := 0; time.Since(begin) < least || (done == 0 || refused == 0) && time.Since(begin) < time.Minute; i++ {
		var calls []string
		for _, f := range []string{"d/f", "l", "e/f", "g"} {
			calls = append(calls,
				fmt.Sprintf(`Read {"file_path":%q}`, f),
				fmt.Sprintf(`Edit {"file_path":%q,"old_string":"o","new_string":"oo","replace_all":true}`, f),
				fmt.Sprintf(`Write {"file_path":%q,"content":"one\ntwo %d\n"}`, f, i))
		}
		calls = append(calls, fmt.Sprintf(`Write {"file_path":"d/sub%d/f","content":"x"}`, i%7), `Write {"file_path":"n","content":"x"}`)
		w := newWorld(calls...)
		st := stage(tools.Deps{Decide: func(r perm.Request) perm.Decision { return perm.Decide(r, env) }},
			read.New(read.Deps{Workspace: ws, Files: files}), edit.New(edit.Deps{Workspace: ws, Files: files}), write.New(write.Deps{Workspace: ws, Files: files}))
		if err := st.Run(t.Context(), w.t); err != nil {
			t.Fatal(err)
		}
		for _, r := range w.results() {
			switch {
			case strings.Contains(r, "SECRET"):
				t.Fatalf("a file outside was shown: %s", r)
			case r[0] == '!':
				refused++
			default:
				done++
			}
		}
		if i%50 == 0 {
			untouched(t, out, theirs)
		}
	}
	close(stop)
	swaps.Wait()
	untouched(t, out, theirs)
	t.Logf("%d calls done, %d refused", done, refused)
	if done == 0 || refused == 0 {
		t.Errorf("%d calls were done and %d refused: the race was none", done, refused)
	}
}

func untouched(t *testing.T, dir, want string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("outside there is %v (%v)", entries, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(data) != want {
		t.Fatalf("the file outside holds %q (%v)", data, err)
	}
}

// relink puts a link in the place of another one in one step.
func relink(path, target string) {
	_ = os.Symlink(target, path+".next")
	_ = os.Rename(path+".next", path)
}

// swap puts a link in the place of a file or directory, and that back.
func swap(path, kept, target string) {
	if os.Rename(path, kept) != nil { // a write made something new of the name while it was free
		_ = os.RemoveAll(path)
		_ = os.Rename(kept, path)
		return
	}
	_ = os.Symlink(target, path)
	runtime.Gosched()
	_ = os.Remove(path)
	_ = os.Rename(kept, path)
}
