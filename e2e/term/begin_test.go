//go:build unix

package term

import (
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

func TestThePromptOfTheCommandLineIsSentOnce(t *testing.T) {
	for name, args := range map[string][]string{"inline": {"say hello"}, "fullscreen": {"--fullscreen", "say hello"}} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, fakeapi.Sequence(fakeapi.Text("The first answer."), fakeapi.Text("The second answer."), fakeapi.Text("The third answer.")))
			s := r.start(80, 24, args...)
			s.waitFor("The first answer.")
			s.keys("more<enter>") // whatever else was sent comes before it
			s.waitFor("The second answer.", "❯ more")
			s.keys("<c-d><c-d>")
			if code := s.end(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			s = r.start(80, 24, append(args[:len(args)-1:len(args)-1], "-c", "go on")...)
			s.waitFor("The third answer.")
			s.keys("<c-d><c-d>")
			s.end()
			list := r.api.Requests()
			if len(list) != 3 {
				t.Fatalf("%d requests for three prompts", len(list))
			}
			if n := strings.Count(string(list[2].Body), "say hello"); n != 1 {
				t.Errorf("the first prompt stands %d times in the conversation:\n%s", n, list[2].Body)
			}
		})
	}
}

func TestASessionThatIsNotThereOpensNoScreen(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-c"}, "there is no session to continue"},
		{[]string{"-r", "nosuchname"}, "No conversation found with session ID: nosuchname"},
		{[]string{"--session-id", "odd"}, "must be a UUID"},
	} {
		r := newRig(t, fakeapi.Sequence())
		s := r.start(120, 24, c.args...)
		if code := s.end(); code != 1 {
			t.Errorf("%q: exit code %d", c.args, code)
		}
		if out := s.written(); !strings.Contains(out, c.want) {
			t.Errorf("%q: %q", c.args, out)
		}
	}
}

func TestResumeWithoutANameLetsThePersonChoose(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("The first answer."), fakeapi.Text("The second answer.")))
	s := r.start(80, 24, "say hello")
	s.waitFor("The first answer.")
	s.keys("<c-d><c-d>")
	s.end()
	s = r.start(80, 24, "go on", "-r")
	s.waitFor("Go on with a session", "say hello")
	s.keys("<enter>")
	s.waitFor("The first answer.", "❯ go on", "The second answer.")
	if body := string(r.api.Requests()[1].Body); !strings.Contains(body, "say hello") {
		t.Errorf("the prompt did not go to the chosen session: %s", body)
	}
}

func TestAFinishedMentionIsSentWithOneEnter(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("The first answer."), fakeapi.Text("The second answer.")))
	r.file("main.go", "package main\n")
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.keys("look at @main.go<enter>") // before the menu is there, or with it
	s.waitFor("The first answer.")
	s.keys("again @main.g")
	s.waitFor("main.go ", "again @main.g")
	s.keys("o<enter>")
	s.waitFor("The second answer.")
}

func TestTheTranscriptSaysWhoAllowed(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(answer(bash("touch made.txt")), answer(bash("curl example.com")), fakeapi.Text("It is done.")))
	r.homeFile(".lathe/settings.json", `{"permissions":{"deny":["Bash(curl *)"]}}`)
	s := r.start(100, 30)
	s.waitFor("manual mode")
	s.keys("make it<enter>")
	s.waitFor("Run this command?")
	s.keys("y")
	s.waitFor("It is done.")
	s.keys("<c-o>")
	text := s.waitFor("transcript · q back", "allowed by you", "denied: ")
	if strings.Contains(text, "allowed: ") || strings.Count(text, "denied: ") != 1 {
		t.Errorf("false verdicts:\n%s", text)
	}
}

func TestTheQuestionOfASubAgentNamesIt(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(
		answer(fakeapi.Call("Agent", map[string]any{"description": "make a file", "prompt": "do it", "subagent_type": "general-purpose", "run_in_background": false})),
		answer(bash("touch made.txt")), fakeapi.Text("The report."), fakeapi.Text("It is done.")))
	s := r.start(100, 30)
	s.waitFor("manual mode")
	s.keys("make it<enter>")
	s.waitFor("Run this command?", "The sub-agent general-purpose asks (make a file)")
	s.keys("y")
	s.waitFor("It is done.")
}

// The turn that started a sub-agent in the background ends while that asks: the question stays, and its answer counts.
func TestTheQuestionOfABackgroundAgentOutlivesTheTurn(t *testing.T) {
	seen := make(chan struct{})
	r := newRig(t, &fakeapi.Script{Func: func(q fakeapi.Request) *fakeapi.Answer {
		a := fakeapi.Text("It is started.")
		switch body := string(q.Body); {
		case !strings.Contains(body, `"text":"go"`): // the sub-agent
			if a = fakeapi.Text("The report."); q.LastToolResult() == "" {
				a = answer(bash("touch made.txt"))
			}
		case strings.Contains(body, "The report."):
			a = fakeapi.Text("All is done.")
		case q.LastToolResult() == "":
			a = answer(fakeapi.Call("Agent", map[string]any{"description": "a file", "prompt": "make the file", "subagent_type": "general-purpose", "run_in_background": true}))
		default:
			<-seen
		}
		return &a
	}})
	s := r.start(100, 30)
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("The sub-agent general-purpose asks (a file)")
	close(seen)
	s.waitFor("It is started.", "The sub-agent general-purpose asks (a file)")
	s.keys("y")
	s.waitFor("All is done.")
}

func TestAForkHasATitleOfItsOwn(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("The first answer."), fakeapi.Text("The second answer.")))
	s := r.start(100, 30, "say hello")
	s.waitFor("The first answer.")
	s.keys("/rename my work<enter>")
	s.waitFor("now called my work")
	s.keys("/fork<enter>")
	s.waitFor("a copy of")
	s.keys("more<enter>")
	s.waitFor("The second answer.")
	s.keys("<c-d><c-d>")
	s.end()
	s = r.start(100, 30, "-r")
	s.waitFor("Go on with a session", "my work (fork)")
}

// What a session came to stays behind on the terminal, and how to go on with it; of one without a prompt nothing does.
func TestLeavingTellsWhatItCost(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("Hello.")))
	s := r.start(100, 30)
	s.waitFor("manual mode")
	s.keys("hi<enter>")
	s.waitFor("Hello.", "manual mode")
	s.keys("<c-d><c-d>")
	s.end()
	text := s.all()
	cost, bye := strings.Index(text, "Total cost:"), strings.Index(text, "Go on with this session: lathe --resume ")
	if cost < 0 || bye < cost || !strings.Contains(text, "Usage by model:") {
		t.Errorf("it leaves behind:\n%s", text)
	}
	s = r.start(100, 30)
	s.waitFor("manual mode")
	s.keys("<c-d><c-d>")
	s.end()
	if text := s.all(); strings.Contains(text, "Total cost") {
		t.Errorf("a session without a prompt leaves behind:\n%s", text)
	}
}
