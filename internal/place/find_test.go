package place

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSources(t *testing.T) {
	if got, err := sources([]string{"user", "project", "local"}); err != nil || len(got) != 3 {
		t.Errorf("%v, %v", got, err)
	}
	for _, odd := range []string{"", "managed", "User"} {
		if _, err := sources([]string{"user", odd}); err == nil {
			t.Errorf("%q is taken", odd)
		}
	}
}

func TestRealDir(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := RealDir(base, "."); err != nil || got != base {
		t.Errorf("%q, %v", got, err)
	}
	for _, odd := range []string{"file", "missing"} {
		if _, err := RealDir(base, odd); err == nil {
			t.Errorf("%s is a directory", odd)
		}
	}
}

// The environment of the options stands in front of the process's own.
func TestEnvironmentOfTheOptions(t *testing.T) {
	t.Setenv("LATHE_TEST_VALUE", "of the process")
	p, err := Find(Options{Dir: t.TempDir(), Env: map[string]string{"LATHE_HOME": t.TempDir(), "LATHE_TEST_VALUE": "given"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Sys.Getenv("LATHE_TEST_VALUE"); got != "given" {
		t.Errorf("%q", got)
	}
}
