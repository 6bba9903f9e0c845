//go:build unix

package term

import (
	"fmt"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"lathe/internal/fakeapi"
)

// longAnswer is an answer of n numbered lines.
func longAnswer(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "- item %d of the list with some words behind it\n", i)
	}
	return b.String() + "\nThe end of it."
}

// whole fails the test unless the scrollback holds every item once, in order, and what is live once.
func whole(t *testing.T, all string, n int) {
	t.Helper()
	next := 1
	for _, l := range strings.Split(all, "\n") {
		var k int
		if _, err := fmt.Sscanf(strings.TrimSpace(strings.TrimLeft(l, "-•· ")), "item %d of", &k); err == nil {
			if k != next {
				t.Fatalf("item %d stands where item %d should", k, next)
			}
			next++
		}
	}
	if next != n+1 {
		t.Fatalf("%d items, want %d\n%s", next-1, n, all)
	}
	for _, live := range []string{"what shall be done?", "manual mode", "esc stops"} {
		if c := strings.Count(all, live); c > 1 {
			t.Errorf("%q stands there %d times:\n%s", live, c, all)
		}
	}
}

func TestTenThousandLines(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Answer{Text: longAnswer(10_000), Chunk: 400}))
	s := r.start(100, 30)
	s.scrollback(20_000)
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.until("the end", func(text string) bool {
		return strings.Contains(text, "The end of it.") && !strings.Contains(text, "esc stops")
	})
	whole(t, s.all(), 10_000)
}

// A table that comes after the screen became narrower is made for that, and nothing of it is cut off.
func TestTableOnANarrowerScreen(t *testing.T) {
	halves := []string{"Look at this.\n\n", "| file | what it is for | lines |\n|---|---|--:|\n" +
		"| internal/screen/resize.go | takes a new size of the terminal and paints | 340 |\n| b.go | 日本語 | 12 |\n\nfin.\n"}
	a := answer(fakeapi.Block{Text: halves[0] + halves[1], Chunks: halves})
	a.Faults = []fakeapi.Fault{{Kind: fakeapi.FaultStall, AfterEvents: 4}}
	r := newRig(t, fakeapi.Sequence(a))
	s := r.start(100, 40)
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("Look at this.")
	s.resize(40, 40)
	s.waitFor("manual mode opus-5-5") // the status line ends where the narrower screen does
	for r.api.Requests()[0].Sent == 4 {
		r.api.Release()
		time.Sleep(time.Millisecond)
	}
	s.waitFor("fin.", "file: internal/screen/resize.go", "what it is for: takes a new size of the", "  terminal and paints", "日本語", "lines: 340")
}

// TestResizeWhileStreaming: in terminals that say where the cursor stands, or their size too, and of which it is known, or not, that
// they do not wrap lines anew.
func TestResizeWhileStreaming(t *testing.T) {
	for _, sizes := range []bool{false, true} {
		for _, known := range []bool{false, true} {
			t.Run(fmt.Sprintf("says its size %v, known %v", sizes, known), func(t *testing.T) { resizeWhileStreaming(t, sizes, known) })
		}
	}
}

func resizeWhileStreaming(t *testing.T, sizes, known bool) {
	a := fakeapi.Answer{Text: longAnswer(300), Chunk: 60}
	a.EventDelay = fakeapi.Duration(3 * time.Millisecond)
	r := newRig(t, fakeapi.Sequence(a))
	r.saysSize = sizes
	if !known {
		r.env = append(r.env, "XTERM_VERSION=")
	}
	s := r.start(110, 30)
	s.waitFor("manual mode")
	s.keys("go<enter>")
	for i, size := range [][2]int{{90, 24}, {64, 30}, {100, 18}, {58, 34}, {120, 16}} {
		s.until("more", func(text string) bool { return strings.Contains(s.all(), fmt.Sprintf("item %d of", 40*(i+1))) })
		s.resize(size[0], size[1])
	}
	s.until("the end", func(text string) bool {
		return strings.Contains(text, "The end of it.") && strings.Contains(text, "what shall be done?")
	})
	all := s.all()
	for _, live := range []string{"what shall be done?", "type to queue", "esc stops"} {
		if c := strings.Count(all, live); c > 1 {
			t.Errorf("%q stands there %d times:\n%s", live, c, all)
		}
	}
	last := 0
	for _, l := range strings.Split(all, "\n") {
		var k int
		if _, err := fmt.Sscanf(strings.TrimSpace(strings.TrimLeft(l, "-•· ")), "item %d of", &k); err == nil {
			if k > last+1 {
				t.Fatalf("after item %d comes item %d:\n%s", last, k, all)
			}
			last = max(last, k)
		}
	}
	if last != 300 {
		t.Errorf("the last item is %d:\n%s", last, all)
	}
}

