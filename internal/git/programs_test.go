package git_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/git"
)

func TestRuns(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: git is not installed")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	const core = "[core]\n\trepositoryformatversion = 0\n"
	for _, c := range []struct {
		name  string
		files map[string]string // below .git
		want  string
	}{
		{"nothing", nil, ""},
		{"harmless settings", map[string]string{"config": core + "[user]\n\tname = x\n[core]\n\tfsmonitor = false\n\thooksPath = .husky\n"}, ""},
		{"fsmonitor", map[string]string{"config": core + "[core]\n\tfsmonitor = ./x\n"}, "core.fsmonitor"},
		{"external diff", map[string]string{"config": core + "[diff]\n\texternal = ./x\n"}, "diff.external"},
		{"text conversion", map[string]string{"config": core + "[diff \"a.b\"]\n\ttextconv = ./x\n"}, "diff.a.b.textconv"},
		{"filter", map[string]string{"config": core + "[filter \"A=b\"]\n\tprocess = ./x\n"}, "filter.A=b.process"},
		{"lazy fetch", map[string]string{"config": core + "[remote \"origin\"]\n\tpromisor = true\n\turl = ext::./x\n"}, "promisor"},
		{"signatures by default", map[string]string{"config": core + "[format]\n\tpretty = %h %G? %s\n"}, "format.pretty"},
		{"signatures in a format with a name", map[string]string{"config": core + "[pretty]\n\tmine = %GS\n\tother = %s\n"}, "pretty.mine"},
		{"what checks signatures", map[string]string{"config": core + "[gpg \"ssh\"]\n\tprogram = ./x\n"}, "gpg.ssh.program"},
		{"included", map[string]string{"config": core + "[include]\n\tpath = more\n", "more": "[core]\n\tfsmonitor = ./x\n"}, "core.fsmonitor"},
		{"hook", map[string]string{"hooks/post-index-change": "#!/bin/sh\n"}, "post-index-change"},
		{"submodule", map[string]string{"modules/a/b/config": core + "[core]\n\tfsmonitor = ./x\n"}, "core.fsmonitor of a submodule"},
		{"hook of a submodule", map[string]string{"modules/a/hooks/post-index-change": "x"}, "of a submodule"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			if out, err := exec.Command("git", "init", "-q", root).CombinedOutput(); err != nil {
				t.Fatalf("git init: %v: %s", err, out)
			}
			for name, text := range c.files {
				path := filepath.Join(root, ".git", filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			got := git.Runs(t.Context(), root)
			if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
