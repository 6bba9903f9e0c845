package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a rewind may put back does not follow from the list of checkpoints, but from where the session works and its rules.
func TestRefuseBack(t *testing.T) {
	r := testRun(t, Options{Denied: []string{"Edit(denied.txt),Write(./deep/**)"}})
	dir, err := filepath.EvalSymlinks(r.tools.workspace.Start())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(os.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	added := t.TempDir()
	for _, c := range []struct {
		path, link, why string
		soft            bool
	}{
		{path: "a.txt"},
		{path: "sub/new/b.txt"},
		{path: "/etc/passwd", why: "outside"},
		{path: filepath.Dir(dir), why: "outside"},
		{path: dir + "-beside/a", why: "outside"},
		{path: filepath.Join(added, "a"), why: "outside"},
		{path: "denied.txt", why: "denied by the rule"},
		{path: "deep/in/it", why: "denied by the rule"},
		{path: ".git/hooks/pre-commit", why: ".git", soft: true},
		{path: ".lathe/settings.json", why: ".lathe", soft: true},
		{path: "link", link: "a.txt"},
		{path: "sub/link", link: "../a.txt"},
		{path: "link", link: "../a.txt", why: "leads out"},
		{path: "link", link: "/etc", why: "leads out"},
		{path: "link", link: "out/x", why: "leads out"},
	} {
		path := c.path
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		why, soft := r.refuseBack(path, c.link)
		if (why == "") != (c.why == "") || !strings.Contains(why, c.why) || soft != c.soft {
			t.Errorf("%s -> %q: %q, soft %v", c.path, c.link, why, soft)
		}
	}
	r.tools.workspace.AddRoot(added)
	real, err := filepath.EvalSymlinks(added)
	if err != nil {
		t.Fatal(err)
	}
	if why, _ := r.refuseBack(filepath.Join(real, "a"), ""); why != "" {
		t.Errorf("in a directory that was added: %s", why)
	}
}
