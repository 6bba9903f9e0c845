//go:build unix

package term

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lathe/internal/fakeapi"
)

func TestPlanDialog(t *testing.T) {
	script := func() *fakeapi.Script {
		return fakeapi.Sequence(answer(fakeapi.Call("ExitPlanMode", map[string]any{"plan": "# The plan\n\n1. Read `a.txt`\n2. Change it"})), fakeapi.Text("Off we go."))
	}
	at(t, script, func(r *rig, s *screen, name func(string) string) {
		s.keys("<s-tab><s-tab>")
		s.waitFor("plan mode on")
		s.keys("go<enter>")
		s.waitFor("Carry out this plan?", "The plan", "Yes, and ask about each edit")
		s.golden(name("plan"))
		s.keys("2")
		s.waitFor("Off we go.", "manual mode")
	})
}

func TestPlanEditedAndRefused(t *testing.T) {
	plan := func(text string) fakeapi.Answer {
		return answer(fakeapi.Call("ExitPlanMode", map[string]any{"plan": text}))
	}
	r := newRig(t, fakeapi.Sequence(plan("Paint it red"), plan("Paint it green"), fakeapi.Text("Off we go.")))
	r.env = append(r.env, "EDITOR=fake-editor")
	s := r.start(80, 30, "--permission-mode", "plan")
	s.waitFor("plan mode on")
	s.keys("go<enter>")
	s.waitFor("Carry out this plan?")
	s.keys("<down><down><tab>blue instead<enter>")
	s.waitFor("Carry out this plan?", "Paint it green")
	if body := string(r.api.Requests()[1].Body); !strings.Contains(body, "blue instead") {
		t.Errorf("the comment was not sent:\n%s", body)
	}
	s.keys("<c-g>")
	s.waitFor("Paint it green EDITED")
	s.keys("y")
	s.waitFor("Off we go.")
	if body := string(r.api.Requests()[2].Body); !strings.Contains(body, "Paint it green EDITED") {
		t.Errorf("the changed plan was not sent:\n%s", body)
	}
}

func TestDraggedImage(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("A dot.")))
	png, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		t.Fatal(err)
	}
	r.file("a dot.png", string(png))
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.write("what is \x1b[200~" + strings.ReplaceAll(filepath.Join(r.dir, "a dot.png"), " ", `\ `) + "\x1b[201~")
	s.waitFor("❯ what is [Image #1]")
	s.keys("?<enter>")
	s.waitFor("A dot.")
	if body := string(r.api.Requests()[0].Body); !strings.Contains(body, `"image/png"`) {
		t.Errorf("no image was sent:\n%s", body)
	}
}

func TestStatusLineCommand(t *testing.T) {
	const line = `{"statusLine": {"type": "command", "command": "grep -o claude-[a-z]* | head -1; printf 'cols \\033[31m%s\\033[0m' $COLUMNS"}}`
	t.Run("user", func(t *testing.T) {
		r := newRig(t, fakeapi.Sequence())
		r.homeFile(".claude/settings.json", line)
		s := r.start(80, 24)
		s.waitFor("manual mode", "claude-opus", "cols 80")
	})
	t.Run("untrusted", func(t *testing.T) {
		r := newRig(t, fakeapi.Sequence(fakeapi.Text("Hi.")))
		r.file(".claude/settings.json", strings.Replace(line, "grep", "touch ran; grep", 1))
		s := r.start(80, 30)
		s.waitFor("Do you trust this folder?", "statusLine")
		s.keys("n")
		s.waitFor("manual mode")
		s.keys("hello<enter>")
		s.waitFor("Hi.", "ctx")
		if _, err := os.Stat(filepath.Join(r.dir, "ran")); err == nil {
			t.Error("the status line of a folder without trust ran")
		}
	})
	t.Run("trusted", func(t *testing.T) {
		r := newRig(t, fakeapi.Sequence())
		r.file(".claude/settings.json", line)
		s := r.start(80, 30)
		s.waitFor("Do you trust this folder?")
		s.keys("y")
		s.waitFor("cols 80")
	})
}

func TestNotifications(t *testing.T) {
	for channel, want := range map[string]string{"terminal_bell": "\a", "iterm2": "\x1b]9;Lathe is done\a", "kitty": "\x1b]99;;Lathe is done\x1b\\", "notifications_disabled": ""} {
		t.Run(channel, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, fakeapi.Sequence(fakeapi.Text("One."), fakeapi.Text("Two.")))
			r.homeFile(".claude/settings.json", `{"preferredNotifChannel": "`+channel+`"}`)
			s := r.start(80, 24)
			s.waitFor("manual mode")
			s.keys("go<enter>")
			s.waitFor("One.", "ctx")
			before := len(s.written())
			if strings.Contains(s.written(), "Lathe is done") {
				t.Error("the person was called while the window was in front")
			}
			s.write("\x1b[O") // another window is in front
			s.keys("more<enter>")
			s.waitFor("Two.")
			s.settled(func() bool { return want == "" || strings.Contains(s.written()[before:], want) })
			if after := s.written()[before:]; want == "" && strings.Contains(after, "Lathe is done") {
				t.Errorf("it was called: %q", after)
			}
		})
	}
}

