//go:build unix

package term

import (
	"strings"
	"testing"
	"time"

	"lathe/internal/fakeapi"
)

// A template of resources is completed up to where the person goes on; a prompt of a server tells what it takes, word by word.
func TestTemplatesAndPromptsOfServers(t *testing.T) {
	r := askerRig(t, fakeapi.Sequence(fakeapi.Text("Hello."), fakeapi.Text("Cooked."), fakeapi.Text("Ordered.")))
	s := r.start(100, 24)
	s.waitFor("manual mode")
	s.keys("hello<enter>") // the first turn waits for the server
	s.waitFor("Hello.", "what shall be done?")
	s.keys("cook @asker:rec")
	s.waitFor("asker:recipe://", "{dish} How a dish is made")
	s.keys("<tab>")
	s.waitFor("❯ cook @asker:recipe://\n")
	s.keys("soup<enter>")
	s.waitFor("Cooked.")
	if body := string(r.api.Requests()[1].Body); !strings.Contains(body, "Take recipe://soup") {
		t.Errorf("the resource was not sent: %s", body)
	}
	s.keys("/mcp__")
	s.waitFor("/mcp__asker__order", "dish [drink] Orders a dish")
	s.keys("<tab>")
	s.waitFor("mcp__asker__order takes dish [drink], now dish")
	s.keys("stew ")
	s.waitFor("mcp__asker__order takes dish [drink], now [drink]")
	s.keys("tea<enter>")
	s.waitFor("Ordered.")
	if body := string(r.api.Requests()[2].Body); !strings.Contains(body, "dish:stew") || !strings.Contains(body, "drink:tea") {
		t.Errorf("the prompt was not sent: %s", body)
	}
}

// Sub-agents are offered behind @, and what is chosen is told to the model.
func TestMentionOfAgent(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("Handed over.")))
	r.file(".claude/agents/tester.md", "---\nname: tester\ndescription: Runs the tests of the project\n---\nRun them.\n")
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.keys("@agent-te")
	s.waitFor("❯ agent-tester", "Runs the tests")
	s.keys("<tab>check it<enter>")
	s.waitFor("Handed over.")
	if body := string(r.api.Requests()[0].Body); !strings.Contains(body, "The user names the sub-agent tester") {
		t.Errorf("the model was not told: %s", body)
	}
}

// The user's own command completes files, and is given what was typed.
func TestOwnFileSuggestion(t *testing.T) {
	r := newRig(t, fakeapi.Sequence())
	r.homeFile(".claude/settings.json", `{"fileSuggestion": {"type": "command", "command": "cat > asked; echo made/by-command.go; echo other.md"}}`)
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.write("\x1b[200~see @zz\x1b[201~") // at once: each key would run the command
	s.waitFor("made/by-command.go", "other.md")
	s.settled(func() bool { return strings.Contains(r.read("asked"), `"query":"zz"`) })
	s.keys("<tab>")
	s.waitFor("❯ see @made/by-command.go\n")
}

// A question on the side is answered while a turn runs, without tools, and stays out of the conversation.
func TestBtw(t *testing.T) {
	slow := answer(fakeapi.Block{Text: "Half. Whole.", Chunks: []string{"Half. ", "Whole."}})
	slow.Faults = []fakeapi.Fault{{Kind: fakeapi.FaultStall, AfterEvents: 4}}
	r := newRig(t, fakeapi.Sequence(slow, fakeapi.Text("It was called --verbose."), fakeapi.Text("Later.")))
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("Half.")
	s.keys("/btw what was that flag?<enter>")
	s.waitFor("asked on the side")
	for len(r.api.Requests()) < 2 || r.api.Requests()[0].Sent == 4 {
		if len(r.api.Requests()) > 1 {
			r.api.Release()
		}
		time.Sleep(time.Millisecond)
	}
	s.waitFor("Whole.", "btw what was that flag?", "It was called --verbose.")
	if body := string(r.api.Requests()[1].Body); !strings.Contains(body, "what was that flag?") || strings.Contains(body, `"tools"`) {
		t.Errorf("the side question was %s", body)
	}
	s.waitFor("what shall be done?")
	s.keys("go on<enter>")
	s.waitFor("Later.")
	if body := string(r.api.Requests()[2].Body); strings.Contains(body, "that flag") || strings.Contains(body, "--verbose") {
		t.Errorf("the side question is in the conversation: %s", body)
	}
}
