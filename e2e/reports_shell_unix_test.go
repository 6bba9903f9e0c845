//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

var bypass = []string{"--permission-mode", "bypassPermissions"}

func limited(command string, ms int) fakeapi.Block {
	return fakeapi.Call("Bash", map[string]any{"command": command, "timeout": ms})
}

// B011: after an interrupt inside a tool each call has one result, in the very next message, before the new prompt.
func TestInterruptedCallB011(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(bash("echo > started; sleep 30"), readFile("a.txt"), bash("echo x"))))
	p := r.start(append([]string{"-p", "first words"}, bypass...)...)
	r.appears("started")
	_ = p.cmd.Process.Signal(os.Interrupt)
	if o := p.wait(); o.code != 130 {
		t.Errorf("exit code %d\n%s", o.code, o.err)
	}
	messages := r.goesOn("first words").Messages()
	var calls, answered []string
	last := messages[len(messages)-1]
	for _, b := range messages[len(messages)-2].Blocks {
		if b.Type == "tool_use" {
			calls = append(calls, b.ID)
		}
	}
	for i, b := range last.Blocks {
		if b.Type == "tool_result" {
			answered = append(answered, b.ID)
		} else if i < 3 {
			t.Errorf("block %d of the next message is %s", i, b.Type)
		}
	}
	if strings.Join(calls, " ") != strings.Join(answered, " ") || len(calls) != 3 || last.Blocks[len(last.Blocks)-1].Text != "and now" {
		t.Errorf("calls %v, results %v, last message %+v", calls, answered, last)
	}
}

// B032: at the timeout everything that a command started is told to end, so that its trap runs, and then killed.
func TestTimeoutB032(t *testing.T) {
	t.Parallel()
	r := newRig(t, hello())
	r.env = append(r.env, "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1") // else it goes on in the background
	results := r.works(bypass, limited(`trap "echo bye >> t.txt" EXIT; (sleep 300) & (trap '' TERM; echo deaf; sleep 301) &
		setsid sh -c 'echo away; sleep 302' & nohup sh -c 'sleep 303' > /dev/null 2>&1 & sleep 300`, 4000))
	for _, said := range []string{"Timed out after", "deaf", "away"} {
		if !results[0].IsError || !strings.Contains(results[0].Text, said) {
			t.Errorf("%q is missing: %s", said, results[0].Text)
		}
	}
	if got := r.read(filepath.Join(r.dir, "t.txt")); got != "bye\n" {
		t.Errorf("the trap left %q", got)
	}
	r.alone(0)
	// What went on in the background at its timeout ends with the session in the same way.
	r.env = nil
	moved := r.works(bypass, limited(`trap "echo bye again >> t.txt" EXIT; (sleep 304) & sleep 304`, 4000))
	if moved[0].IsError || !strings.Contains(moved[0].Text, "moved to the background") {
		t.Errorf("%s", moved[0].Text)
	}
	if got := r.read(filepath.Join(r.dir, "t.txt")); got != "bye\nbye again\n" {
		t.Errorf("the traps left %q", got)
	}
	r.alone(0)
}

// B035: a command that is no shell breaks nothing for those after it.
func TestUnbalancedQuotesB035(t *testing.T) {
	t.Parallel()
	r := newRig(t, hello())
	r.file("sub/x", "")
	results := r.works(bypass, bash("cd sub"), bash("cat <<'EOF'\nit's\nEOF"), bash(`echo "unclosed`), bash("echo 'also"), bash("cat <<EOF\nno end"), bash("if true; then"),
		bash("echo )"), bash("} ; exit 0"), bash("echo \\"), bash("exec 1>&- ; echo gone"), bash("exit 7"), bash("set -e; set -u; false"), bash("echo ok; pwd"))
	if results[1].Text != "it's" {
		t.Errorf("a quoted here-document: %s", results[1].Text)
	}
	for _, i := range []int{2, 3, 5, 6, 7} {
		if !results[i].IsError {
			t.Errorf("call %d is no error: %s", i+1, results[i].Text)
		}
	}
	if want := "ok\n" + filepath.Join(r.dir, "sub"); results[12].Text != want {
		t.Errorf("the last command says %q, want %q", results[12].Text, want)
	}
}

// B036: what asks for input gets its end, and what never ends is stopped, with its output so far.
func TestNeverEndingB036(t *testing.T) {
	t.Parallel()
	r := newRig(t, hello())
	results := r.works(bypass, bash("read x; echo read: $?"), bash("cat; echo ended"), bash("read x < /dev/tty; echo tty: $?"), limited("while :; do echo tick; sleep 0.1; done", 4000),
		bash("git init -q . && git -c user.name=n -c user.email=e@example.org commit --allow-empty; echo done"))
	for i, want := range []string{"read: 1", "ended", "tty: 1", "tick\ntick", "done"} {
		if !strings.Contains(results[i].Text, want) {
			t.Errorf("call %d: %s", i+1, results[i].Text)
		}
	}
}

