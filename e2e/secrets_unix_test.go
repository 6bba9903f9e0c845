//go:build unix

package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// canaries are secrets that are planted where a session meets them, by what they stand for.
func canaries() map[string]string {
	line := strings.Repeat("cNryK3y0", 8)
	return map[string]string{
		"API key":      "cnry-api-key-0a1b2c3d",
		"variable":     "cnry-env-9f8e7d6c5b4a",
		"URL variable": "cnry4dbpass77",
		"key helper":   "cnry-helper-55aa66bb77",
		".env":         "cnryDotEnvPw12345",
		"Stripe":       "sk_live_cnry0123456789abcdef",
		"AWS":          "AKIACNRY4567890ABCDE",
		"private key":  line,
		"commit":       "glpat-cnry0123456789abcdefg",
	}
}

// plant puts the canaries into the rig: variables, files, a hook, the history of git.
func (r *rig) plant(c map[string]string) {
	r.t.Helper()
	r.env = append(r.env, "ANTHROPIC_API_KEY="+c["API key"], "MY_SERVICE_TOKEN="+c["variable"], "DATABASE=postgres://me:"+c["URL variable"]+"@db/x")
	r.file(".env", "DEBUG=1\nDB_PASSWORD="+c[".env"]+"\nSTRIPE="+c["Stripe"]+"\nAWS_ID="+c["AWS"]+"\n")
	r.file("id.pem", "-----BEGIN PRIVATE KEY-----\n"+c["private key"]+"\n"+c["private key"]+"\n-----END PRIVATE KEY-----\n")
	settings := `{"hooks":{"PreToolUse":[{"matcher":"Read","hooks":[{"type":"command","command":"echo hook says $MY_SERVICE_TOKEN >&2; exit 1"}]}]}}`
	if err := os.MkdirAll(filepath.Join(r.home, ".claude"), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.home, ".claude", "settings.json"), []byte(settings), 0o644); err != nil {
		r.t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--allow-empty", "-m", "token " + c["commit"]}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = r.dir
		cmd.Env = append(os.Environ(), "HOME="+r.home)
		if out, err := cmd.CombinedOutput(); err != nil {
			r.t.Skipf("SKIPPED: git: %v\n%s", err, out)
		}
	}
}

func secretScript() *fakeapi.Script {
	think := fakeapi.Block{Thinking: "a thought"}
	return fakeapi.Sequence(
		answer(think, readFile(".env"), readFile("id.pem"), fakeapi.Call("Grep", map[string]any{"pattern": "PASSWORD|STRIPE", "path": ".", "output_mode": "content"})),
		answer(think, bash("env; echo $DATABASE"), bash("echo failed with $MY_SERVICE_TOKEN >&2; exit 3")),
		answer(think, bash(`for i in $(seq 1 4000); do echo "$i $MY_SERVICE_TOKEN and more text"; done`), bash("cat id.pem .env")),
		answer(think, fakeapi.Call("Bash", map[string]any{"command": "cat .env; sleep 0.2; cat id.pem", "run_in_background": true}),
			fakeapi.Call("Edit", map[string]any{"file_path": ".env", "old_string": "DEBUG=1", "new_string": "DEBUG=2"}),
			fakeapi.Call("Write", map[string]any{"file_path": ".env", "content": "DB_PASSWORD=[redacted: DB_PASSWORD]\n"})),
		answer(think, fakeapi.Call("TaskOutput", map[string]any{"task_id": "${task}"})),
		answer(fakeapi.Block{Text: "done"}),
	)
}

// kept are all files that a run leaves: the state directory and what the arguments named.
func (r *rig) kept(more ...string) map[string]string {
	r.t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(filepath.Join(r.home, ".lathe"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			more = append(more, path)
		}
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, path := range more {
		out[path] = r.read(path)
	}
	return out
}

// Secrets in variables, files, output, errors, hooks and git reach neither a record nor the model, and the session goes
// on with the very bytes that were sent before.
func TestNoRecordHoldsASecret(t *testing.T) {
	t.Parallel()
	script := secretScript()
	script.Turns[4].Capture = []fakeapi.Capture{{Name: "task", Regexp: `as task (\w+)`}}
	script.Default = &fakeapi.Answer{Text: "still here"}
	r := newRig(t, script)
	c := canaries()
	r.plant(c)
	debug, rec := filepath.Join(r.home, "debug.log"), filepath.Join(r.home, "rec.jsonl")
	flags := []string{"--permission-mode", "bypassPermissions", "--output-format", "stream-json", "--include-partial-messages"}
	cmd := r.command(append([]string{"-c", `umask 000; exec "$0" "$@"`, binary(t), "-p", "look at @.env", "--trace", "--debug-file", debug, "--record", rec}, flags...)...)
	cmd.Path, cmd.Args[0] = "/bin/sh", "sh"
	o := r.launch(cmd).wait()
	if o.code != 0 || !strings.Contains(o.out, `"result":"done"`) {
		t.Fatalf("exit code %d\n%s\n%s", o.code, o.out, o.err)
	}
	r.legal()
	if env := r.read(filepath.Join(r.dir, ".env")); !strings.Contains(env, "DEBUG=2") || !strings.Contains(env, c[".env"]) {
		t.Errorf(".env was damaged: %q", env)
	}
	r.must(append([]string{"-p", "go on", "--continue", "--trace", "--debug-file", debug}, flags...)...)
	r.legal()
	all := r.api.Requests()
	if a, b := all[len(all)-2].Prefix, all[len(all)-1].Prefix; len(b) <= len(a) || strings.Join(b[:len(a)-1], "") != strings.Join(a[:len(a)-1], "") {
		t.Error("after the resume other bytes were sent for what had been sent before")
	}
	files := r.kept(debug, rec)
	for _, q := range all {
		files["request "+q.Path+" "+string(rune('0'+q.N))] = string(q.Body)
	}
	for name, text := range files {
		for what, secret := range c {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s holds the secret of: %s: …%s", name, what, text[max(0, i-200):i+len(secret)])
			}
		}
	}
	transcript := r.read(r.transcripts()[0])
	for _, mark := range []string{"MY_SERVICE_TOKEN", "DB_PASSWORD", "Stripe key", "AWS access key", "private key", "URL password"} {
		if !strings.Contains(transcript, "[redacted: "+mark+"]") {
			t.Errorf("the transcript has no mark of %s", mark)
		}
	}
	r.private(debug, rec)
	t.Logf("%d files and requests searched", len(files))
}

