//go:build unix

package file

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestSpecialFiles(t *testing.T) {
	dir := tempDir(t)
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("fifo", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // names of sockets must be short
	sock, err := net.Listen("unix", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer sock.Close()
	for path, want := range map[string]string{
		fifo: "named pipe", filepath.Join(dir, "link"): "has become a link",
		filepath.Join(dir, "s"): "socket", "/dev/null": "device", "/dev/zero": "device",
	} {
		if _, err := Load(path, MaxSize); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// A directory without write permission takes no temporary file, but its files can be written.
func TestDirectoryReadOnly(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("SKIPPED: root may write everywhere; TestInPlace covers the writing")
	}
	dir := tempDir(t)
	path := filepath.Join(dir, "f")
	put(t, path, "old", 0o644)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(dir, 0o755) }()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, []byte("new"), info, nil); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(path); string(data) != "new" {
		t.Errorf("%q", data)
	}
}

func TestSetuidKept(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	put(t, path, "old", 0o755|os.ModeSetuid)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, []byte("new"), info, nil); err != nil {
		t.Fatal(err)
	}
	if now, _ := os.Stat(path); now.Mode() != info.Mode() {
		t.Errorf("mode %v, was %v", now.Mode(), info.Mode())
	}
}

func TestUmask(t *testing.T) {
	path := filepath.Join(tempDir(t), "f")
	old := syscall.Umask(0o077)
	err := Replace(path, []byte("x"), nil, nil)
	syscall.Umask(old)
	if info, serr := os.Stat(path); err != nil || serr != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v %v", err, serr, info)
	}
}
