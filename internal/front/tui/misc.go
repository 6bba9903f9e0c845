package tui

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"lathe/internal/event"
	"lathe/internal/front/tui/width"
)

func splitLines(s string) []string { return strings.Split(strings.TrimRight(s, "\n"), "\n") }

// newID makes a uuid of version 4.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// attention calls for the person when the terminal's window is not the one in front.
func (u *ui) attention(text string) {
	if u.focused || u.session == nil {
		return
	}
	text = width.Inert(text)
	switch u.session.Settings.Notify {
	case "notifications_disabled":
	case "iterm2", "ghostty":
		u.raw("\x1b]9;" + text + "\a")
	case "iterm2_with_bell":
		u.raw("\x1b]9;" + text + "\a\a")
	case "kitty":
		u.raw("\x1b]99;;" + text + "\x1b\\")
	case "terminal_bell":
		u.raw("\a")
	default:
		switch u.o.Getenv("TERM_PROGRAM") {
		case "iTerm.app", "ghostty", "WezTerm":
			u.raw("\x1b]9;" + text + "\a")
		default:
			u.raw("\a")
		}
	}
}

// raw writes what changes nothing on the screen.
func (u *ui) raw(s string) { _, _ = io.WriteString(u.tty, s) }

// suspend stops the program as Ctrl+Z does.
func (u *ui) suspend() {
	u.stepAside()
	err := u.tty.Suspend()
	u.back()
	if err != nil {
		u.hint = err.Error()
	}
}

func (u *ui) redraw() {
	if u.full != nil {
		u.full.resize(u.cols, u.rows)
		return
	}
	_ = u.inline.Redraw()
}

// background sends the newest call that runs to the background.
func (u *ui) background() {
	if len(u.work.tools) == 0 {
		u.hint = "nothing runs that can go on in the background"
		return
	}
	id := u.work.tools[len(u.work.tools)-1].id
	u.query("background_tasks", map[string]any{"tool_use_id": id}, func(r event.Reply) {
		var v struct {
			Done *bool `json:"backgrounded"`
		}
		_ = json.Unmarshal(r.Value, &v)
		switch {
		case r.Err != "":
			u.hint = r.Err
		case v.Done != nil && !*v.Done:
			u.hint = "this call cannot go on in the background"
		default:
			u.hint = "goes on in the background · /tasks"
		}
	})
}
