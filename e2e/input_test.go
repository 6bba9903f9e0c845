package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

func hello() *fakeapi.Script { return &fakeapi.Script{Default: &fakeapi.Answer{Text: "Hello."}} }

// ends checks an outcome: exit code, what standard error says, and that nothing crashed.
func (o outcome) ends(t testing.TB, code int, said string) {
	t.Helper()
	if o.code != code || !regexp.MustCompile(said).MatchString(o.err) {
		t.Errorf("exit code %d, want %d; standard error must match %q:\n%s\n%s", o.code, code, said, o.err, o.out)
	}
	if strings.Contains(o.err, "panic") || strings.Contains(o.err, "goroutine ") {
		t.Errorf("it crashed: %s", o.err)
	}
}

// with runs a prepared command to its end.
func (r *rig) with(cmd *exec.Cmd) outcome {
	r.t.Helper()
	return r.launch(cmd).wait()
}

// shell runs the program by a line of sh, in which $LATHE is the program.
func (r *rig) shell(line string) outcome {
	r.t.Helper()
	cmd := r.command()
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", line}
	cmd.Env = append(cmd.Env, "LATHE="+binary(r.t))
	return r.with(cmd)
}

// Whatever stands on standard input, it is used, or refused in words, and nothing is sent then.
func TestStandardInput(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the test gives its input through a POSIX shell")
	}
	for _, tt := range []struct {
		name, line string
		code       int
		err        string
		requests   int
		sent       string
	}{
		{"a directory", `"$LATHE" -p < .`, 1, "^Error: read standard input: .*directory", 0, ""},
		{"a directory beside a prompt", `"$LATHE" -p hi < .`, 0, "could not be read .* prompt argument alone", 1, `"hi"`},
		{"closed", `"$LATHE" -p hi <&-`, 0, "^$", 1, `"hi"`},
		{"closed, no prompt", `"$LATHE" -p <&-`, 1, "^Error: Input must be provided", 0, ""},
		{"opened for writing", `"$LATHE" -p 0> out`, 1, "^Error: read standard input: ", 0, ""},
		{"without end", `yes | "$LATHE" -p`, 1, "^Error: standard input is larger than 10 MB", 0, ""},
		{"without end, beside a prompt", `yes | "$LATHE" -p hi`, 1, "^Error: standard input is larger than 10 MB", 0, ""},
		{"too large for the model", `head -c 900000 /dev/urandom | base64 | CLAUDE_CODE_MAX_CONTEXT_TOKENS=100000 "$LATHE" -p`, 1, "Context full", 0, ""},
		{"blank", `printf ' \n\t' | "$LATHE" -p`, 1, "^Error: Input contained only whitespace", 0, ""},
		{"empty", `printf '' | "$LATHE" -p`, 1, "^Error: Input must be provided", 0, ""},
		{"not UTF-8", `printf 'a\377b\000c' | "$LATHE" -p`, 0, "not valid UTF-8", 1, `"a` + "\ufffd" + `b\u0000c"`},
		{"a byte order mark", `printf '\357\273\277hi' | "$LATHE" -p`, 0, "^$", 1, `"hi"`},
		{"a blank prompt", `"$LATHE" -p " "`, 1, "^Error: Input contained only whitespace", 0, ""},
		{"an empty prompt", `"$LATHE" -p ""`, 1, "^Error: Input must be provided", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, hello())
			r.shell(tt.line).ends(t, tt.code, tt.err)
			if n := len(r.api.Requests()); n != tt.requests {
				t.Fatalf("%d requests", n)
			}
			if tt.requests > 0 && !strings.Contains(string(r.last().Body), tt.sent) {
				t.Errorf("sent %s", r.last().Body)
			}
			r.legal()
		})
	}
}

