package perm

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"lathe/internal/shell"
)

// nothing is an empty file system: every path is new.
type nothing struct{}

func (nothing) Lstat(string) (fs.FileInfo, error)     { return nil, fs.ErrNotExist }
func (nothing) Readlink(string) (string, error)       { return "", fs.ErrNotExist }
func (nothing) ReadDir(string) ([]fs.DirEntry, error) { return nil, fs.ErrNotExist }

func testEnv(t testing.TB, mode Mode, allow, ask, deny []string) Env {
	t.Helper()
	var rules []Rule
	for effect, list := range map[Verdict][]string{Allow: allow, Ask: ask, Deny: deny} {
		for i, text := range list {
			rules = append(rules, Rule{Text: text, Effect: effect, Source: Source{Kind: "rule", Scope: "user", File: "settings.json", Line: i + 1}})
		}
	}
	set, warnings := Compile(rules, Options{Start: "/home/u/p", Home: "/home/u", ProjectRoot: "/home/u/p", Trusted: true})
	for _, w := range warnings {
		t.Log(w)
	}
	return Env{
		Rules: set, Mode: mode, FS: nothing{},
		Workspace: Workspace{Cwd: "/home/u/p", Home: "/home/u", Roots: []string{"/home/u/p"}},
	}
}

func bash(command string) Request {
	input, _ := json.Marshal(map[string]string{"command": command})
	return Request{Tool: "Bash", Input: input}
}