func TestLargePaste(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("Got it.")))
	s := r.start(80, 24)
	s.waitFor("manual mode")
	line := strings.Repeat("x", 99) + "\n"
	text := strings.Repeat(line, 10_500) // more than 1 MB
	go func() { s.write("look at \x1b[200~" + strings.ReplaceAll(text, "\n", "\r") + "\x1b[201~!") }()
	s.waitFor("look at [Pasted text #1 +10500 lines]!")
	s.keys("<backspace><backspace>") // the mark, whole
	s.until("no mark", func(screen string) bool { return strings.Contains(screen, "❯ look at\n") })
	s.keys("<c-_>") // undo brings it back
	s.waitFor("look at [Pasted text #1 +10500 lines]")
	s.keys("<enter>")
	s.waitFor("Got it.")
	if n := strings.Count(string(r.api.Requests()[0].Body), strings.Repeat("x", 99)); n != 10_500 {
		t.Errorf("%d lines were sent", n)
	}
}

func TestPasteSplit(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("ok")))
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.write("\x1b[200~녕\x1b[201~ ")
	s.waitFor("❯ 녕")
	for _, b := range []byte("\x1b[200~하\x1b[201~ x") {
		s.write(string([]byte{b}))
	}
	s.waitFor("❯ 녕 하 x")
}

func TestKeys(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("first answer"), fakeapi.Text("second answer")))
	r.file("src/main.go", "package main\n")
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.keys("?")
	s.waitFor("enter sends", "ctrl+r: search history")
	s.keys("<s-tab>")
	s.waitFor("accept edits on")
	s.keys("<s-tab>")
	s.waitFor("plan mode on")
	s.keys("<s-tab>")
	s.waitFor("auto mode on")
	s.keys("<s-tab>")
	s.waitFor("manual mode")
	s.keys("one<c-j>two \\<enter>three")
	s.waitFor("❯ one\n  two\n  three")
	s.keys("<c-c>")
	s.waitFor("cleared")
	s.keys("<up>")
	s.waitFor("three")
	s.keys("<esc>")
	s.waitFor("esc again clears")
	s.keys("<esc>")
	s.gone("three")
	s.keys("hello wor<c-w>there<c-a>oh <enter>")
	s.waitFor("❯ oh hello there", "first answer")
	s.keys("draft<c-s>")
	s.waitFor("put aside")
	s.keys("<c-s>")
	s.waitFor("❯ draft")
	s.keys("<c-u>/mo")
	s.waitFor("/model", "/mode")
	s.keys("<esc><c-u>look at @mai")
	s.waitFor("src/main.go")
	s.keys("<tab>")
	s.waitFor("look at @src/main.go")
	s.keys("<c-u>")
	s.keys("<c-r>")
	s.waitFor("What was sent before")
	s.keys("hello<enter>")
	s.waitFor("❯ oh hello there\n  ⏸")
	s.keys("<c-u><c-o>")
	s.waitFor("transcript · q back")
	s.keys("/first<enter>")
	s.waitFor("/first · n N")
	s.keys("q")
	s.waitFor("what shall be done?")
	s.keys("/nosuchthing<enter>")
	s.waitFor("nosuchthing", "nknown")
}

func TestWideCharacters(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("答えは「四十二」です。")))
	s := r.start(40, 20)
	s.waitFor("manual mode")
	s.keys("日本語のとても長い入力をここに書いてみます、折り返しも")
	s.waitFor("日本語")
	s.golden("wide-40")
	s.keys("<left>X")
	s.waitFor("しXも")
	s.keys("<enter>")
	s.waitFor("答えは")
}