// private checks that nobody else can read what was left, whatever the umask.
func (r *rig) private(more ...string) {
	r.t.Helper()
	check := func(path string) {
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			r.t.Errorf("%s: mode %v, %v", path, info.Mode(), err)
		}
	}
	err := filepath.WalkDir(filepath.Join(r.home, ".lathe"), func(path string, _ fs.DirEntry, err error) error { check(path); return err })
	if err != nil {
		r.t.Fatal(err)
	}
	for _, path := range more {
		check(path)
	}
}

// A key that only a helper knows becomes known when it is used.
func TestKeyOfAHelperIsRedacted(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(bash("cat ../home/key")), answer(fakeapi.Block{Text: "done"})))
	key := canaries()["key helper"]
	if err := os.WriteFile(filepath.Join(r.home, "key"), []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.env = append(r.env, "ANTHROPIC_API_KEY=")
	r.must("-p", "go", "--permission-mode", "bypassPermissions", "--settings", `{"apiKeyHelper":"cat $HOME/key"}`)
	text := r.read(r.transcripts()[0])
	if strings.Contains(text, key) || !strings.Contains(text, "[redacted: apiKeyHelper]") {
		t.Errorf("the transcript is\n%s", text)
	}
	if got := r.api.Requests()[0].Header.Get("X-Api-Key"); got != key {
		t.Errorf("the key sent is %q", got)
	}
}

// What a person typed stays theirs, and patterns can be switched off; known values cannot.
func TestPatternsCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	c := canaries()
	r := newRig(t, fakeapi.Sequence(answer(readFile(".env")), answer(bash("echo $MY_SERVICE_TOKEN")), answer(fakeapi.Block{Text: "done"})))
	r.plant(c)
	r.must("-p", "my key is "+c["AWS"], "--permission-mode", "bypassPermissions", "--settings", `{"redactPatterns":false}`)
	text := r.read(r.transcripts()[0])
	if !strings.Contains(text, "my key is "+c["AWS"]) || !strings.Contains(text, c["Stripe"]) || strings.Contains(text, c["variable"]) {
		t.Errorf("the transcript is\n%s", text)
	}
}

// Commands and hooks get no key to a model, and no variable that steers the program itself.
func TestChildrenGetNoKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t, fakeapi.Sequence(answer(bash("env > ../home/env-bash")), answer(fakeapi.Block{Text: "done"})))
	out := filepath.Join(r.home, "env-hook")
	names := []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_FOUNDRY_API_KEY", "AWS_BEARER_TOKEN_BEDROCK",
		"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_REFRESH_TOKEN", "LATHE_ANYTHING",
	}
	for _, n := range names {
		if n != "ANTHROPIC_CUSTOM_HEADERS" && n != "ANTHROPIC_AUTH_TOKEN" {
			r.env = append(r.env, n+"=cnry-value-123456")
		}
	}
	r.env = append(r.env, "ANTHROPIC_AUTH_TOKEN=cnry-value-123456", "ANTHROPIC_CUSTOM_HEADERS=X-A: cnry-value-123456", "KEPT=1")
	settings := `{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"env > ` + out + `"}]}]}}`
	r.must("-p", "go", "--permission-mode", "bypassPermissions", "--settings", settings)
	for _, path := range []string{out, filepath.Join(r.home, "env-bash")} {
		text := r.read(path)
		if !strings.Contains(text, "KEPT=1") {
			t.Errorf("%s lacks what belongs to it", path)
		}
		if i := bytes.Index([]byte(text), []byte("cnry-value")); i >= 0 {
			t.Errorf("%s has a secret: %s", path, text[max(0, i-60):i])
		}
	}
}
