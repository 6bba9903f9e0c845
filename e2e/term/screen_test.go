//go:build unix

package term

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

var keyNames = map[string]string{
	"enter": "\r", "esc": "\x1b", "tab": "\t", "s-tab": "\x1b[Z", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
	"home": "\x1b[H", "end": "\x1b[F", "pgup": "\x1b[5~", "pgdn": "\x1b[6~", "backspace": "\x7f", "delete": "\x1b[3~", "s-enter": "\x1b[13;2u",
	"space": " ", "lt": "<",
}

func decodeKeys(text string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "<")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, ">")
		switch {
		case keyNames[name] != "":
			b.WriteString(keyNames[name])
		case strings.HasPrefix(name, "c-"):
			b.WriteByte(name[2] & 0x1f)
		case strings.HasPrefix(name, "m-"):
			b.WriteString("\x1b" + name[2:])
		default:
			panic("unknown key " + name)
		}
		text = after
	}
}

// screen is the program in a terminal.
type screen struct {
	t    testing.TB
	cmd  *exec.Cmd
	pty  *os.File
	cols int

	mu      sync.Mutex
	emu     *vt.Emulator
	raw     bytes.Buffer // all that was written
	changed chan struct{}
	ended   chan struct{}
}

// start starts the program in a terminal of a size.
func (r *rig) start(cols, rows int, args ...string) *screen {
	r.t.Helper()
	return r.launch(cols, rows, r.command(args...))
}

func (r *rig) launch(cols, rows int, cmd *exec.Cmd) *screen {
	r.t.Helper()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		r.t.Fatal(err)
	}
	s := &screen{t: r.t, cmd: cmd, pty: f, cols: cols, emu: vt.NewEmulator(cols, rows), changed: make(chan struct{}, 1), ended: make(chan struct{})}
	if r.saysSize {
		s.emu.RegisterCsiHandler('t', func(params ansi.Params) bool {
			n, _, _ := params.Param(0, 0)
			if n == 18 {
				fmt.Fprintf(f, "\x1b[8;%d;%dt", s.emu.Height(), s.emu.Width())
			}
			return n == 18
		})
	}
	go func() { // what the emulator answers
		_, _ = io.Copy(f, s.emu)
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 64<<10)
		for {
			n, err := f.Read(buf)
			if n > 0 {
				s.mu.Lock()
				_, _ = s.emu.Write(buf[:n])
				s.raw.Write(buf[:n])
				s.mu.Unlock()
				select {
				case s.changed <- struct{}{}:
				default:
				}
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		_ = cmd.Wait()
		select {
		case <-read:
		case <-time.After(time.Second): // a child may keep the terminal open
		}
		close(s.ended)
		select {
		case s.changed <- struct{}{}:
		default:
		}
	}()
	r.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-s.ended
		_ = f.Close()
	})
	return s
}

// keys types. Names in <…> are keys: <enter>, <esc>, <tab>, <up>, <c-x>, <m-x>, <s-tab>.
func (s *screen) keys(text string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(decodeKeys(text)); err != nil {
		s.t.Fatal(err)
	}
}

// write sends bytes as they are.
func (s *screen) write(b string) {
	s.t.Helper()
	if _, err := s.pty.WriteString(b); err != nil {
		s.t.Fatal(err)
	}
}

