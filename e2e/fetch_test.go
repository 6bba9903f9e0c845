package e2e

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fetchLimit bounds the wait for a registry.
const fetchLimit = 2 * time.Minute

// unreachable skips a test for which something outside could not be had, unless LATHE_E2E_ONLINE is set, which
// says that it must be there.
func unreachable(t testing.TB, what string, err error, output []byte) {
	t.Helper()
	if os.Getenv("LATHE_E2E_ONLINE") != "" {
		t.Fatalf("%s cannot be had: %v\n%s", what, err, output)
	}
	t.Skipf("SKIPPED: %s cannot be had (no network?): %v\n%s", what, err, output)
}

// tool runs a program of the machine and returns its standard output.
func machine(t testing.TB, dir string, args ...string) ([]byte, error) {
	t.Helper()
	path, err := exec.LookPath(args[0])
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir = dir
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	limit := time.AfterFunc(fetchLimit, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	if err := cmd.Wait(); err != nil {
		return append(out.Bytes(), stderr.Bytes()...), err
	}
	return out.Bytes(), nil
}

// goModule copies a Go module, given as path@version, to a directory.
func goModule(spec string) func(t testing.TB, dir string) {
	return func(t testing.TB, dir string) {
		t.Helper()
		out, err := machine(t, t.TempDir(), "go", "mod", "download", "-json", spec)
		if err != nil {
			unreachable(t, spec, err, out)
		}
		var mod struct{ Dir string }
		if err := json.Unmarshal(out, &mod); err != nil || mod.Dir == "" {
			t.Fatalf("go mod download %s: %v\n%s", spec, err, out)
		}
		if err := os.CopyFS(dir, os.DirFS(mod.Dir)); err != nil {
			t.Fatal(err)
		}
	}
}

// npmPackage unpacks an npm package, given as name@version, into a directory.
func npmPackage(spec string) func(t testing.TB, dir string) {
	return func(t testing.TB, dir string) {
		t.Helper()
		needs(t, "node")
		tmp := t.TempDir()
		out, err := machine(t, tmp, "npm", "pack", "--silent", "--pack-destination", tmp, spec)
		if err != nil {
			unreachable(t, spec, err, out)
		}
		list, err := filepath.Glob(filepath.Join(tmp, "*.tgz"))
		if err != nil || len(list) != 1 {
			t.Fatalf("npm pack %s: %v %v\n%s", spec, list, err, out)
		}
		unpack(t, list[0], dir)
	}
}

// npmInstall installs packages into a directory of its own, without their optional and peer packages, and returns
// it.
func npmInstall(t testing.TB, specs ...string) string {
	t.Helper()
	needs(t, "node")
	dir := t.TempDir()
	args := append([]string{"npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional", "--legacy-peer-deps", "--loglevel=error"}, specs...)
	if out, err := machine(t, dir, args...); err != nil {
		unreachable(t, strings.Join(specs, " "), err, out)
	}
	return dir
}

// needs skips a test for which a program is missing.
func needs(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		unreachable(t, program, err, nil)
	}
}

// unpack unpacks a package archive: everything below its first folder.
func unpack(t testing.TB, archive, dir string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for in := tar.NewReader(zip); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		_, name, ok := strings.Cut(h.Name, "/")
		if !ok || h.Typeflag != tar.TypeReg || !filepath.IsLocal(name) {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, os.FileMode(h.Mode).Perm()|0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// commitAll makes a git repository of the working directory, with all of it in one commit.
func (r *rig) commitAll() {
	r.t.Helper()
	for _, args := range [][]string{
		{"git", "init", "-q", "-b", "main"},
		{"git", "add", "-A", "-f"},
		{"git", "-c", "user.name=Tester", "-c", "user.email=tester@example.org", "-c", "commit.gpgsign=false", "commit", "-q", "-m", "as published"},
	} {
		if out, err := machine(r.t, r.dir, args...); err != nil {
			r.t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
}

// changes lists what git finds changed in the working directory, as "M path" and "?? path", sorted by path.
func (r *rig) changes() []string {
	r.t.Helper()
	out, err := machine(r.t, r.dir, "git", "status", "--porcelain", "--untracked-files=all")
	if err != nil {
		r.t.Fatalf("git status: %v\n%s", err, out)
	}
	list := []string{}
	for _, l := range strings.Split(strings.TrimRight(string(out), "\n"), "\n") {
		if l != "" {
			list = append(list, strings.TrimSpace(l))
		}
	}
	return list
}