func TestQueue(t *testing.T) {
	slow := answer(fakeapi.Block{Text: "Slow answer here.", Chunks: []string{"Slow ", "answer here."}})
	slow.Faults = []fakeapi.Fault{{Kind: fakeapi.FaultStall, AfterEvents: 4}}
	r := newRig(t, fakeapi.Sequence(slow, fakeapi.Text("The next.")))
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("Slow")
	s.keys("and then this<enter>")
	s.waitFor("⧗ and then this")
	s.keys("<up>")
	s.waitFor("❯ and then this\n")
	s.gone("⧗")
	s.keys("<enter>")
	s.waitFor("⧗ and then this")
	s.keys("<esc>") // stops, and what waits is sent
	s.waitFor("Interrupted", "The next.")
}

func TestShellMode(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("I see it.")))
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.keys("!echo from-$((40+2)) && pwd<enter>")
	s.waitFor("! echo from", "from-42", r.dir)
	s.gone("▸ ! echo") // it has ended
	if len(r.api.Requests()) != 0 {
		t.Error("the model was called")
	}
	s.keys("did you see it?<enter>")
	s.waitFor("I see it.")
	if body := string(r.api.Requests()[0].Body); !strings.Contains(body, "from-42") {
		t.Errorf("the output is not in the conversation:\n%s", body)
	}
	s.keys("!sleep 60<enter>")
	s.waitFor("▸ ! sleep 60")
	s.keys("<esc>")
	s.waitFor("stopped by the user")
}

func TestFullscreen(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text(longAnswer(100)), fakeapi.Text("Again.")))
	s := r.start(80, 24, "--fullscreen")
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("The end of it.", "what shall be done?")
	if !s.alt() {
		t.Error("it is not on the alternate screen")
	}
	s.keys("<pgup><pgup>")
	s.gone("The end of it.")
	s.write("\x1b[<65;3;3M\x1b[<65;3;3M\x1b[<65;3;3M\x1b[<65;3;3M\x1b[<65;3;3M\x1b[<65;3;3M\x1b[<65;3;3M\x1b[<65;3;3M\x1b[<65;3;3M")
	s.waitFor("The end of it.")
	s.resize(50, 20)
	s.waitFor("The end of it.", "what shall be done?")
	s.keys("/tui inline<enter>")
	s.until("inline", func(text string) bool { return !s.alt() && strings.Contains(text, "The end of it.") })
	s.keys("more<enter>")
	s.waitFor("Again.")
}

// restored fails the test unless every mode that was switched on is off.
func restored(t *testing.T, s *screen) {
	t.Helper()
	raw := s.written()
	for on, off := range map[string]string{"\x1b[?2004h": "\x1b[?2004l", "\x1b[?1004h": "\x1b[?1004l", "\x1b[>1u": "\x1b[<u", "\x1b[?25l": "\x1b[?25h", "\x1b[?1049h": "\x1b[?1049l", "\x1b[?1000h": "\x1b[?1000l"} {
		if i := strings.LastIndex(raw, on); i >= 0 && strings.LastIndex(raw, off) < i {
			t.Errorf("%q was switched on and not off", on)
		}
	}
}

func TestEndings(t *testing.T) {
	for name, end := range map[string]func(s *screen){
		"quit":   func(s *screen) { s.keys("/exit<enter>") },
		"term":   func(s *screen) { s.signal(syscall.SIGTERM) },
		"hup":    func(s *screen) { s.signal(syscall.SIGHUP) },
		"killed": func(s *screen) { s.signal(syscall.SIGKILL) },
		"ctrl+c": func(s *screen) { s.keys("<c-c><c-c>") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "hup" && signal.Ignored(syscall.SIGHUP) {
				t.Skip("SKIPPED: these tests run under nohup, whose children do not end when the terminal goes")
			}
			r := newRig(t, fakeapi.Sequence())
			args := []string{}
			if name == "term" || name == "killed" {
				args = append(args, "--fullscreen")
			}
			s := r.start(80, 24, args...)
			s.waitFor("manual mode")
			end(s)
			s.end()
			s.settled(func() bool { return strings.Contains(s.written(), "\x1b[?2004l") })
			restored(t, s)
		})
	}
}

