package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadIndex(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git here")
	}
	for _, version := range []string{"2", "3", "4"} {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			run := func(args ...string) string {
				t.Helper()
				cmd := exec.Command("git", args...)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("git %v: %v %s", args, err, out)
				}
				return strings.TrimSpace(string(out))
			}
			run("init", "-q")
			for i := range 300 {
				name := filepath.Join(dir, fmt.Sprintf("some/deep/folder-%d", i/50), fmt.Sprintf("file with ä %d", i))
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(strings.Repeat("x", i)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			run("add", "-A")
			if version == "3" {
				run("add", "-N", ".")
				if err := os.WriteFile(filepath.Join(dir, "later"), nil, 0o644); err != nil {
					t.Fatal(err)
				}
				run("add", "-N", "later") // an entry with more flags
			}
			run("update-index", "--index-version", version)
			x, err := ReadIndex(IndexFile(dir))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range x.Entries {
				got = append(got, fmt.Sprintf("%06o %s 0\t%s", e.Mode, e.OID, e.Path))
			}
			if want := run("-c", "core.quotePath=false", "ls-files", "-s"); strings.Join(got, "\n") != want {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got[:3], "\n"), want[:200])
			}
			e := x.Entries[7]
			data, err := Blobs(context.Background(), dir, []string{strings.Repeat("1", 40), e.OID}, 1<<20)
			if err != nil || data[0] != nil || len(data[1]) != int(e.Size) {
				t.Errorf("%v: %d bytes, want %d", err, len(data[1]), e.Size)
			}
		})
	}
}

func FuzzParseIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00" + strings.Repeat("\x00", 20)))
	f.Add([]byte("DIRC\x00\x00\x00\x04\x00\x00\x00\x01" + strings.Repeat("\x01", 100)))
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = parseIndex(b) // whatever it is, it is read or refused
	})
}
