package skill_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe/internal/skill"
	"lathe/internal/testkit"
)

func TestFind(t *testing.T) {
	root := testkit.Tree(t, map[string]string{
		"home/.claude/skills/both/SKILL.md":     "---\ndescription: the user's\n---\nuser body",
		"home/.claude/skills/synced/SKILL.md":   "reserved",
		"repo/.claude/skills/both/SKILL.md":     "the project's",
		"repo/.claude/skills/deploy/SKILL.md":   "# Deploy\n\nHow to\ndeploy.\n\nMore.",
		"repo/.claude/skills/hidden/SKILL.md":   "---\ndescription: h\ndisable-model-invocation: yes\n---\nx",
		"repo/.claude/skills/off/SKILL.md":      "x",
		"repo/.claude/skills/bad name/SKILL.md": "x",
		"repo/.claude/skills/broken/SKILL.md":   "---\na: [\n---\nbody counts",
		"repo/sub/.claude/skills/near/SKILL.md": "---\ndescription: near\nwhen_to_use: when near\narguments: a b\n---\nx",
		"above/.claude/skills/no/SKILL.md":      "x",
	})
	p := skill.Places{
		Config: filepath.Join(root, "home/.claude"), Work: filepath.Join(root, "repo/sub"), Root: filepath.Join(root, "repo"), Project: true,
		Overrides: map[string]string{"off": "off"},
	}
	var got []string
	for _, s := range new(skill.Finder).Find(p) {
		line := s.Name + " (" + s.Scope + "): " + s.Description
		if s.UserOnly {
			line += " (user only)"
		}
		got = append(got, line)
	}
	want := []string{
		"both (user): the user's", "broken (project): body counts", "deploy (project): How to deploy.",
		"hidden (project): h (user only)", "near (project): near when near",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	p.Project = false
	if list := new(skill.Finder).Find(p); len(list) != 1 || list[0].Body != "user body" {
		t.Errorf("without the project: %+v", list)
	}
}

func TestListing(t *testing.T) {
	skills := []skill.Skill{
		{Name: "a", Description: "short"}, {Name: "b", Description: strings.Repeat("ä", 60)}, {Name: "c", Description: "x", UserOnly: true}, {Name: "d", Description: "not", NameOnly: true},
	}
	for name, c := range map[string]struct {
		budget, per int
		want        string
	}{
		"all":           {1000, 0, "- a: short\n- b: " + strings.Repeat("ä", 60) + "\n- d"},
		"cut":           {1000, 10, "- a: short\n- b: " + strings.Repeat("ä", 9) + "…\n- d"},
		"over":          {40, 0, "- a: short\n- b\n- d"},
		"hardly any":    {1, 0, "- a\n- b\n- d"},
		"just the size": {11 + 66 + 4, 0, "- a: short\n- b: " + strings.Repeat("ä", 60) + "\n- d"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, skill.Listing(skills, c.budget, c.per)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever the skills, every name is listed, and the budget is kept as long as names alone fit.
func TestListingKeepsTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var skills []skill.Skill
		names := 0
		for _, n := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,9}`), 0, 20, rapid.ID[string]).Draw(t, "names") {
			skills = append(skills, skill.Skill{Name: n, Description: rapid.StringMatching(`[a-z ä]{0,200}`).Draw(t, "about")})
			names += len(n) + 3
		}
		budget := rapid.IntRange(0, 3000).Draw(t, "budget")
		text := skill.Listing(skills, budget, 100)
		for _, s := range skills {
			if !strings.Contains(text, "- "+s.Name) {
				t.Fatalf("%s is not listed", s.Name)
			}
		}
		if n := utf8.RuneCountInString(text); n > max(budget, names) {
			t.Fatalf("%d characters, budget %d", n, budget)
		}
	})
}

func TestRender(t *testing.T) {
	v := skill.Vars{Session: "S", Effort: "high", Project: "/p"}
	for name, c := range map[string]struct{ body, args, want string }{
		"all arguments":     {"Do $ARGUMENTS now", "a b", "Do a b now"},
		"by number":         {"$0-$ARGUMENTS[1]-$7", `one "two three"`, "one-two three-$7"},
		"by name":           {"$from to $to", "x", "x to "},
		"not referred to":   {"Do it", "a b", "Do it\n\nARGUMENTS: a b"},
		"no arguments":      {"Do it: $ARGUMENTS", "", "Do it: "},
		"escaped":           {`costs \$1, \$5, \$ARGUMENTS`, "a b", `costs $1, $5, $ARGUMENTS` + "\n\nARGUMENTS: a b"},
		"one pass":          {"$ARGUMENTS", "$0 ${CLAUDE_SESSION_ID}", "$0 ${CLAUDE_SESSION_ID}"},
		"facts":             {"${CLAUDE_SESSION_ID} ${CLAUDE_SKILL_DIR} ${CLAUDE_EFFORT} ${CLAUDE_PROJECT_DIR} ${CLAUDE_OTHER} $HOME", "", "S /d high /p ${CLAUDE_OTHER} $HOME"},
		"commands stay put": {"!`rm x`", "", "!`rm x`"},
	} {
		t.Run(name, func(t *testing.T) {
			s := skill.Skill{Body: c.body, Dir: "/d", Arguments: []string{"from", "to"}}
			if diff := cmp.Diff(c.want, s.Render(c.args, v)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzRender(f *testing.F) {
	f.Add("$ARGUMENTS $0 $x", "a 'b c'")
	f.Fuzz(func(_ *testing.T, body, args string) {
		skill.Skill{Body: body, Arguments: []string{"x"}}.Render(args, skill.Vars{})
	})
}

// Files whose names a screen shows otherwise than they are, are no commands.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "commands"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fix", "überprüfen", "レビュー", "a\u009b2J", "a\u202eb", "a\u200bb", "a\u2028b"} {
		if err := os.WriteFile(filepath.Join(dir, "commands", name+".md"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, s := range new(skill.Finder).Find(skill.Places{State: dir}) {
		got = append(got, s.Name)
	}
	if want := []string{"fix", "überprüfen", "レビュー"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