// B038: a deny rule sees its command wherever a shell finds it, in every mode. What cannot be told is not run.
func TestDenyInsideCommandsB038(t *testing.T) {
	t.Parallel()
	commands := []string{
		"echo a && rm -rf x", "ls; rm x", "ls x | xargs rm", "(rm x)", "$(rm x)", "FOO=1 rm x", "/bin/rm x", "echo `rm x`", "echo $(rm x)", `echo "$(rm x)"`,
		"rm x &", "! rm x", "time rm x", "if true; then rm x; fi", "for f in x; do rm $f; done", "while rm x; do :; done", "f() { rm x; }; f", "case a in a) rm x;; esac",
		"{ rm x; }", "cat <(rm x)", "true || rm y; rm x", "env rm x", "env -i A=1 rm x", "command rm x", "exec rm x", "nohup rm x", "timeout 5 rm x", "nice -n 1 rm x",
		"sh -c 'rm x'", `bash -c "rm x"`, "eval rm x", "eval 'r''m x'", `\rm x`, `"rm" x`, `r"m" x`, "$'rm' x", "a=rm; $a x", "find . -name x -exec rm {} +", "find . -name x -delete -o -exec rm {} ;",
		"xargs rm <<< x", "echo x | xargs -I{} rm {}", "rm\tx", "rm \\\n x", "trap 'rm x' EXIT", "alias q=rm; q x", "[[ -n $(rm x) ]]", "echo ${a:-$(rm x)}", "((a[$(rm x)]))",
		"cat <<EOF\n$(rm x)\nEOF", "> out rm x", "../../../../../../../bin/rm x", "bash <<< 'rm x'", "echo 'rm x' | sh", ". ./script.sh", "coproc rm x",
	}
	for _, flags := range [][]string{
		{"--allowedTools", "Bash(*)", "--disallowedTools", "Bash(rm *)"},
		{"--allowedTools", "Bash", "--disallowedTools", "Bash(rm *)", "--permission-mode", "acceptEdits"},
	} {
		r := newRig(t, hello())
		r.file("x", "kept")
		r.file("script.sh", "rm x\n")
		var calls []fakeapi.Block
		for _, c := range commands {
			calls = append(calls, bash(c), bash("test -e x"))
		}
		results := r.works(flags, calls...)
		for i, c := range commands {
			if results[2*i+1].IsError {
				t.Fatalf("%q removed the file: %s", c, results[2*i].Text)
			}
		}
		if got := r.read(filepath.Join(r.dir, "x")); got != "kept" {
			t.Errorf("the file holds %q", got)
		}
	}
	// Where everything is allowed, a plain sub-command is denied all the same.
	r := newRig(t, hello())
	r.file("x", "kept")
	var calls []fakeapi.Block
	for _, c := range commands[:28] {
		calls = append(calls, bash(c))
	}
	for i, b := range r.works(append([]string{"--disallowedTools", "Bash(rm *)"}, bypass...), calls...) {
		if !b.IsError {
			t.Errorf("%q ran: %s", commands[i], b.Text)
		}
	}
	if got := r.read(filepath.Join(r.dir, "x")); got != "kept" {
		t.Errorf("the file holds %q", got)
	}
}

// B042: deny wins in every order and from every file, and over everything that allows.
func TestDenyWinsB042(t *testing.T) {
	t.Parallel()
	first := `{"permissions":{"deny":["Bash(touch *)"],"allow":["*","Bash(*)"]}}`
	last := `{"permissions":{"allow":["Bash(touch made)","*"],"deny":["Bash(touch:*)"]}}`
	allow := `{"permissions":{"allow":["*","Bash","Bash(touch *)"],"defaultMode":"bypassPermissions"}}`
	for name, files := range map[string][3]string{ // user, project, local
		"user, deny first": {first, allow, allow}, "user, deny last": {last, allow, allow}, "project": {allow, last, allow}, "project, deny first": {allow, first, allow},
		"local": {allow, allow, first}, "all": {last, first, last},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, hello())
			for i, path := range []string{"../home/.claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"} {
				r.file(path, files[i])
			}
			for _, flags := range [][]string{{"--trust"}, {"--trust", "--allowedTools", "Bash(touch *)"}, bypass} {
				if b := r.works(flags, bash("touch made"))[0]; !b.IsError {
					t.Errorf("%v: it ran: %s", flags, b.Text)
				}
			}
			if _, err := os.Stat(filepath.Join(r.dir, "made")); err == nil {
				t.Error("the denied command ran")
			}
		})
	}
}