func TestMemoryEditor(t *testing.T) {
	r := newRig(t, fakeapi.Sequence())
	r.file("CLAUDE.md", "Be brief.\n")
	r.env = append(r.env, "EDITOR=fake-editor")
	s := r.start(100, 24)
	s.waitFor("manual mode")
	s.keys("/memory<enter>")
	s.waitFor("Edit which instructions?", "project:")
	s.keys("project<enter>")
	s.waitFor("Saved")
	if got := r.read("CLAUDE.md"); got != "Be brief. EDITED\n" {
		t.Errorf("the file holds %q", got)
	}
}

func TestTasks(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(answer(fakeapi.Call("Bash", map[string]any{"command": "echo begun; sleep 60", "run_in_background": true})), fakeapi.Text("It runs.")))
	r.homeFile(".claude/settings.json", `{"permissions": {"allow": ["Bash"]}}`)
	s := r.start(80, 30)
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("It runs.")
	s.keys("/tasks<enter>")
	s.waitFor("In the background", "echo begun; sleep 60", "running")
	s.keys("<enter>")
	s.waitFor("Output of", "begun", "Back")
	s.keys("1")
	s.waitFor("In the background")
	s.keys("<c-x>")
	s.waitFor("stopped: echo begun")
}

func TestToBackground(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(answer(bash("echo begun; sleep 60")), fakeapi.Text("Meanwhile.")))
	r.homeFile(".claude/settings.json", `{"permissions": {"allow": ["Bash"]}}`)
	s := r.start(80, 30)
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("▸ Bash", "\n  begun")
	s.keys("<c-b>")
	s.waitFor("Meanwhile.")
}

func TestTodoKey(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(answer(fakeapi.Call("TodoWrite", map[string]any{"todos": []map[string]any{
		{"content": "Lay bricks", "status": "in_progress", "activeForm": "Laying bricks"}, {"content": "Paint", "status": "pending", "activeForm": "Painting"},
	}})), fakeapi.Text("Listed.")))
	s := r.start(40, 30)
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("to-do list of 2 items\n  ▸ Lay bricks\n  ☐ Paint", "Listed.", "ctx")
	s.keys("<c-t>")
	s.waitFor("Listed.\n\n  ▸ Lay bricks\n  ☐ Paint") // behind the conversation, which has it too
	s.keys("<c-t>")
	s.gone("Listed.\n\n  ▸ Lay bricks")
}

func TestCompactFromInside(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("First answer."), fakeapi.Text("A summary of it all."), fakeapi.Text("Third.")))
	s := r.start(80, 40)
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("First answer.")
	s.keys("/compact preview<enter>")
	s.waitFor("tokens")
	if n := len(r.api.Requests()); n != 1 {
		t.Errorf("the preview made %d requests", n-1)
	}
	s.keys("/compact<enter>")
	s.waitFor("compacted")
	s.keys("/compact undo<enter>")
	s.waitFor("is undone")
	s.keys("again<enter>")
	s.waitFor("Third.")
	reqs := r.api.Requests()
	if body := string(reqs[len(reqs)-1].Body); !strings.Contains(body, "First answer.") {
		t.Errorf("the compaction was not taken back:\n%s", body)
	}
	if n := strings.Count(s.all(), "The conversation was compacted."); n != 1 {
		t.Errorf("compacted and taken back, it says %d times that it was compacted:\n%s", n, s.all())
	}
}

// Alt+O offers fast mode with its prices; the choice is kept for later sessions, and shown in the status line.
func TestFastMode(t *testing.T) {
	script := func() *fakeapi.Script { return fakeapi.Sequence(fakeapi.Text("Quickly."), fakeapi.Text("Slowly.")) }
	at(t, script, func(r *rig, s *screen, name func(string) string) {
		s.waitFor("manual mode")
		s.keys("<m-o>")
		s.waitFor("Fast mode", "› on", "now ·")
		s.golden(name("fast"))
		s.keys("<enter>")
		s.waitFor("Fast mode is on", "↯ fast")
		s.keys("go<enter>")
		s.waitFor("Quickly.")
		if body := string(r.api.Requests()[0].Body); !strings.Contains(body, `"speed":"fast"`) {
			t.Errorf("fast mode is not asked for:\n%s", body)
		}
		s.keys("/fast off<enter>")
		s.waitFor("Fast mode is off")
		s.gone("↯ fast")
		s.keys("go on<enter>")
		s.waitFor("Slowly.")
		if body := string(r.api.Requests()[1].Body); strings.Contains(body, `"speed"`) {
			t.Errorf("fast mode is asked for:\n%s", body)
		}
		s.keys("/model sonnet<enter>")
		s.waitFor("Model set to")
		s.keys("<m-o>")
		s.waitFor("has no fast mode")
	})
}

func TestKeysOfAgentsAndThinking(t *testing.T) {
	r := newRig(t, fakeapi.Sequence())
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.keys("<c-x><c-k>")
	s.waitFor("ctrl+x ctrl+k again stops")
	s.keys("<c-x><c-k>")
	s.waitFor("no agent works in the background")
	s.keys("<m-t>")
	s.waitFor("thinking")
	s.keys("/effort<enter>")
	s.waitFor("Effort", "high")
	s.keys("<esc>")
	s.gone("type to search")
}