// A bad settings file is named with its place. One that was found is left out; one that was asked for ends the run.
func TestBadSettings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, said string }{
		{"cut", "{\n \"model\":", `:2:10: .*unexpected EOF`},
		{"two values", `{} x`, `:1:4: .*invalid character 'x'`},
		{"a list", `[]`, `:1:1: settings must be a JSON object`},
		{"a comma missing", "{\n  \"model\": \"x\"\n  \"env\": {}\n}", `:3:3: `},
		{"single quotes", `{'a':1}`, `:1:2: `},
		{"very deep", strings.Repeat("[", 100_000), `:1:\d+: `},
		{"control characters", "{\"a\": \"\x00\"}", `:1:\d+: `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, hello())
			r.file("../home/.claude/settings.json", tt.text)
			r.file(".claude/settings.json", tt.text)
			r.file(".claude/settings.local.json", tt.text)
			o := r.run("-p", "hi")
			for _, name := range []string{"home/.claude/settings.json", "work/.claude/settings.json", "work/.claude/settings.local.json"} {
				o.ends(t, 0, regexp.QuoteMeta(name)+tt.said)
			}
			for _, name := range []string{"home/.claude/settings.json", "work/.claude/settings.json", "work/.claude/settings.local.json"} {
				if err := os.Remove(filepath.Join(r.dir, "..", name)); err != nil {
					t.Fatal(err)
				}
			}
			r.file("mine.json", tt.text)
			r.run("-p", "hi", "--settings", "mine.json").ends(t, 1, `^Error: .*mine.json`+tt.said)
			if strings.HasPrefix(tt.text, "{") && !strings.Contains(tt.text, "\x00") {
				r.run("-p", "hi", "--settings", tt.text).ends(t, 1, `^Error: --settings`+tt.said)
			}
			if n := len(r.api.Requests()); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// B075: a byte order mark before the settings.
func TestByteOrderMarkB075(t *testing.T) {
	t.Parallel()
	r := newRig(t, hello())
	r.file("../home/.claude/settings.json", "\ufeff"+`{"model":"claude-sonnet-5"}`)
	r.file(".claude/settings.json", "\ufeff"+`{"permissions":{"deny":["Bash"]}}`)
	r.run("-p", "hi").ends(t, 0, "^$")
	if r.last().Model != "claude-sonnet-5" || strings.Contains(strings.Join(r.last().ToolNames(), " "), "Bash") {
		t.Errorf("model %s, tools %v", r.last().Model, r.last().ToolNames())
	}
}

// A working directory that is gone ends the run; one that goes while it runs does not.
func TestWorkingDirectoryGone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the test gives its input through a POSIX shell")
	}
	r := newRig(t, hello())
	r.shell(`mkdir d && cd d && rmdir ../d && "$LATHE" -p hi`).ends(t, 1, "^Error: the working directory cannot be used")
	if n := len(r.api.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	r.serve(fakeapi.Sequence(answer(bash("mv ../work ../gone && echo it is gone")), answer(bash("pwd"), readFile("a.txt"), fakeapi.Call("Glob", map[string]any{"pattern": "*"}),
		fakeapi.Call("Write", map[string]any{"file_path": "new/b.txt", "content": "x"})), fakeapi.Text("done")))
	r.must("-p", "first words", "--permission-mode", "bypassPermissions")
	r.legal()
	if results := r.last().ToolResults(); len(results) != 4 || !results[0].IsError || !results[1].IsError {
		for _, b := range results {
			t.Errorf("in a directory that is gone: error %v, %s", b.IsError, b.Text)
		}
	}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r.goesOn("first words", "it is gone", "done")
}

