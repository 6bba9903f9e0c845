package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

// A rule that reaches the checkout's files by a star holds for their copies in a work tree, too.
func TestAgentWorktreeStars(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("done")
		switch {
		case isWorker(q) && first(q):
			a = answer(
				fakeapi.Call("Read", map[string]any{"file_path": "secret.txt"}), bash("cat secret.txt"), bash("cat sec*"), bash("git show HEAD:secret.txt"),
				fakeapi.Call("Grep", map[string]any{"pattern": "hidden", "output_mode": "content"}), bash("grep -r hidden ."),
			)
		case !isWorker(q) && first(q):
			a = answer(handOver("worker", "read it", "run_in_background", false))
		}
		return &a
	}})
	r.file("a.txt", "one\n")
	r.file("secret.txt", "hidden words\n")
	r.repository()
	rule := "Read(//**/" + filepath.Base(r.dir)[:2] + "*/secret.txt)"
	r.must("-p", "go", "--agents", apartWorker, "--permission-mode", "bypassPermissions", "--disallowedTools", rule)
	for _, q := range r.api.Requests() {
		if strings.Contains(string(q.Body), "hidden words") {
			t.Fatalf("it was read: %s", q.LastToolResult())
		}
	}
}

// What a transcript says of a sub-agent's work tree is not believed where this session would never have made it.
func TestAgentWorktreeOfATranscript(t *testing.T) {
	t.Parallel()
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("done")
		switch {
		case isWorker(q) && strings.Contains(q.LastUserText(), "go on"):
			a = answer(bash("touch here.txt"))
		case isWorker(q) && first(q):
			a = answer(bash("echo old > old.txt"))
		case isWorker(q), isReport(q):
		case strings.Contains(q.LastUserText(), "again") && !strings.Contains(q.LastToolResult(), "go on"):
			a = answer(sendTo("helper", "go on"))
		case first(q):
			a = answer(handOver("worker", "look", "name", "helper", "run_in_background", false))
		}
		return &a
	}})
	r.file("a.txt", "one\n")
	r.repository()
	r.must("-p", "start", "--agents", apartWorker, "--permission-mode", "bypassPermissions")
	elsewhere := t.TempDir()
	path := r.trees()[0]
	found := 0
	err := filepath.WalkDir(r.home, func(name string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasPrefix(d.Name(), "agent-a") || filepath.Ext(name) != ".jsonl" {
			return err
		}
		found++
		text := strings.ReplaceAll(r.read(name), `"path":"`+path+`"`, `"path":"`+elsewhere+`"`)
		return os.WriteFile(name, []byte(text), 0o600)
	})
	if err != nil || found != 1 {
		t.Fatal(found, err)
	}
	r.must("-c", "-p", "again", "--agents", apartWorker, "--permission-mode", "bypassPermissions")
	if _, err := os.Stat(filepath.Join(elsewhere, "here.txt")); err == nil {
		t.Error("it worked where the transcript said")
	}
	if got := r.last().LastToolResult(); !strings.Contains(got, "cannot go on: its work tree") {
		t.Errorf("the model was told: %s", got)
	}
}
