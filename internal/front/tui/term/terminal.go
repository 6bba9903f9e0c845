package term

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"

	xterm "golang.org/x/term"
)

// escapeWait is how long a lone Esc waits for the rest of a sequence.
const escapeWait = 40 * time.Millisecond

// modesOn switches on what every screen needs: bracketed paste, focus reports, keys that say all of their modifiers.
// modesOff undoes all that any of our screens may have switched on; it is safe to write twice.
const (
	modesOn  = "\x1b[?2004h\x1b[?1004h\x1b[>1u\x1b[>4;1m"
	modesOff = "\x1b[?2026l\x1b[<u\x1b[>4m\x1b[?1004l\x1b[?2004l\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[?7h\x1b[m\x1b[?25h"
	altOff   = "\x1b[?1049l"
)

// Terminal is a terminal in raw mode.
type Terminal struct {
	in, out *os.File
	saved   *xterm.State
	plain   bool // a terminal that knows no escape sequences
	alt     bool
	events  chan Event
	reader  *reader
	guard   *guard
	stop    func()
	once    sync.Once
	mu      sync.Mutex
}

// Options say how a terminal is opened.
type Options struct {
	Plain bool // no escape sequences at all
}

// Is reports whether both are terminals.
func Is(in io.Reader, out io.Writer) bool {
	i, ok := in.(*os.File)
	o, ok2 := out.(*os.File)
	return ok && ok2 && xterm.IsTerminal(int(i.Fd())) && xterm.IsTerminal(int(o.Fd()))
}

// Open brings the terminal into raw mode and begins to read.
func Open(in, out *os.File, o Options) (*Terminal, error) {
	t := &Terminal{in: in, out: out, plain: o.Plain, events: make(chan Event, 64)}
	state, err := xterm.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	t.saved = state
	t.write(t.on())
	t.reader = startReader(in, t.events)
	t.stop = watchSize(t)
	return t, nil
}

// Protect starts the guard process, whose command is given. It takes a few milliseconds, so it comes after the first
// picture.
func (t *Terminal) Protect(command ...string) {
	if !t.plain {
		t.guard = startGuard(command, t.in, t.out)
	}
}

func (t *Terminal) on() string {
	if t.plain {
		return ""
	}
	return modesOn
}

// Events are what comes from the terminal.
func (t *Terminal) Events() <-chan Event { return t.events }

// Size is the terminal's size; 80 by 24 where it does not say.
func (t *Terminal) Size() (width, height int) {
	w, h, err := xterm.GetSize(int(t.out.Fd()))
	if err != nil || w <= 0 || h <= 0 {
		return 80, 24
	}
	return w, h
}

// Write writes to the terminal.
func (t *Terminal) Write(p []byte) (int, error) { return t.out.Write(p) }

func (t *Terminal) write(s string) {
	if s != "" {
		_, _ = io.WriteString(t.out, s)
	}
}

// Alt changes to the alternate screen with mouse reports, and back.
func (t *Terminal) Alt(on, mouse bool) {
	if t.plain {
		return
	}
	t.mu.Lock()
	t.alt = on
	t.mu.Unlock()
	var b strings.Builder
	if on {
		b.WriteString("\x1b[?1049h\x1b[H\x1b[2J\x1b[>1u")
	}
	if on && mouse {
		b.WriteString("\x1b[?1000h\x1b[?1002h\x1b[?1006h")
	}
	if !on {
		b.WriteString("\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[<u" + altOff)
	}
	t.write(b.String())
}

// Mouse switches mouse reports on or off.
func (t *Terminal) Mouse(on bool) {
	if on {
		t.write("\x1b[?1000h\x1b[?1002h\x1b[?1006h")
		return
	}
	t.write("\x1b[?1006l\x1b[?1002l\x1b[?1000l")
}

func (t *Terminal) off() {
	t.mu.Lock()
	alt := t.alt
	t.mu.Unlock()
	if !t.plain {
		if alt {
			t.write("\x1b[<u" + altOff)
		}
		t.write(modesOff)
	}
	_ = xterm.Restore(int(t.in.Fd()), t.saved)
}

// Close restores the terminal. It may be called from any goroutine, more than once.
func (t *Terminal) Close() {
	t.once.Do(func() {
		t.off()
		t.stop()
		t.reader.close()
		t.guard.dismiss()
	})
}

// Lend gives the terminal to f, another program, in the state in which it was found, and takes it back afterwards.
func (t *Terminal) Lend(f func() error) error {
	t.reader.close()
	t.off()
	err := f()
	_, _ = xterm.MakeRaw(int(t.in.Fd()))
	t.mu.Lock()
	alt := t.alt
	t.mu.Unlock()
	t.write(t.on())
	if alt {
		t.Alt(true, true)
	}
	w, h := t.Size()
	select { // whoever called us is the one who reads them
	case t.events <- Resize{w, h}:
	default:
	}
	t.reader = startReader(t.in, t.events)
	return err
}
