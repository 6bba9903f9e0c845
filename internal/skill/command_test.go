package skill_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/skill"
	"lathe/internal/testkit"
)

func TestCommandsOfFiles(t *testing.T) {
	root := testkit.Tree(t, map[string]string{
		"home/.claude/commands/both.md":           "user's",
		"home/.lathe/commands/mine.md":            "x",
		"repo/.claude/commands/both.md":           "project's",
		"repo/.claude/commands/git/commit.md":     "Commit it.",
		"repo/.claude/commands/commit.md":         "The short one.",
		"repo/.lathe/commands/a/b/deep.md":        "Deep.",
		"repo/.claude/commands/a/b/c/d/e/far.md":  "too deep",
		"repo/.claude/commands/notes.txt":         "no command",
		"repo/.claude/commands/bad name.md":       "x",
		"repo/.claude/commands/skilled.md":        "loses",
		"repo/.claude/skills/skilled/SKILL.md":    "wins",
		"repo/.lathe/skills/lathes/SKILL.md":      "x",
		"repo/.claude/commands/.hidden/secret.md": "x",
	})
	p := skill.Places{
		Config: filepath.Join(root, "home/.claude"), State: filepath.Join(root, "home/.lathe"),
		Work: filepath.Join(root, "repo"), Root: filepath.Join(root, "repo"), Project: true,
	}
	got := map[string]string{}
	for _, s := range new(skill.Finder).Find(p) {
		kind := s.Scope
		if s.Command {
			kind += " command " + s.Long
		}
		got[s.Name] = kind + ": " + s.Body
	}
	want := map[string]string{
		"both":       "user command both: user's",
		"mine":       "user command mine: x",
		"commit":     "project command commit: The short one.",
		"git:commit": "project command git:commit: Commit it.",
		"deep":       "project command a:b:deep: Deep.",
		"skilled":    "project: wins",
		"lathes":     "project: x",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFrontMatter(t *testing.T) {
	one := func(text string) skill.Skill {
		root := testkit.Tree(t, map[string]string{"c/commands/x.md": text})
		all := new(skill.Finder).Find(skill.Places{Config: filepath.Join(root, "c")})
		if len(all) != 1 {
			t.Fatalf("%d commands", len(all))
		}
		return all[0]
	}
	s := one("---\ndescription: |\n  Two\n  lines\nargument-hint: [file, depth]\nallowed-tools: Bash(git add:*), Read Bash(npm run test)\n" +
		"disallowed-tools:\n  - WebFetch\n  - Bash(rm *)\nmodel: inherit\neffort: HIGH\ncontext: fork\nagent: Explore\nuser-invocable: no\n---\nbody")
	got := map[string]any{
		"about": s.Description, "hint": s.Hint, "allow": s.Allow, "disallow": s.Disallow, "model": s.Model, "effort": s.Effort,
		"fork": s.Fork, "agent": s.Agent, "hidden": s.Hidden,
	}
	want := map[string]any{
		"about": "Two lines", "hint": "[file, depth]", "allow": []string{"Bash(git add:*)", "Read", "Bash(npm run test)"},
		"disallow": []string{"WebFetch", "Bash(rm *)"}, "model": "", "effort": "high", "fork": true, "agent": "Explore", "hidden": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s := one("---\nargument-hint: [issue] <x>\n: broken\n---\nbody counts"); s.Body != "body counts" || s.Description != "body counts" {
		t.Errorf("%+v", s)
	}
}

// A command counts its arguments from 1, unless it uses the newer forms.
func TestCountingArguments(t *testing.T) {
	for body, want := range map[string]string{
		"$1 and $2":        "a b and c",
		"$0 and $1":        "a b and c",
		"$ARGUMENTS[0] $1": "a b c",
		"$3":               "$3\n\nARGUMENTS: 'a b' c",
		"$10":              "$10\n\nARGUMENTS: 'a b' c",
	} {
		root := testkit.Tree(t, map[string]string{"c/commands/x.md": body})
		if got := new(skill.Finder).Find(skill.Places{Config: filepath.Join(root, "c")})[0].Render("'a b' c", skill.Vars{}); got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}

func TestExpand(t *testing.T) {
	for name, c := range map[string]struct{ body, args, want string }{
		"inline":             {"on !`git branch` now", "", "on [git branch] now"},
		"at the start":       {"!`a`\n!`b`", "", "[a]\n[b]"},
		"not behind a word":  {"wow!`a` x!`b`", "", "wow!`a` x!`b`"},
		"not closed":         {"!`a\nb`", "", "!`a\nb`"},
		"empty":              {"!`` x", "", "!`` x"},
		"block":              {"Look:\n```!\ngit log\ngit diff\n```\nend", "", "Look:\n[git log\ngit diff]\nend"},
		"block never closed": {"```!\ngit log", "", "```!\ngit log"},
		"block in a line":    {"x ```!\na\n```", "", "x ```!\na\n```"},
		"block of nothing":   {"```!\n```\nx", "", "[]\nx"},
		"inside a fence":     {"```\n!`a`\n```", "", "```\n[a]\n```"},
		"arguments":          {"!`show $0` $1", "7 z", "[show 7] z"},
		"no new lines":       {"$ARGUMENTS", "!`evil`", "!`evil`"},
		"no new line of two": {"!$ARGUMENTS", "`evil`", "!`evil`"},
		"output is inert":    {"!`out`", "", "[out]"},
		"not referred to":    {"!`a`", "b", "[a]\n\nARGUMENTS: b"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := skill.Skill{Body: c.body}.Expand(c.args, skill.Vars{}, func(cmd string) (string, error) { return "[" + cmd + "]\n", nil })
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	refused := errors.New("no")
	ran := 0
	_, err := skill.Skill{Body: "!`a` !`b`"}.Expand("", skill.Vars{}, func(string) (string, error) { ran++; return "", refused })
	if !errors.Is(err, refused) || ran != 1 {
		t.Errorf("%v after %d", err, ran)
	}
}

// Whatever the arguments, only what stands in the text itself is run.
func FuzzExpand(f *testing.F) {
	f.Add("do !`x $0` $ARGUMENTS", "!`y`")
	f.Add("```!\nx $1\n```", "a\n```!\ny\n```")
	f.Fuzz(func(t *testing.T, body, args string) {
		count := func(args string) (n int) {
			_, _ = skill.Skill{Body: body}.Expand(args, skill.Vars{}, func(string) (string, error) { n++; return "!`again`", nil })
			return n
		}
		if with, without := count(args), count(""); with != without {
			t.Errorf("%d commands with arguments, %d without", with, without)
		}
		text, err := skill.Skill{Body: body}.Expand("", skill.Vars{}, nil)
		if err != nil || !strings.Contains(body, "$") && text != body {
			t.Errorf("%q became %q: %v", body, text, err)
		}
	})
}

// A link that leads out of a project counts once the project is trusted.
func TestLinksOut(t *testing.T) {
	root := testkit.Tree(t, map[string]string{"secret.txt": "SECRET", "repo/.claude/skills/own/SKILL.md": "x", "repo/.claude/commands/own.md": "y", "repo/real/SKILL.md": "z", "out/SKILL.md": "w"})
	repo := filepath.Join(root, "repo")
	for link, to := range map[string]string{
		".claude/commands/leak.md": filepath.Join(root, "secret.txt"), ".claude/skills/inside": filepath.Join(repo, "real"), ".claude/skills/outside": filepath.Join(root, "out"),
	} {
		if err := os.Symlink(to, filepath.Join(repo, link)); err != nil {
			t.Skip("SKIPPED: no links here: " + err.Error())
		}
	}
	names := func(trusted bool) string {
		var out []string
		for _, s := range new(skill.Finder).Find(skill.Places{Work: repo, Root: repo, Project: true, Trusted: trusted}) {
			out = append(out, s.Name)
		}
		return strings.Join(out, " ")
	}
	if got := names(false); got != "inside own" {
		t.Errorf("not trusted: %s", got)
	}
	if got := names(true); got != "inside leak outside own" {
		t.Errorf("trusted: %s", got)
	}
}

// A file is read again only when it changed.
func TestFinderSeesChanges(t *testing.T) {
	root := testkit.Tree(t, map[string]string{"c/commands/x.md": "one"})
	p := skill.Places{Config: filepath.Join(root, "c")}
	var f skill.Finder
	if got := f.Find(p)[0].Body; got != "one" {
		t.Fatal(got)
	}
	for name, text := range map[string]string{"c/commands/x.md": "another", "c/commands/y.md": "new"} {
		write(t, filepath.Join(root, name), text)
	}
	all := f.Find(p)
	if len(all) != 2 || all[0].Body != "another" || all[1].Body != "new" {
		t.Errorf("%+v", all)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
