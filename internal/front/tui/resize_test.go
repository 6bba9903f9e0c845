package tui

import (
	"io"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"

	"lathe/internal/front/tui/screen"
	"lathe/internal/front/tui/term"
)

func TestReflow(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want screen.Reflow
	}{
		{map[string]string{"TERM": "xterm-256color"}, screen.MayReflow},
		{map[string]string{"TERM": "xterm-256color", "VTE_VERSION": "7600"}, screen.Reflows},
		{map[string]string{"TERM": "xterm-256color", "XTERM_VERSION": "XTerm(390)"}, screen.Cuts},
		{map[string]string{"TERM": "screen-256color"}, screen.Cuts},
		{map[string]string{"TERM": "screen-256color", "TMUX": "/tmp/tmux,1,0"}, screen.Reflows},
		{map[string]string{"TERM": "alacritty"}, screen.Reflows},
		{map[string]string{"TERM": "linux"}, screen.Cuts},
	} {
		if got := reflow(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %v, want %v", c.env, got, c.want)
		}
	}
}

// TestTalk: what a terminal of 80 by 24 is asked, by what it has told.
func TestTalk(t *testing.T) {
	size := func(args ...int) term.Report { return term.Report{Kind: "size", Args: args} }
	cursor := func(args ...int) term.Report { return term.Report{Kind: "cursor", Args: args} }
	none := word{}
	for name, c := range map[string]struct {
		answers []term.Report
		last    word
		asks    screen.Question
		differs bool
	}{
		"nothing":                {nil, none, screen.NoQuestion, false},
		"the cursor alone":       {[]term.Report{cursor(5, 3)}, none, screen.CursorQuestion, false},
		"the cursor again":       {[]term.Report{cursor(5, 3), cursor(7, 3)}, word{screen.CursorQuestion, 80, 24, 7}, screen.CursorQuestion, false},
		"the size alone":         {[]term.Report{size(8, 24, 80)}, none, screen.NoQuestion, false},
		"both":                   {[]term.Report{size(8, 24, 80), cursor(5, 3)}, none, screen.SizeQuestion, false},
		"the size late":          {[]term.Report{cursor(5, 3), size(8, 24, 80)}, none, screen.SizeQuestion, false},
		"another size later":     {[]term.Report{size(8, 24, 80), cursor(5, 3), size(8, 30, 90)}, word{to: screen.SizeQuestion, cols: 90, rows: 30}, screen.SizeQuestion, true},
		"the wrong way round":    {[]term.Report{size(8, 80, 24), cursor(5, 3), size(8, 90, 30)}, word{to: screen.SizeQuestion, cols: 90, rows: 30}, screen.SizeQuestion, true},
		"a wrong size":           {[]term.Report{size(8, 25, 80), cursor(5, 3)}, none, screen.CursorQuestion, false},
		"no size":                {[]term.Report{size(8, 0, 0), cursor(5, 3)}, none, screen.CursorQuestion, false},
		"a size without numbers": {[]term.Report{size(8), size(), cursor(5, 3)}, none, screen.CursorQuestion, false},
		"pixels":                 {[]term.Report{size(4, 24, 80), cursor(5, 3)}, none, screen.CursorQuestion, false},
		"a cursor without row":   {[]term.Report{cursor()}, none, screen.NoQuestion, false},
	} {
		var k talk
		var last word
		for _, r := range c.answers {
			last = k.take(r, 80, 24)
		}
		if last != c.last || k.question() != c.asks || k.differs(80, 24) != c.differs {
			t.Errorf("%s: %v, asks %q, differs %v; want %v, %q, %v", name, last, k.question(), k.differs(80, 24), c.last, c.asks, c.differs)
		}
	}
	var square talk // says nothing of which number comes first
	square.take(size(8, 40, 40), 40, 40)
	if got := square.take(size(8, 30, 90), 90, 30); got.cols != 90 || got.rows != 30 {
		t.Errorf("behind a square size %v, want 90 by 30", got)
	}
}

// atTerminal is a screen of 80 by 24, which has greeted, and the other side of its terminal.
func atTerminal(t *testing.T) (u *ui, other io.Writer) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip("SKIPPED: no pseudo terminal: " + err.Error())
	}
	if err := pty.Setsize(master, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	tty, err := term.Open(slave, slave, term.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(io.Discard, master)
	}()
	t.Cleanup(func() {
		tty.Close()
		_ = slave.Close()
		_ = master.Close()
		<-read
	})
	u = newUI(t.Context(), Options{In: slave, Out: slave, Getenv: func(string) string { return "" }, Now: time.Now}, tty)
	u.talk.asked = time.Now().Add(time.Hour) // however slow this machine is, the answers are not too late
	return u, master
}