// text is what the screen shows, trailing blanks removed.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for y := range s.emu.Height() {
		b.WriteString(s.row(y) + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (s *screen) row(y int) string {
	var b strings.Builder
	for x := 0; x < s.emu.Width(); x++ {
		c := s.emu.CellAt(x, y)
		if c == nil || c.Content == "" {
			if c != nil && c.Width == 0 {
				continue // behind a wide character
			}
			b.WriteByte(' ')
			continue
		}
		b.WriteString(c.Content)
	}
	return strings.TrimRight(b.String(), " ")
}

// all is the scrollback and the screen.
func (s *screen) all() string {
	s.mu.Lock()
	var b strings.Builder
	for y := range s.emu.ScrollbackLen() {
		var row strings.Builder
		for x := 0; x < s.emu.Width(); x++ {
			c := s.emu.ScrollbackCellAt(x, y)
			if c == nil || c.Content == "" {
				if c != nil && c.Width == 0 {
					continue
				}
				row.WriteByte(' ')
				continue
			}
			row.WriteString(c.Content)
		}
		b.WriteString(strings.TrimRight(row.String(), " ") + "\n")
	}
	s.mu.Unlock()
	return b.String() + s.text()
}

// until waits until the screen fulfils a condition.
func (s *screen) until(what string, cond func(text string) bool) string {
	s.t.Helper()
	limit := time.After(patience)
	for {
		text := s.text()
		if cond(text) {
			return text
		}
		select {
		case <-s.changed:
		case <-time.After(200 * time.Millisecond): // the emulator may have been read in the middle of a picture
		case <-limit:
			s.t.Fatalf("%s: not in time. The screen:\n%s\nThe scrollback:\n%s", what, text, s.all())
		}
		select {
		case <-s.ended:
			if !cond(s.text()) {
				s.t.Fatalf("%s: the program ended. The screen:\n%s", what, s.text())
			}
		default:
		}
	}
}

// waitFor waits until the screen shows all of the texts.
func (s *screen) waitFor(texts ...string) string {
	s.t.Helper()
	return s.until(fmt.Sprintf("%q", texts), func(screen string) bool {
		words := strings.Join(strings.Fields(screen), " ")
		for _, t := range texts {
			if !strings.Contains(screen, t) && !strings.Contains(words, t) { // a text may be wrapped
				return false
			}
		}
		return true
	})
}

var clocks = regexp.MustCompile(`\(\d+s( · [↑↓] [0-9.]+k?)?`)

var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]*…?`)

var tempNames = regexp.MustCompile(`lt[0-9a-f]{8}`)

var callClocks = regexp.MustCompile(`(?m)^(▸ .*) \d+s$`)

func (s *screen) mask(text string) string {
	text = strings.NewReplacer(s.cmd.Dir, "/W", "✸", "✶", "✹", "✶", "✺", "✶", "✷", "✶").Replace(text)
	text = callClocks.ReplaceAllString(text, "$1 0s")
	text = uuids.ReplaceAllString(text, "00000000-0000-4000-8000-000000000000")
	text = tempNames.ReplaceAllString(text, "lt00000000")
	return clocks.ReplaceAllString(text, "(0s")
}

// gone waits until the screen does not show a text.
func (s *screen) gone(text string) {
	s.t.Helper()
	s.until("no "+text, func(screen string) bool { return !strings.Contains(screen, text) })
}

// resize changes the terminal's size, as a person dragging its window.
func (s *screen) resize(cols, rows int) {
	s.t.Helper()
	s.mu.Lock()
	s.makeRoom(rows)
	s.emu.Resize(cols, rows)
	s.cols = cols
	s.mu.Unlock()
	if err := pty.Setsize(s.pty, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)}); err != nil {
		s.t.Fatal(err)
	}
}

// makeRoom does what terminals do before they get lower, and the emulator does not: rows above go into the scrollback, so
// that the cursor stays on the screen. Without it the emulator cuts off the rows below.
func (s *screen) makeRoom(rows int) {
	at := s.emu.CursorPosition()
	over := at.Y + 1 - rows
	if over <= 0 {
		return
	}
	fmt.Fprintf(s.emu, "\x1b[%d;1H%s\x1b[%d;%dH", s.emu.Height(), strings.Repeat("\n", over), at.Y-over+1, at.X+1)
}

// end waits for the end of the program.
func (s *screen) end() int {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		s.t.Fatalf("the program does not end. The screen:\n%s", s.text())
	}
	return s.cmd.ProcessState.ExitCode()
}

// written is all that the program has written so far.
func (s *screen) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// golden waits until the screen is that of a file of testdata, clocks and the directory masked. UPDATE_GOLDEN=1 writes the
// file, once the screen rests.
func (s *screen) golden(name string) {
	s.t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(s.rested()), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	for limit := time.After(patience); ; {
		text := s.mask(s.text())
		if text == string(want) {
			return
		}
		select {
		case <-s.changed:
		case <-time.After(50 * time.Millisecond):
		case <-limit:
			s.t.Fatalf("%s differs (UPDATE_GOLDEN=1 writes it).\n--- want\n%s\n--- got\n%s", path, want, text)
		}
	}
}

// rested is the screen once it did not change for a while; no test depends on that.
func (s *screen) rested() string {
	last, since := s.mask(s.text()), time.Now()
	for time.Since(since) < 300*time.Millisecond {
		select {
		case <-s.changed:
		case <-time.After(30 * time.Millisecond):
		}
		if now := s.mask(s.text()); now != last {
			last, since = now, time.Now()
		}
	}
	return last
}

func (s *screen) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// settled waits for what the screen does not show.
func (s *screen) settled(cond func() bool) {
	s.t.Helper()
	for limit := time.Now().Add(patience); !cond(); {
		if time.Now().After(limit) {
			s.t.Fatalf("not in time. The screen:\n%s", s.text())
		}
		select {
		case <-s.changed:
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// stopped reports whether the program is suspended.
func (s *screen) stopped() bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "T")
}

// alt reports whether the alternate screen is shown.
func (s *screen) alt() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.emu.IsAltScreen() }

// scrollback sets how many rows are kept.
func (s *screen) scrollback(n int) { s.mu.Lock(); defer s.mu.Unlock(); s.emu.SetScrollbackSize(n) }
