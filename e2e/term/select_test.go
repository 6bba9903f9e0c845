//go:build unix

package term

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"lathe/internal/fakeapi"
)

// at finds a text on the screen: its first cell and the one behind it, where all before it is as wide as it has characters.
func (s *screen) at(text string) (x, y, end int) {
	s.t.Helper()
	for y, row := range strings.Split(s.text(), "\n") {
		if i := strings.Index(row, text); i >= 0 {
			x := utf8.RuneCountInString(row[:i])
			return x, y, x + utf8.RuneCountInString(text)
		}
	}
	s.t.Fatalf("no %q on the screen:\n%s", text, s.text())
	return 0, 0, 0
}

func (s *screen) mouse(button, x, y int, final string) {
	s.write(fmt.Sprintf("\x1b[<%d;%d;%d%s", button, x+1, y+1, final))
}

// clipboard is what was copied last.
func (s *screen) clipboard() string {
	raw := s.written()
	i := strings.LastIndex(raw, "\x1b]52;c;")
	if i < 0 {
		return ""
	}
	data, _, _ := strings.Cut(raw[i+len("\x1b]52;c;"):], "\a")
	text, _ := base64.StdEncoding.DecodeString(data)
	return string(text)
}

// TestSelect marks text with the mouse on the whole screen: what is copied has no line breaks of wrapping, and reaches over what
// has scrolled off.
func TestSelect(t *testing.T) {
	item := "- an item that is long enough to be wrapped on a screen of fifty columns, even twice, and has `code words` in it"
	text := "The beginning of it is here.\n\n" + item + "\n- a short one\n\n```\nfunc main() {\n    run()\n}\n```\n\n" + longAnswer(30) + "\n\nThe very end."
	r := newRig(t, fakeapi.Sequence(fakeapi.Text(text)))
	s := r.start(50, 24, "--fullscreen")
	s.waitFor("manual mode")
	s.keys("go<enter>")
	s.waitFor("The very end.", "what shall be done?")
	s.write("\x1b[1;5H") // ctrl+home
	s.waitFor("The beginning of it", "run()")

	x, y, _ := s.at("item that")
	_, y2, end := s.at("short one")
	s.mouse(0, x, y, "M")
	s.mouse(32, x+3, y+1, "M")
	s.mouse(32, end-1, y2, "M")
	s.mouse(0, end-1, y2, "m")
	s.waitFor("copied to the clipboard: 2 lines")
	want := strings.ReplaceAll(strings.TrimPrefix(item, "- an "), "`", "") + "\n• a short one"
	if got := s.clipboard(); got != want {
		t.Errorf("copied:\n%q\nwant:\n%q", got, want)
	}
	_, y, _ = s.at("func main")
	_, y2, _ = s.at("run()")
	s.mouse(0, 0, y2+1, "M") // upwards
	s.mouse(32, 0, y, "M")
	s.mouse(0, 0, y, "m")
	s.settled(func() bool { return s.clipboard() == "func main() {\n    run()\n}" })

	x, y, _ = s.at("columns")
	click := fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%[1]d;%[2]dm", x+3, y+1)
	for n := 0; s.clipboard() != "columns,"; n++ { // two clicks mark a word; on a busy machine they may come too slowly
		if n == 100 {
			t.Fatalf("two clicks copied %q", s.clipboard())
		}
		s.write(click + click)
		select {
		case <-s.changed:
		case <-time.After(time.Second):
		}
	}

	s.write("\x1b[1;2C\x1b[1;2C\x1b[1;2C\x1b[1;2C\x1b[1;2C\x1b[1;2D\x1b[67;6u") // shift+right, five times, and back once; ctrl+shift+c
	s.settled(func() bool { return s.clipboard() == "columns, eve" })

	x, y, _ = s.at("beginning")
	s.mouse(0, x, y, "M")
	s.mouse(32, x, 30, "M") // below the view it scrolls, up to the end
	s.waitFor("The very end.")
	_, y, end = s.at("very end")
	s.mouse(32, end-1, y, "M")
	s.mouse(0, end-1, y, "m")
	s.settled(func() bool {
		got := s.clipboard()
		return strings.HasPrefix(got, "beginning of it is here.\n\n• an item") && strings.HasSuffix(got, "The very end") && strings.Contains(got, "item 17 of")
	})
}
