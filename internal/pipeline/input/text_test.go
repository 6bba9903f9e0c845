package input

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"lathe/internal/turn"
)

func TestSplitCommand(t *testing.T) {
	type out struct {
		Name, Args string
		OK         bool
	}
	for in, want := range map[string]out{
		"/help":                {"help", "", true},
		"  /model  opus ":      {"model", "opus", true},
		"/compact keep\nall":   {"compact", "keep\nall", true},
		"/etc/hosts is odd":    {},
		"/usr":                 {"usr", "", true},
		"/ help":               {},
		"// comment":           {},
		"/mcp__s__p x":         {"mcp__s__p", "x", true},
		"see /help":            {},
		"/1st":                 {},
		"/plugin:command a b":  {"plugin:command", "a b", true},
		"/tmp/x.go#L3 explain": {},
		"":                     {},
	} {
		name, args, ok := SplitCommand(in)
		if diff := cmp.Diff(want, out{name, args, ok}); diff != "" {
			t.Errorf("SplitCommand(%q): %s", in, diff)
		}
	}
}

func TestMentions(t *testing.T) {
	for in, want := range map[string][]string{
		"look at @a.go and @b/c.go.":       {"a.go", "b/c.go"},
		"@a.go":                            {"a.go"},
		"(@a.go#L3-9), @\"with space.md\"": {"a.go#L3-9", "with space.md"},
		"mail me@example.org":              nil,
		"in `@code` not":                   nil,
		"```\n@no\n``` @yes":               {"yes"},
		"twice @x @x":                      {"x"},
		"@":                                nil,
	} {
		if diff := cmp.Diff(want, Mentions(in)); diff != "" {
			t.Errorf("Mentions(%q): %s", in, diff)
		}
	}
}

func TestParseRange(t *testing.T) {
	for in, want := range map[string]turn.Mention{
		"a.go":       {Ref: "a.go", Path: "a.go"},
		"a.go#L3":    {Ref: "a.go#L3", Path: "a.go", From: 3, To: 3},
		"a.go#L3-9":  {Ref: "a.go#L3-9", Path: "a.go", From: 3, To: 9},
		"a.go#L9-L3": {Ref: "a.go#L9-L3", Path: "a.go", From: 9, To: 9},
		"a#b":        {Ref: "a#b", Path: "a#b"},
	} {
		if diff := cmp.Diff(want, parseRange(in)); diff != "" {
			t.Errorf("parseRange(%q): %s", in, diff)
		}
	}
}

func TestHasKeyword(t *testing.T) {
	for in, want := range map[string]bool{
		"please ultrathink about it":    true,
		"ULTRATHINK":                    true,
		"ultrathinking":                 false,
		"the word `ultrathink` in code": false,
		"say \"ultrathink\" aloud":      false,
		"```\nultrathink\n```":          false,
		"think hard":                    false,
		"don't stop, ultrathink now":    true,
	} {
		if got := hasKeyword(in, "ultrathink"); got != want {
			t.Errorf("hasKeyword(%q) = %v", in, got)
		}
	}
}

func TestUnknownNamesTheNearest(t *testing.T) {
	cmds := []Command{{Name: "help"}, {Name: "cost"}, {Name: "context"}, {Name: "compact"}}
	for in, want := range map[string]string{
		"hlep":  "Unknown command: /hlep. Did you mean /help?",
		"co":    "Unknown command: /co. Did you mean /cost, /context, /compact?",
		"xyzzy": "Unknown command: /xyzzy (see /help)",
	} {
		if got := unknown(in, cmds).Error(); got != want {
			t.Errorf("unknown(%q) = %q, want %q", in, got, want)
		}
	}
}
