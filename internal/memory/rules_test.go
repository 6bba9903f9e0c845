package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/memory"
	"lathe/internal/testkit"
)

func TestMatching(t *testing.T) {
	root := testkit.Tree(t, map[string]string{
		"home/.claude/rules/u.md":           "---\npaths: \"**/*.go\"\n---\nuser go",
		"repo/.claude/rules/always.md":      "always",
		"repo/.claude/rules/ts.md":          "---\npaths:\n  - src/**/*.{ts,tsx}\n---\nts @ext.md",
		"repo/.claude/rules/ext.md":         "---\npaths: none\n---\nEXT",
		"repo/.claude/rules/deep/top.md":    "---\npaths: *.md\n---\ntop markdown",
		"repo/.claude/rules/bad.md":         "---\npaths: ['[', 'src/b.go']\n---\nbad bracket",
		"repo/src/.claude/rules/nested.md":  "---\npaths: b.go\n---\nnested",
		"repo/src/.claude/rules/nested2.md": "---\npaths: src/b.go\n---\nnot: patterns are relative to its own directory",
	})
	at := func(names ...string) []string {
		l := loader(root, "repo")
		var paths []string
		for _, n := range names {
			paths = append(paths, filepath.Join(root, "repo", n))
		}
		return texts(root, l.Matching(paths...))
	}
	for name, c := range map[string]struct{ touched, want []string }{
		"a depth below src": {[]string{"src/x/a.tsx"}, []string{"repo/.claude/rules/ts.md (project): ts @ext.md\n[imported from ext.md]\n---\npaths: none\n---\nEXT\n[end of ext.md]"}},
		"only the top":      {[]string{"README.md", "src/README.md"}, []string{"repo/.claude/rules/deep/top.md (project): top markdown"}},
		"not the top":       {[]string{"src/README.md"}, nil},
		"several": {[]string{"src/b.go"}, []string{
			"home/.claude/rules/u.md (user): user go", "repo/.claude/rules/bad.md (project): bad bracket", "repo/src/.claude/rules/nested.md (project): nested",
		}},
		"outside": {[]string{"../home/x.go"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, at(c.touched...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Braces of one rule expand within a budget; over it the pattern counts as written.
func TestBraceBudget(t *testing.T) {
	many := strings.Repeat("{a,b}", 11)
	root := testkit.Tree(t, map[string]string{
		"repo/.claude/rules/few.md":  "---\npaths: '{x,y{1,2}}/{a,b}.go'\n---\nfew",
		"repo/.claude/rules/many.md": "---\npaths: ['" + many + "', c.go]\n---\nmany",
	})
	l := loader(root, "repo")
	for name, want := range map[string]string{
		"y2/b.go": "few", "x/a.go": "few", "y/a.go": "", strings.Repeat("a", 11): "", "c.go": "many", many: "many",
	} {
		got := ""
		for _, f := range l.Matching(filepath.Join(root, "repo", name)) {
			got += f.Text
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestLinkedRules(t *testing.T) {
	root := testkit.Tree(t, map[string]string{
		"shared/a.md": "---\npaths: \"**/*.go\"\n---\nshared", "repo/.claude/rules/x": "", "repo/real/a.go": "",
	})
	link := func(from, to string) {
		if err := os.Symlink(filepath.Join(root, from), filepath.Join(root, to)); err != nil {
			t.Skipf("SKIPPED: %v", err)
		}
	}
	link("shared", "repo/.claude/rules/shared")
	link("repo/.claude/rules", "shared/again") // a cycle
	link("repo", "alias")
	got := loader(root, "repo").Matching(filepath.Join(root, "alias/real/a.go"))
	if diff := cmp.Diff([]string{"repo/.claude/rules/shared/a.md (project): shared"}, texts(root, got)); diff != "" {
		t.Error(diff)
	}
}

func TestExcludesAndExtraDirectories(t *testing.T) {
	root := testkit.Tree(t, map[string]string{
		"repo/CLAUDE.md": "keep", "repo/AGENTS.md": "out", "repo/sub/CLAUDE.md": "out too", "repo/.claude/rules/r.md": "---\npaths: a\n---\nout",
		"more/CLAUDE.md": "extra", "more/.claude/rules/x.md": "extra rule", "more/.claude/rules/y.md": "---\npaths: z\n---\nextra for z",
	})
	l := memory.NewLoader(memory.Places{
		Work: filepath.Join(root, "repo"), Project: true, Extra: []string{filepath.Join(root, "more")},
		Exclude: []string{"**/AGENTS.md", filepath.Join(root, "repo/sub/**"), "**/rules/r.md"},
	})
	want := []string{"more/CLAUDE.md (project): extra", "more/.claude/rules/x.md (project): extra rule", "repo/CLAUDE.md (project): keep"}
	if diff := cmp.Diff(want, texts(root, l.AtStart())); diff != "" {
		t.Error(diff)
	}
	touched := []string{filepath.Join(root, "repo/sub/x"), filepath.Join(root, "repo/a"), filepath.Join(root, "more/z")}
	got := append(l.Below(touched...), l.Matching(touched...)...)
	if diff := cmp.Diff([]string{"more/.claude/rules/y.md (project): extra for z"}, texts(root, got)); diff != "" {
		t.Error(diff)
	}
}

func TestManyTouchedFilesGiveEachFileOnce(t *testing.T) {
	root := testkit.Tree(t, map[string]string{"repo/sub/CLAUDE.md": "sub", "repo/.claude/rules/r.md": "---\npaths: sub/*\n---\nrule"})
	var touched []string
	for i := range 50 {
		touched = append(touched, filepath.Join(root, "repo/sub", fmt.Sprint(i)))
	}
	l := loader(root, "repo")
	got := texts(root, append(l.Below(touched...), l.Matching(touched...)...))
	if diff := cmp.Diff([]string{"repo/sub/CLAUDE.md (project): sub", "repo/.claude/rules/r.md (project): rule"}, got); diff != "" {
		t.Error(diff)
	}
}
