package memory_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/memory"
	"lathe/internal/testkit"
)

func loader(root, work string) *memory.Loader {
	return memory.NewLoader(memory.Places{
		Home: filepath.Join(root, "home"), Config: filepath.Join(root, "home/.claude"),
		Work: filepath.Join(root, work), User: true, Project: true, Local: true,
	})
}

func texts(root string, files []memory.File) []string {
	var out []string
	for _, f := range files {
		rel, _ := filepath.Rel(root, f.Path)
		out = append(out, filepath.ToSlash(rel)+" ("+f.Scope+"): "+f.Text)
	}
	return out
}

func TestOrder(t *testing.T) {
	root := testkit.Tree(t, map[string]string{
		"home/.claude/CLAUDE.md":           "user",
		"home/.claude/rules/a.md":          "user rule",
		"home/.claude/rules/scoped.md":     "---\npaths: src/**\n---\nonly there",
		"repo/CLAUDE.md":                   "outer",
		"repo/AGENTS.md":                   "outer agents",
		"repo/sub/AGENTS.md":               "agents",
		"repo/sub/.claude/CLAUDE.md":       "inner",
		"repo/sub/CLAUDE.local.md":         "local",
		"repo/sub/deep/CLAUDE.md":          "deep",
		"repo/sub/deep/er/AGENTS.md":       "deeper",
		"repo/sub/.claude/rules/x/rule.md": "---\ntitle: x\n---\nproject rule",
	})
	l := loader(root, "repo/sub")
	want := []string{
		"home/.claude/CLAUDE.md (user): user", "home/.claude/rules/a.md (user): user rule",
		"repo/CLAUDE.md (project): outer", "repo/AGENTS.md (project): outer agents",
		"repo/sub/.claude/CLAUDE.md (project): inner", "repo/sub/AGENTS.md (project): agents",
		"repo/sub/.claude/rules/x/rule.md (project): project rule", "repo/sub/CLAUDE.local.md (local): local",
	}
	if diff := cmp.Diff(want, texts(root, l.AtStart())); diff != "" {
		t.Error(diff)
	}
	want = []string{"repo/sub/deep/CLAUDE.md (project): deep", "repo/sub/deep/er/AGENTS.md (project): deeper"}
	if diff := cmp.Diff(want, texts(root, l.Below(filepath.Join(root, "repo/sub/deep/er/x.go")))); diff != "" {
		t.Error(diff)
	}
	if start := l.Below(filepath.Join(root, "repo/sub/y.go")); start != nil {
		t.Errorf("given at the start and again: %v", texts(root, start))
	}
}

func TestImports(t *testing.T) {
	root := testkit.Tree(t, map[string]string{
		"repo/CLAUDE.md":     "start\nsee @docs/a.md, and `@docs/code.md`\n```\n@docs/fence.md\n```\nmail a@docs/b.md @docs/a.md",
		"repo/docs/a.md":     "A @b.md",
		"repo/docs/b.md":     "B @a.md",
		"repo/docs/code.md":  "NO",
		"repo/docs/fence.md": "NO",
	})
	got := loader(root, "repo").AtStart()
	want := "start\nsee @docs/a.md, and `@docs/code.md`\n[imported from docs/a.md]\nA @b.md\n[imported from b.md]\nB @a.md\n[end of b.md]\n[end of docs/a.md]\n```\n@docs/fence.md\n```\nmail a@docs/b.md @docs/a.md"
	if len(got) != 1 || got[0].Text != want {
		t.Errorf("got %v\nwant %s", texts(root, got), want)
	}
}

func TestImportsOutsideTheProjectAreLeftOut(t *testing.T) {
	root := testkit.Tree(t, map[string]string{
		"home/.claude/CLAUDE.md": "mine @~/notes.md",
		"home/notes.md":          "notes",
		"secret.md":              "secret",
		"repo/CLAUDE.md":         "x @../secret.md @~/notes.md @link.md",
	})
	if err := os.Symlink(filepath.Join(root, "secret.md"), filepath.Join(root, "repo/link.md")); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	l := loader(root, "repo")
	all := strings.Join(texts(root, l.AtStart()), "\n")
	if strings.Contains(all, "secret\n") || strings.Contains(all, "[imported from ../secret.md") || strings.Contains(all, "[imported from link.md") {
		t.Errorf("an import led outside the project:\n%s", all)
	}
	if !strings.Contains(all, "[imported from ~/notes.md]\nnotes") {
		t.Errorf("the user's own import is missing:\n%s", all)
	}
	if len(l.Notices) < 2 {
		t.Errorf("notices: %v", l.Notices)
	}
}

func TestCopiesAndLinksComeOnce(t *testing.T) {
	root := testkit.Tree(t, map[string]string{"repo/AGENTS.md": "same", "repo/sub/CLAUDE.md": "same", "repo/sub/x": ""})
	if err := os.Symlink("AGENTS.md", filepath.Join(root, "repo/CLAUDE.md")); err != nil {
		t.Skipf("SKIPPED: %v", err)
	}
	if got := loader(root, "repo/sub").AtStart(); len(got) != 1 {
		t.Errorf("got %v", texts(root, got))
	}
}

func TestCommentsBomAndSpecialFiles(t *testing.T) {
	root := testkit.Tree(t, map[string]string{
		"repo/CLAUDE.md": "\ufeffa\n<!-- note -->\nb\n<!--\nlong\n-->\nc\n```\n<!-- kept -->\n```",
	})
	if err := os.MkdirAll(filepath.Join(root, "repo/AGENTS.md"), 0o755); err != nil { // a directory of that name
		t.Fatal(err)
	}
	got := loader(root, "repo").AtStart()
	if len(got) != 1 || got[0].Text != "a\nb\nc\n```\n<!-- kept -->\n```" {
		t.Errorf("got %q", texts(root, got))
	}
}

// A project that is not trusted cannot have the user's files sent by linking to them; inside the repository links
// are followed.
func TestLinksOutOfTheProject(t *testing.T) {
	root := testkit.Tree(t, map[string]string{"secret": "my secret", "repo/shared.md": "shared", "repo/sub/x": "", "repo/sub/.claude/rules/own.md": "own rule"})
	for link, target := range map[string]string{"repo/sub/CLAUDE.md": "secret", "repo/sub/AGENTS.md": "repo/shared.md", "repo/sub/.claude/rules/out.md": "secret"} {
		if err := os.Symlink(filepath.Join(root, target), filepath.Join(root, link)); err != nil {
			t.Skipf("SKIPPED: %v", err)
		}
	}
	for _, trusted := range []bool{false, true} {
		l := loader(root, "repo/sub")
		l.Root, l.Trusted = filepath.Join(root, "repo"), trusted
		all := strings.Join(texts(root, l.AtStart()), "\n")
		if strings.Contains(all, "my secret") != trusted {
			t.Errorf("trusted %v: %s", trusted, all)
		}
		if !strings.Contains(all, "shared") || !strings.Contains(all, "own rule") {
			t.Errorf("a link inside the repository was not followed: %s", all)
		}
		if (len(l.Notices) > 0) == trusted {
			t.Errorf("notices %v", l.Notices)
		}
	}
}
