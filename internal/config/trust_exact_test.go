package config

import (
	"testing"
	"time"
)

// Trust in a folder says nothing of the folders above, below and beside it, and is gone when it is removed.
func TestTrustIsOfOneFolder(t *testing.T) {
	list := NewTrust(t.TempDir())
	some := []Grant{{Key: "model", Text: `"m"`, File: "/a/b/.claude/settings.json"}}
	if err := list.Add("/a/b", some, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := list.AddRules("/a/rules", nil, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if e, known := list.Get("/a/b"); !known || e.Hash != GrantsHash(some, "/a/b") || e.Rules {
		t.Errorf("%+v, %v", e, known)
	}
	if e, known := list.Get("/a/rules"); !known || !e.Rules {
		t.Errorf("%+v, %v", e, known)
	}
	for _, dir := range []string{"/a", "/a/b/c", "/a/bb", "/a/B", "/"} {
		if _, known := list.Get(dir); known {
			t.Errorf("%s is trusted, too", dir)
		}
	}
	if err := list.Remove("/a/b"); err != nil {
		t.Fatal(err)
	}
	if _, known := list.Get("/a/b"); known {
		t.Error("it is still trusted")
	}
}
