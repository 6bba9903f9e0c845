//go:build unix

package term

import (
	"strings"
	"sync"
	"testing"

	"lathe/internal/fakeapi"
)

// handOver is a call of the tool Agent.
func handOver(task, prompt string) fakeapi.Block {
	return fakeapi.Call("Agent", map[string]any{"description": task, "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": false})
}

// delegating hands work on twice; each of them waits for held, once, before its report.
func delegating(held chan struct{}) *fakeapi.Script {
	return &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		var a fakeapi.Answer
		body := string(q.Body)
		switch {
		case strings.Contains(body, `"text":"dig deep"`) && q.LastToolResult() == "": // the inner one
			a = answer(bash("echo inner-output"))
		case strings.Contains(body, `"text":"dig deep"`):
			<-held
			a = fakeapi.Text("Inner report.")
		case strings.Contains(body, `"text":"dig"`) && q.LastToolResult() == "":
			a = answer(fakeapi.Block{Text: "I look first."}, bash("echo outer-output"), handOver("the inner task", "dig deep"))
		case strings.Contains(body, `"text":"dig"`):
			a = fakeapi.Text("Outer report.")
		case q.LastToolResult() == "":
			a = answer(handOver("the outer task", "dig"))
		default:
			a = fakeapi.Text("All is done.")
		}
		return &a
	}}
}

// The transcript shows what sub-agents do below the call that set them to work, at every depth: while they work, when they
// have ended, and when the session is resumed.
func TestTranscriptShowsSubAgents(t *testing.T) {
	held := make(chan struct{})
	r := newRig(t, delegating(held))
	release := sync.OnceFunc(func() { close(held) })
	t.Cleanup(release)
	s := r.start(100, 40, "--permission-mode", "bypassPermissions")
	s.waitFor("bypass")
	s.keys("go<enter>")
	s.waitFor("the outer task")
	s.keys("<c-o>")
	text := s.waitFor("▸ Agent general-purpose: the outer task", "  │ ❯ dig", "  │ I look first.", "  │ ✓ Bash echo outer-output", "  │ ▸ Agent general-purpose: the inner task", "  │   │ ✓ Bash echo inner-output")
	if strings.Contains(text, "Outer report.") {
		t.Errorf("it has ended already:\n%s", text)
	}
	release()
	s.waitFor("All is done.", "✓ Agent general-purpose: the outer task", "  │ ✓ Agent general-purpose: the inner task", "  │   │ Inner report.", "  │ Outer report.")
	s.keys("/inner-output<enter>")
	s.waitFor("/inner-output · n N", "  │   │ ✓ Bash echo inner-output")
	s.keys("q<c-d><c-d>")
	s.end()
	s = r.start(100, 40, "-c")
	s.waitFor("All is done.")
	s.keys("<c-o>")
	s.waitFor("✓ Agent", "  │ ❯ dig", "  │ ✓ Bash echo outer-output", "  │   │ ❯ dig deep", "  │   │ ✓ Bash echo inner-output", "  │   │ Inner report.", "  │ Outer report.")
}