func TestSuspend(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("Back again.")))
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.keys("draft")
	s.waitFor("❯ draft")
	s.keys("<c-z>")
	s.settled(func() bool { return s.stopped() && strings.Contains(s.written(), "\x1b[?2004l") })
	restored(t, s)
	s.signal(syscall.SIGCONT)
	s.settled(func() bool { return strings.Count(s.written(), "\x1b[?2004h") == 2 })
	s.waitFor("❯ draft")
	s.keys("<c-u>go<enter>")
	s.waitFor("Back again.")
}

func TestDraftSurvives(t *testing.T) {
	r := newRig(t, fakeapi.Sequence())
	s := r.start(80, 24)
	s.waitFor("manual mode")
	s.keys("a thought that must not be lost")
	s.waitFor("not be lost")
	s.settled(func() bool { return len(r.drafts()) == 1 })
	s.signal(syscall.SIGKILL)
	s.end()
	s = r.start(80, 24)
	s.waitFor("❯ a thought that must not be lost")
}

func TestDumbTerminal(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(answer(bash("touch a")), fakeapi.Text("Plain answer.")))
	cmd := r.command()
	cmd.Env = append(cmd.Env, "TERM=dumb")
	s := r.launch(80, 40, cmd)
	s.waitFor("Ready. Model")
	s.keys("go<enter>")
	s.waitFor("Run this command?", "Type yes")
	s.keys("yes<enter>")
	s.waitFor("Plain answer.", "Waiting for you.")
	s.keys("/exit<enter>")
	s.end()
	if strings.Contains(s.written(), "\x1b") {
		t.Errorf("escape sequences were written: %q", s.written())
	}
}

func TestNoColor(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("**bold** and `code`")))
	cmd := r.command()
	cmd.Env = append(cmd.Env, "NO_COLOR=1")
	s := r.launch(80, 24, cmd)
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("bold and `code`")
	if raw := s.written(); regexp.MustCompile(`\x1b\[([0-9;]*;)?([349][0-7]|[34]8;[0-9;]*)m`).MatchString(raw) {
		t.Errorf("colours were written: %q", raw)
	}
}

func TestVimAndBindings(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("Bound.")))
	r.homeFile(".claude/settings.json", `{"editorMode": "vim", "theme": "light"}`)
	r.homeFile(".claude/keybindings.json", `{"bindings": [{"context": "Chat", "bindings": {"ctrl+t": "command:cost", "alt+m": "chat:cycleMode"}}]}`)
	s := r.start(80, 24)
	s.waitFor("INSERT", "manual mode")
	s.keys("one two three<esc>")
	s.waitFor("NORMAL")
	s.keys("bdw0x")
	s.waitFor("❯ ne two")
	s.keys("A!<enter>")
	s.waitFor("❯ ne two !", "Bound.")
	s.keys("<m-m>")
	s.waitFor("accept edits on")
	s.keys("<c-t>")
	s.waitFor("Total cost")
}

func TestPickers(t *testing.T) {
	r := newRig(t, fakeapi.Sequence(fakeapi.Text("First talk."), fakeapi.Text("Second talk.")))
	s := r.start(80, 30)
	s.waitFor("manual mode")
	s.keys("talk of apples<enter>")
	s.waitFor("First talk.")
	s.keys("/clear<enter>")
	s.gone("First talk of")
	s.keys("talk of pears<enter>")
	s.waitFor("Second talk.")
	s.keys("/resume<enter>")
	s.waitFor("Go on with a session", "just now")
	s.keys("apples")
	s.waitFor("just now · talk of apples")
	s.keys("<enter>")
	s.waitFor("Resumed")
	s.keys("/model<enter>")
	s.waitFor("Model", "haiku")
	s.keys("haiku<enter>")
	s.waitFor("haiku-")
	s.keys("/theme<enter>")
	s.waitFor("Colours", "light-daltonized")
	s.keys("<esc>")
	s.gone("Colours")
	s.keys("/context<enter>")
	s.waitFor("tokens")
	s.keys("/rewind<enter>")
	s.waitFor("Go back to before which prompt?", "talk of apples")
	s.keys("<enter>")
	s.waitFor("Go back to before this prompt?")
	s.keys("c")
	s.waitFor("Went back.", "❯ talk of apples")
}
