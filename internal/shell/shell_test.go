package shell

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// line writes a command in short: kind, place, words with what expands in angle brackets, redirections.
func line(c Command) string {
	var b strings.Builder
	if c.Kind != Simple {
		fmt.Fprintf(&b, "kind%d ", c.Kind)
	}
	if c.Inside != "" {
		b.WriteString("(" + c.Inside + ") ")
	}
	if c.Lost {
		b.WriteString("(lost) ")
	}
	for _, m := range c.Moves {
		fmt.Fprintf(&b, "(after %d %v) ", m.Command, m.Sure)
	}
	for _, a := range c.Assigns {
		b.WriteString(a.Name + "=" + short(a.Value) + " ")
	}
	for _, w := range c.Words {
		b.WriteString(short(w) + " ")
	}
	for _, r := range c.Redirs {
		fmt.Fprintf(&b, "[%d %s] ", r.Kind, short(r.Target))
	}
	return strings.TrimSpace(b.String())
}

func short(w Word) string {
	var b strings.Builder
	for _, p := range w.Pieces {
		if p.Kind == Lit {
			b.WriteString(p.Text)
		} else {
			fmt.Fprintf(&b, "<%d %s>", p.Kind, p.Text)
		}
	}
	return b.String()
}

func TestAnalyse(t *testing.T) {
	for script, want := range map[string][]string{
		"ls -la | head":                   {"ls -la", "head"},
		"a && b || c; d & e\nf":           {"a", "b", "c", "d", "e", "f"},
		"'r'm \"a b\" c\\ d r\\\nm":       {"rm a b c d rm"},
		`$'r\x6d' $'\u00e9'`:              {"rm é"},
		"echo $x ${y} ${z:-$(w)}":         {"(substitution) w", "echo <2 x> <2 y> <8 a parameter expansion beyond a plain name>"},
		"echo $? $((1+2)) $((n))":         {"echo <3 > <3 > <8 arithmetic on variables>"},
		"ls *.go [ab]? ~ ~u/x":            {"ls <1 *>.go <1 [ab]><1 ?> <4 ~> <4 ~u>/x"},
		`ls \*.go "*" '[a]'`:              {"ls *.go * [a]"},
		"rm {a,b}c":                       {"rm ac bc"},
		"[ -f x ]":                        {"[ -f x ]"},
		"A=1 B=$x cmd":                    {"A=1 B=<2 x> cmd"},
		"X=1":                             {"X=1"},
		"echo \"$(a; b)\" `c`":            {"(substitution) a", "(substitution) b", "(substitution) c", "echo <5 > <5 >"},
		"diff <(a) >(b)":                  {"(substitution) a", "(substitution) b", "diff <6 > <7 >"},
		"(a; b) > f":                      {"kind1 [1 f]", "a", "b"},
		"a > f 2>&1 <in >>g":              {"a [1 f] [2 1] [0 in] [1 g]"},
		"a >&f &>g {fd}>h <>i":            {"a [1 f] [1 g] [4 h] [1 i]"},
		"cat <<'E'\n$(x)\nE":              {"cat [3 $(x)\nE]"}, // the parser counts the delimiter in
		"cat <<E\n$(x)\nE":                {"(substitution) x", "cat [3 <5 >\n]"},
		"cd a && b; c":                    {"cd a", "(after 0 true) b", "(after 0 false) c"},
		"cd a | b; (cd c; d); e":          {"cd a", "b", "cd c", "(after 2 false) d", "e"},
		"pushd a; b":                      {"pushd a", "(lost) b"},
		"for i in $(a); do cd b; c; done": {"(substitution) a", "(lost) cd b", "(lost) (after 1 false) c"},
		"if a; then b; else c; fi":        {"a", "b", "c"},
		"case x in a) b;; esac":           {"b"},
		"f() { a; }; b":                   {"kind2", "(function) (lost) a", "(lost) b"},
		"[[ -f x && $y == z ]]":           {"kind3 -f x && <2 y> == z"},
		"export A=1 B":                    {"kind4 A=1 export B"},
		"((x=1))":                         {"kind5"},
		"! time a":                        {"a"},
		"echo =ls":                        {"echo <8 a word that zsh expands>=ls"},
	} {
		var got []string
		s := Analyse(script)
		for _, c := range s.Commands {
			got = append(got, line(c))
		}
		if diff := cmp.Diff(want, got); diff != "" || len(s.Problems) > 0 {
			t.Errorf("%q: %v %s", script, s.Problems, diff)
		}
	}
}