// TestSettle: what the terminal owes is waited for, and what is typed meanwhile is kept, in its order.
func TestSettle(t *testing.T) {
	for name, cursor := range map[string]string{"any row": "\x1b[5;3R", "the first row": "\x1b[1;3R"} {
		u, other := atTerminal(t)
		if _, err := io.WriteString(other, "a\x1b]11;rgb:0/0/0\a\x1bP>|XTerm(1)\x1b\\\x1b[8;24;80t\x1b[200~b\x1b[201~"+cursor); err != nil {
			t.Fatal(err)
		}
		u.settle(nil)
		if u.talk.question() != screen.SizeQuestion {
			t.Errorf("%s: asks %q", name, u.talk.question())
		}
		if diff := cmp.Diff([]term.Event{term.Key{Code: 'a', Text: "a"}, term.Paste{Text: "b"}}, u.kept); diff != "" {
			t.Errorf("%s: kept (-want +got):\n%s", name, diff)
		}
	}
}

// TestStepAsideDrawsNothing: an answer that tells of another size, when the region has been taken away already, brings no picture back.
func TestStepAsideDrawsNothing(t *testing.T) {
	u, other := atTerminal(t)
	if _, err := io.WriteString(other, "\x1b[8;24;80t\x1b[5;3R"); err != nil {
		t.Fatal(err)
	}
	u.settle(nil)
	u.draw()
	if !u.inline.Waits() {
		t.Fatal("nothing is asked behind a picture")
	}
	_ = u.inline.Leave()
	drawn := u.lastDraw
	if _, err := io.WriteString(other, "\x1b[8;30;90t"); err != nil {
		t.Fatal(err)
	}
	u.settle(nil)
	if u.inline.Waits() || u.resizing || u.lastDraw != drawn {
		t.Errorf("waits %v, resizing %v, drawn again %v", u.inline.Waits(), u.resizing, u.lastDraw != drawn)
	}
}

// TestSizeThatNeverMatches: a terminal that says another size than the system is believed for a while, and then asked for the cursor
// alone: it is neither waited for without end, nor painted for again and again.
func TestSizeThatNeverMatches(t *testing.T) {
	u, other := atTerminal(t)
	if _, err := io.WriteString(other, "\x1b[8;24;80t\x1b[5;3R"); err != nil {
		t.Fatal(err)
	}
	u.settle(nil)
	u.draw()
	wrong := term.Report{Kind: "size", Args: []int{8, 30, 90}}
	u.answered(wrong)
	if !u.resizing || u.talk.question() != screen.SizeQuestion {
		t.Fatal("another size is no news")
	}
	u.resizeAt = time.Now().Add(-time.Hour)
	u.resized()
	if u.resizing || u.talk.question() != screen.CursorQuestion {
		t.Fatalf("resizing %v, asks %q", u.resizing, u.talk.question())
	}
	for range 100 {
		u.answered(wrong)
		if u.resizing {
			u.resizeAt = time.Now().Add(-time.Hour)
			u.resized()
		}
	}
	u.answered(wrong)
	if u.resizing {
		t.Error("it is believed again and again")
	}
}

// TestHoldAgain: the time that answers have runs from the last size, not from the first of a drag.
func TestHoldAgain(t *testing.T) {
	u, _ := atTerminal(t)
	u.hold()
	u.resizeAt, u.confirmed = time.Time{}, true
	u.hold()
	if u.resizeAt.IsZero() || u.confirmed {
		t.Errorf("the time runs from %v, confirmed %v", u.resizeAt, u.confirmed)
	}
}

// TestSizeBehindTheTranscript: a size that came and went while the transcript stood before the inline screen has it painted anew.
func TestSizeBehindTheTranscript(t *testing.T) {
	u, _ := atTerminal(t)
	u.draw()
	u.openTranscript()
	u.hold()
	u.resized()
	if u.resizing {
		t.Fatal("the transcript waits for answers")
	}
	u.closeTranscript()
	if !u.resizing || u.moved {
		t.Errorf("resizing %v, moved %v", u.resizing, u.moved)
	}
	u.resizing = false
	u.openTranscript()
	u.closeTranscript()
	if u.resizing {
		t.Error("painted anew without a new size")
	}
}

// TestKeptKeys: what came while answers were waited for is taken by the loop, before what came later.
func TestKeptKeys(t *testing.T) {
	u, other := atTerminal(t)
	u.kept = []term.Event{term.Key{Code: 'a', Text: "a"}, term.Paste{Text: "b"}, term.Key{Code: 'c', Text: "c"}}
	if _, err := io.WriteString(other, "\x04\x1b[200~d\x1b[201~"); err != nil { // the first means nothing yet, as the line is not empty
		t.Fatal(err)
	}
	u.post(func() {})
	done := make(chan struct{})
	go func() {
		defer close(done)
		u.loop()
	}()
	for typed := ""; typed != "abcd"; {
		got := make(chan string)
		u.post(func() { got <- u.prompt.ed.Draft().Text })
		typed = <-got
	}
	u.post(func() { u.quit = true })
	<-done
}
