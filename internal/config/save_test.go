package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/config"
	"lathe/internal/perm"
)

func TestAddRules(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deep", "settings.local.json")
	add := func(rules ...string) error { return config.AddRules(file, perm.Allow, rules) }
	if err := add("Bash(go test *)", "Edit"); err != nil {
		t.Fatal(err)
	}
	if err := add("Edit", "Bash(make \"x\")"); err != nil {
		t.Fatal(err)
	}
	l, err := config.ReadLayer(config.Local, file, "")
	if err != nil {
		t.Fatal(err)
	}
	s := &config.Settings{Layers: []*config.Layer{l}}
	var got []string
	for _, r := range s.Permissions().Rules {
		got = append(got, r.Text)
	}
	if want := "Bash(go test *)|Edit|Bash(make \"x\")"; strings.Join(got, "|") != want {
		t.Errorf("rules %q, want %q", got, want)
	}
	if info, _ := os.Stat(file); info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v", info.Mode())
	}
}

// What stands in the file stays: comments, other keys, its mode, and that it is a link.
func TestAddRulesKeepsTheRest(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "settings.json")
	write(t, real, "{\n\t// why\n\t\"model\": \"x\", // mine\n\t\"permissions\": {\n\t\t\"deny\": [\"Read(.env)\"], // never\n\t},\n\t\"odd\": 1,\n}\n")
	if err := os.Chmod(real, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	if err := config.AddRules(link, perm.Allow, []string{"Edit"}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(real)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"// why", "// mine", "// never", `"odd": 1`, `"Read(.env)"`, `"Edit"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is gone:\n%s", want, b)
		}
	}
	if info, _ := os.Lstat(link); info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if info, _ := os.Stat(real); info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestAddRulesLeavesABrokenFileAlone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	for _, text := range []string{"{\"a\":", "[]", "{\"permissions\": {\"allow\": \"x\"}}", "{\"permissions\": 7}"} {
		write(t, file, text)
		if err := config.AddRules(file, perm.Allow, []string{"Edit"}); err == nil {
			t.Errorf("%s: no error", text)
		}
		if b, _ := os.ReadFile(file); string(b) != text {
			t.Errorf("%s became %s", text, b)
		}
	}
}

// Rules are taken out one by one, and everything else stays.
func TestRemoveRules(t *testing.T) {
	file := filepath.Join(t.TempDir(), "settings.json")
	if err := config.RemoveRules(file, perm.Allow, func(string) bool { return true }); err != nil {
		t.Errorf("a file that is not there: %v", err)
	}
	write(t, file, "{\n\t// why\n\t\"permissions\": {\"allow\": [\"Edit\", \"Bash(a)\", \"Edit\"], \"deny\": [\"Edit\"]},\n}\n")
	if err := config.RemoveRules(file, perm.Allow, func(rule string) bool { return rule == "Edit" }); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := config.ReadLayer(config.User, file, "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range (&config.Settings{Layers: []*config.Layer{l}}).Permissions().Rules {
		got = append(got, r.Effect.String()+" "+r.Text)
	}
	if want := "deny Edit|allow Bash(a)"; strings.Join(got, "|") != want && strings.Join(got, "|") != "allow Bash(a)|deny Edit" || !strings.Contains(string(b), "// why") {
		t.Errorf("%q is left of\n%s", got, b)
	}
}
