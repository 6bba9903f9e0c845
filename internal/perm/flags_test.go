package perm

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"testing"
	"time"
)

// TestAllowedFlagsChangeNothing really runs every program of the read-only tables with every flag that is allowed,
// alone, with a value and behind operands, and checks that the folder is left as it was. Without LATHE_FULL=1 it runs
// a sample.
func TestAllowedFlagsChangeNothing(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("SKIPPED: runs some thousand programs, on Linux only")
	}
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: there is no bash here")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.txt", "b.txt", "sub/c.txt"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("b 2\na 1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, _ := Compile(nil, Options{Start: dir, Home: dir, ProjectRoot: dir})
	env := Env{Rules: set, Workspace: Workspace{Cwd: dir, Home: dir, Roots: []string{dir}}}
	before := snapshot(t, dir)
	ran, step := 0, 60
	if os.Getenv("LATHE_FULL") != "" {
		step = 1
	}
	for i, command := range flagCommands() {
		if i%step != 0 || Decide(bash(command), env).Verdict != Allow {
			continue
		}
		ran++
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		cmd := exec.CommandContext(ctx, shell, "-c", command)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=dumb"}
		cmd.WaitDelay = 100 * time.Millisecond
		_ = cmd.Run() // a flag may be wrong for the program; only what it leaves behind counts
		cancel()
		if after := snapshot(t, dir); after != before {
			t.Fatalf("%s changed the folder:\n%s\nwas\n%s", command, after, before)
		}
	}
	t.Logf("%d commands ran", ran)
}

func flagCommands() []string {
	all := programs()
	var names []string
	for name, p := range all {
		if _, err := exec.LookPath(name); err == nil && !p.edits && name != "tail" {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	var out []string
	for _, name := range names {
		flags := []string{""}
		for c := '!'; c <= '~'; c++ {
			if !strings.ContainsRune("'\"\\`$&|;<>(){}*?[]#~!", c) {
				flags = append(flags, "-"+string(c))
			}
		}
		for long := range all[name].table.long {
			flags = append(flags, "--"+long)
		}
		if name == "git" {
			flags = flags[:0]
			for sub, table := range gitRead() {
				for long := range table.long {
					flags = append(flags, sub+" --"+long, sub+" --"+long+"=marker")
				}
			}
		}
		for _, f := range flags {
			out = append(out, fmt.Sprintf("%s %s a.txt b.txt", name, f), fmt.Sprintf("%s %s marker a.txt", name, f),
				fmt.Sprintf("%s %smarker a.txt", name, f), fmt.Sprintf("%s a.txt %s", name, f))
		}
	}
	return out
}

func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v", path, info.Mode())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(data))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