func TestProof(t *testing.T) {
	env := testEnv(t, ModeDefault, []string{"Bash(npm test:*)"}, nil, nil)
	got := Decide(bash("NODE_ENV=test npm test 2>&1 | tail -3 > /dev/null"), env)
	rule := Source{Kind: "rule", Rule: "Bash(npm test:*)", Scope: "user", File: "settings.json", Line: 1}
	want := Decision{
		Verdict: Allow, Source: rule,
		Reason: "every part is covered: the part “NODE_ENV=test npm test 2>&1” is allowed by the rule Bash(npm test:*)",
		Parts: []Part{
			{"NODE_ENV=test npm test 2>&1", Allow, "the part “NODE_ENV=test npm test 2>&1” is allowed by the rule Bash(npm test:*)", rule},
			{">/dev/null", Allow, "no file is opened", Source{Kind: "readonly"}},
			{"tail -3 > /dev/null", Allow, "tail with these words only reads", Source{Kind: "readonly"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestQuestionSuggestsOneRulePerCommand(t *testing.T) {
	env := testEnv(t, ModeDefault, nil, nil, nil)
	for command, want := range map[string][]string{
		"npm test --watch":              {"Bash(npm test *)"},
		"npm run build && go vet ./...": {"Bash(npm run build *)", "Bash(go vet *)"},
		"rm -rf dist":                   {"Bash(rm -rf dist)"},
		"python3 -c 'print(1*2)'":       {`Bash(python3 -c 'print(1'\*'2)')`},
		"timeout 5 cargo test":          {"Bash(cargo test *)"},
		"npm test > out.txt":            nil, // the file is a question of its own
		"npm test $x":                   nil,
		"echo 'a":                       nil,
		"a; b; c; d; e; f":              nil, // more than fit
		"cd ../other && make all":       {"Bash(make all *)", "Read(//home/u/other/**)"},
	} {
		var got []string
		for _, r := range Decide(bash(command), env).Suggest {
			got = append(got, r.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", command, diff)
		}
	}
}

func TestWarnings(t *testing.T) {
	var rules []Rule
	for i, text := range []string{
		"Bash(npm run build", "Bash(ls) x", "Bash()", "", "B*", "mcp__*", "mcp__a__b*", "Write(/docs/**)", "Bash(command:x)",
		"Bash(a && b)", "WebFetch(example.com)", "Read(a//b)", "Bash(ls\x00)", "Bash(npm test:*)", "TodoWrite(x)",
	} {
		rules = append(rules, Rule{Text: text, Effect: Allow, Source: Source{File: "s.json", Line: i + 1}})
	}
	rules = append(rules, Rule{Text: "Bsah(rm:*)", Effect: Deny, Source: Source{File: "s.json", Line: 99}})
	_, warnings := Compile(rules, Options{Start: "/p", ProjectRoot: "/p", Home: "/h", Trusted: true})
	var got []string
	for _, w := range warnings {
		got = append(got, w.String())
	}
	want := []string{
		`s.json:1: allow rule "Bash(npm run build": its parenthesis is not closed`,
		`s.json:2: allow rule "Bash(ls) x": there is text after the closing parenthesis`,
		`s.json:3: allow rule "Bash()": its parentheses are empty; write the tool's name alone to mean every call`,
		`s.json:4: allow rule "": it has no tool name`,
		`s.json:5: allow rule "B*": a tool name with a star allows nothing, except after a full mcp__server__`,
		`s.json:6: allow rule "mcp__*": a tool name with a star allows nothing, except after a full mcp__server__`,
		`s.json:8: allow rule "Write(/docs/**)": paths are matched by Edit rules; write Edit(/docs/**)`,
		`s.json:9: allow rule "Bash(command:x)": a parameter rule cannot allow`,
		`s.json:10: allow rule "Bash(a && b)": it spans several commands, and each part of a command is matched alone`,
		`s.json:11: allow rule "WebFetch(example.com)": WebFetch takes domain:host in parentheses`,
		`s.json:12: allow rule "Read(a//b)": it has an empty or dotted segment`,
		`s.json:13: allow rule "Bash(ls\x00)": it contains a control character`,
		`s.json:15: allow rule "TodoWrite(x)": TodoWrite takes no content in parentheses`,
		`s.json:99: deny rule "Bsah(rm:*)": there is no tool named "Bsah"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// fragments are put together to commands by the properties below.
var fragments = []string{
	"ls -la", "cat a.txt", "rm x", "npm test", "git status", "git push origin main", "echo hi", "echo $x", "find . -name '*.go'",
	"find . -exec rm {} \\;", "cd src", "cd ..", "touch a", "cp a b", "timeout 5 rm x", "FOO=1 npm test", "env rm x", "xargs rm",
	"bash -c 'rm x'", "(rm x)", "$(ls)", "cat < a", "ls > out", "cat .env", "sort -o a b", "X=1", "f() { ls; }", "rm -rf ~", "sed -n 1p a",
	"echo \"$(cat a)\"", "grep -r x .", "ls *.go", "true", "eval ls", "[ -f a ]", "[[ -f a ]]", "printf x", "sudo npm test", "ls 'a", "git -C . log",
}

func command(rt *rapid.T) string {
	n := rapid.IntRange(1, 4).Draw(rt, "parts")
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(rapid.SampledFrom([]string{" && ", "; ", " | ", " || ", "\n", " & "}).Draw(rt, "operator"))
		}
		b.WriteString(rapid.SampledFrom(fragments).Draw(rt, "fragment"))
	}
	return b.String()
}

var ruleTexts = []string{
	"Bash", "Bash(rm:*)", "Bash(npm test:*)", "Bash(git:*)", "Bash(git push *)", "Bash(*)", "Bash(ls)", "Bash(cat *)", "Bash(* main)", "Read(.env)",
	"Edit(/src/**)", "Edit", "Read", "Bash(find *)", "Bash(echo:*)", "Edit(out)", "Bash(bash *)", "Bash(touch a)",
}

var modes = []Mode{ModeDefault, ModeAcceptEdits, ModePlan, ModeAuto, ModeDontAsk, ModeBypass}

// TestMoreDenyNeverLoosens: adding a deny or ask rule never turns a decision towards allow.
func TestMoreDenyNeverLoosens(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cmd := command(rt)
		allow := rapid.SliceOfN(rapid.SampledFrom(ruleTexts), 0, 3).Draw(rt, "allow")
		deny := rapid.SliceOfN(rapid.SampledFrom(ruleTexts), 0, 2).Draw(rt, "deny")
		more := rapid.SampledFrom(ruleTexts).Draw(rt, "more")
		mode := rapid.SampledFrom(modes).Draw(rt, "mode")
		before := Decide(bash(cmd), testEnv(t, mode, allow, nil, deny)).Verdict
		after := Decide(bash(cmd), testEnv(t, mode, allow, nil, append(deny[:len(deny):len(deny)], more))).Verdict
		asked := Decide(bash(cmd), testEnv(t, mode, allow, []string{more}, deny)).Verdict
		if after < before || asked < before {
			rt.Fatalf("%q in %s: %v, with deny %v, with ask %v", cmd, mode, before, after, asked)
		}
	})
}

// TestAddedPartNeedsCover: a command with an added part is allowed only if the part is.
func TestAddedPartNeedsCover(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cmd, part := command(rt), rapid.SampledFrom(fragments).Draw(rt, "part")
		if strings.Count(cmd+part, "ls 'a") > 0 {
			return // an open quote takes the part in, and does not parse unless the part closes it
		}
		env := testEnv(t, rapid.SampledFrom(modes).Draw(rt, "mode"),
			rapid.SliceOfN(rapid.SampledFrom(ruleTexts), 0, 3).Draw(rt, "allow"), nil,
			rapid.SliceOfN(rapid.SampledFrom(ruleTexts), 0, 2).Draw(rt, "deny"))
		for _, operator := range []string{"; ", "\n", " || "} {
			whole := Decide(bash(cmd+operator+part), env).Verdict
			alone := Decide(bash(part), env).Verdict
			if whole == Allow && alone != Allow {
				rt.Fatalf("%q is allowed, %q alone is %v", cmd+operator+part, part, alone)
			}
		}
	})
}

// TestQuotingChangesNothing: a word that is quoted otherwise is the same word.
func TestQuotingChangesNothing(t *testing.T) {
	plain := func(s string) bool {
		return s != "" && strings.IndexFunc(s, special) < 0 && !strings.ContainsAny(s, "=%^,:@")
	}
	rapid.Check(t, func(rt *rapid.T) {
		original := rapid.SampledFrom(fragments).Draw(rt, "command")
		script := shell.Analyse(original)
		if len(script.Commands) != 1 || len(script.Problems) > 0 || script.Commands[0].Kind != shell.Simple {
			return
		}
		c := script.Commands[0]
		if len(c.Assigns)+len(c.Redirs) > 0 || len(c.Words) == 0 {
			return
		}
		var words []string
		for _, w := range c.Words {
			text, ok := w.Literal()
			if !ok {
				return
			}
			styles := []string{"'" + strings.ReplaceAll(text, "'", `'\''`) + "'", ansiQuote(text)}
			if plain(text) {
				styles = append(styles, text, text[:1]+"''"+text[1:], `"`+text+`"`, `\`+text)
			}
			words = append(words, rapid.SampledFrom(styles).Draw(rt, "style"))
		}
		env := testEnv(t, rapid.SampledFrom(modes).Draw(rt, "mode"), []string{"Bash(npm test:*)", "Bash(touch a)"}, nil, []string{"Bash(git push:*)", "Read(.env)"})
		requoted := strings.Join(words, " ")
		if before, after := Decide(bash(original), env), Decide(bash(requoted), env); before.Verdict != after.Verdict {
			rt.Fatalf("%q is %v (%s), %q is %v (%s)", original, before.Verdict, before.Reason, requoted, after.Verdict, after.Reason)
		}
	})
}

func ansiQuote(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		fmt.Fprintf(&b, `\x%02x`, s[i])
	}
	b.WriteString("'")
	return b.String()
}

// TestRuleTextReadsBack: the rule that is suggested for words matches these words and no others.
func TestRuleTextReadsBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z*'"\\ $.-]{1,6}`), 1, 4).Draw(rt, "words")
		p := compileText(ruleText(words))
		if len(p.parts) != 1 || p.parts[0] != strings.Join(words, string(sep)) {
			rt.Fatalf("%q became %q", words, p.parts)
		}
	})
}

func FuzzDecide(f *testing.F) {
	for _, s := range fragments {
		f.Add(s, "Bash("+s+")")
	}
	f.Add("cat <<'E'OF\n$(x)\nEOF", "Read(**/[a-z]*)")
	f.Add("echo ${x@P} $'\\x41' <(ls) ~u {a,b}", "Edit(//a/**/b)")
	f.Fuzz(func(t *testing.T, command, rule string) {
		for _, mode := range modes {
			env := testEnv(t, mode, []string{rule}, nil, []string{rule})
			d := Decide(bash(command), env)
			if d.Verdict < Allow || d.Verdict > Deny || d.Reason == "" || d.Source.Kind == "" {
				t.Fatalf("a decision without a verdict, reason or source: %+v", d)
			}
		}
	})
}

func FuzzPath(f *testing.F) {
	f.Add("/a/**/b*", "/a/x/bc", "darwin")
	f.Add(`C:\x\*`, `c:\X\y`, "windows")
	f.Add("[", "[", "linux")
	f.Fuzz(func(t *testing.T, pattern, path, platform string) {
		set, _ := Compile([]Rule{{Text: "Read(" + pattern + ")", Effect: Deny}}, Options{Start: "/p", Home: "/h", ProjectRoot: "/p", Platform: platform})
		input, _ := json.Marshal(map[string]string{"file_path": path})
		env := Env{Rules: set, Platform: platform, FS: nothing{}, Workspace: Workspace{Cwd: "/p", Home: "/h", Roots: []string{"/p"}}}
		if d := Decide(Request{Tool: "Read", Input: input}, env); d.Verdict < Allow {
			t.Fatalf("no verdict: %+v", d)
		}
	})
}

func BenchmarkPlainCommand(b *testing.B) {
	var allow, deny []string
	for i := range 150 {
		allow = append(allow, fmt.Sprintf("Bash(tool%d run *)", i))
	}
	for i := range 50 {
		deny = append(deny, fmt.Sprintf("Bash(danger%d *)", i))
	}
	env := testEnv(b, ModeDefault, append(allow, "Bash(npm test:*)"), nil, deny)
	env.FS = OS{}
	for _, c := range []string{"npm test -- --watch=false", "git status", "ls -la src | head -20"} {
		req := bash(c)
		b.Run(c, func(b *testing.B) {
			for b.Loop() {
				if Decide(req, env).Verdict != Allow {
					b.Fatal("not allowed")
				}
			}
		})
	}
}