// State that cannot be written ends the run before anything is sent, and says what to do.
func TestStateNotWritable(t *testing.T) {
	t.Parallel()
	t.Run("below a file", func(t *testing.T) {
		r := newRig(t, hello())
		r.file("plain", "")
		r.env = append(r.env, "LATHE_HOME="+filepath.Join(r.dir, "plain", "state"))
		r.run("-p", "hi").ends(t, 1, "write the transcript: make session directory: .*--no-session-persistence")
		r.run("-p", "hi", "-c").ends(t, 1, "^Error: ")
		if n := len(r.api.Requests()); n != 0 {
			t.Errorf("%d requests", n)
		}
		r.run("-p", "hi", "--no-session-persistence").ends(t, 0, "^$")
	})
	t.Run("a session file that may not be written", func(t *testing.T) {
		r := newRig(t, hello())
		r.must("-p", "first words")
		path := r.transcript()
		before := r.read(path)
		if err := os.Rename(path, path+".kept"); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		r.run("-p", "more", "--resume", id).ends(t, 1, "^Error: No conversation found with session ID")
		if after := r.read(path + ".kept"); after != before {
			t.Error("the session was changed")
		}
	})
	t.Run("no right to write", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("SKIPPED: needs file modes, which Windows does not have")
		}
		r := newRig(t, hello())
		home := filepath.Join(r.dir, "locked")
		if err := os.Mkdir(home, 0o555); err != nil {
			t.Fatal(err)
		}
		r.env = append(r.env, "LATHE_HOME="+home)
		cmd := r.command("-p", "hi")
		asNobody(t, r, cmd)
		r.with(cmd).ends(t, 1, "make session directory: .*permission denied")
		if n := len(r.api.Requests()); n != 0 {
			t.Errorf("%d requests", n)
		}
	})
}

// A disk that fills up at any point of a session ends the run in words. What was written until then stays, and
// the session goes on when there is room again.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	script := func() *fakeapi.Script {
		return fakeapi.Sequence(answer(fakeapi.Block{Thinking: "hm"}, fakeapi.Block{Text: "I look."}, bash("seq 1 3000")), answer(bash("seq 1 20000")),
			fakeapi.Text("done"))
	}
	full := func(t *testing.T, r *rig, o outcome) {
		t.Helper()
		if o.code != 0 {
			o.ends(t, 1, "write the transcript|append to session|no space left|file too large")
		}
		r.legal()
		r.serve(hello())
		next := r.run("-c", "-p", "and now")
		r.legal()
		if next.code != 0 {
			next.ends(t, 1, "no session to continue|holds no messages")
			if strings.Contains(o.out, "I look") {
				t.Error("the session was lost")
			}
		}
	}
	for size := 1; size <= 81; size += 5 {
		t.Run(fmt.Sprintf("files of at most %d blocks", size), func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" {
				t.Skip("SKIPPED: needs ulimit, which Windows does not have")
			}
			r := newRig(t, script())
			full(t, r, r.shell(fmt.Sprintf(`ulimit -f %d; "$LATHE" -p "first words" --allowedTools Bash`, size)))
		})
	}
	t.Run("a small disk", func(t *testing.T) {
		for size := 4; size <= 64; size += 12 {
			r := newRig(t, script())
			disk := filepath.Join(r.home, ".lathe")
			if err := os.Mkdir(disk, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := exec.Command("mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dk", size), "none", disk).Run(); err != nil {
				t.Skip("SKIPPED: a small disk needs the right to mount; run as root on Linux")
			}
			t.Cleanup(func() { _ = exec.Command("umount", disk).Run() })
			o := r.run("-p", "first words", "--allowedTools", "Bash")
			if err := exec.Command("mount", "-o", "remount,size=4m", disk).Run(); err != nil {
				t.Fatal(err)
			}
			full(t, r, o)
		}
	})
	t.Run("behind standard output", func(t *testing.T) {
		if _, err := os.Stat("/dev/full"); err != nil {
			t.Skip("SKIPPED: this system has no /dev/full")
		}
		for _, format := range []string{"text", "json", "stream-json"} {
			r := newRig(t, script())
			r.shell(`"$LATHE" -p "first words" --allowedTools Bash --output-format `+format+` > /dev/full`).ends(t, 1, "standard output: .*no space left")
			r.goesOn("first words")
		}
	})
}