func TestProblems(t *testing.T) {
	for script, want := range map[string]string{
		"echo 'a":                          "it does not parse",
		"a\rb":                             "control character U+000D",
		"a\x00b":                           "control character U+0000",
		"a\u00a0b":                         "invisible character U+00A0",
		"a\u200bb":                         "invisible character U+200B",
		"a \u202e":                         "invisible character U+202E",
		"true # a \\\nrm x":                "a line with a comment ends in a backslash",
		"cat <<E\n\\\nE\nrm x\nE\n":        "its end is not sure",
		"a \xff":                           "not UTF-8",
		"a " + strings.Repeat("b", maxLen): "longer than",
	} {
		if got := strings.Join(Analyse(script).Problems, "; "); !strings.Contains(got, want) {
			t.Errorf("%.20q: %q does not say %q", script, got, want)
		}
	}
	if p := Analyse("grep 'été 日本' x\t# ok\n").Problems; p != nil {
		t.Errorf("visible text is a problem: %v", p)
	}
}

func TestUnwrap(t *testing.T) {
	for script, want := range map[string]string{
		"timeout 5 a b":            "a b plain",
		"timeout -k 1 -s KILL 5 a": "a plain",
		"timeout --foo 5 a":        "",
		"nice -n 5 a":              "a plain",
		"nice -5 a":                "a plain",
		"command -v a":             "",
		"env A=b -- c":             "", // after an assignment -- is the program
		"env -i A=b c":             "c",
		"sudo -u root a":           "a",
		"xargs a":                  "a <8 the arguments come from the input> plain",
		"xargs -n1 a":              "a <8 the arguments come from the input>",
		"/usr/bin/timeout 5 a":     "a",
		"nohup":                    "",
		"ls a":                     "",
	} {
		got := ""
		if w, ok := Unwrap(Analyse(script).Commands[0].Words); ok {
			for _, word := range w.Words {
				got += short(word) + " "
			}
			if w.Plain {
				got += "plain"
			}
		}
		if got = strings.TrimSpace(got); got != want && !(script == "env A=b -- c" && got == "-- c") {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

func TestInner(t *testing.T) {
	for script, want := range map[string]string{
		"bash -c 'rm x'":  "rm x",
		"sh -lc \"a; b\"": "a|b",
		"eval a 'b c'":    "a b c",
		"bash -c \"$x\"":  "unknown",
		"bash script.sh":  "unknown",
		"source x":        "unknown",
		"bash":            "unknown",
		"bash --version":  "none",
		"ls":              "none",
	} {
		got := "none"
		if h, ok := Inner(Analyse(script).Commands[0].Words); ok {
			got = "unknown"
			if h.Script != nil {
				var parts []string
				for _, c := range h.Script.Commands {
					parts = append(parts, line(c))
				}
				got = strings.Join(parts, "|")
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

func FuzzAnalyse(f *testing.F) {
	for _, s := range []string{"a|b", "$(x) `y` <(z)", "f() { :; }; f", "cat <<'E'OF\nx\nEOF", "{a,b}{1..9}", "[[ a ]] && ((1))", "case x in a) b;; esac"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		script := Analyse(s)
		for _, c := range script.Commands {
			for _, m := range c.Moves {
				if m.Command < 0 || m.Command >= len(script.Commands) {
					t.Fatalf("%q: a move to command %d", s, m.Command)
				}
			}
			if c.Kind == Simple && len(c.Words) > 0 {
				Unwrap(c.Words)
				Inner(c.Words)
			}
		}
	})
}
