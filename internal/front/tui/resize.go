package tui

import (
	"strings"
	"time"

	"lathe/internal/front/tui/screen"
	"lathe/internal/front/tui/term"
)

const (
	// resizeWait is how long a new size must last before the screen is painted for it.
	resizeWait = 50 * time.Millisecond
	// answerWait is how long the terminal may take to say what it has drawn, and where, before the screen is painted without
	// knowing.
	answerWait = 600 * time.Millisecond
	// answerPoll is how often that is looked at.
	answerPoll = 10 * time.Millisecond
)

// greeting asks the terminal for the colour of its background, its name, its size, and where the cursor stands: those that it
// answers, it is asked again behind pictures.
const greeting = "\x1b]11;?\a\x1b[>q" + string(screen.SizeQuestion) + string(screen.CursorQuestion)

// hold stops drawing until the terminal's size is settled: what is drawn meanwhile would be made for the old one.
func (u *ui) hold() {
	if !u.resizing {
		u.resizing, u.resizeAt = true, time.Now()
	}
	if u.full == nil {
		_ = u.inline.SizeChanges()
	}
	u.confirmed = false
	u.resize.Reset(resizeWait)
}

// resized paints for the new size, once it has lasted and it is known what became of what was on its way.
func (u *ui) resized() {
	cols, rows := u.tty.Size()
	late := u.asksSize && u.told != [2]int{cols, rows} // the terminal has another size than the system says
	if u.full == nil && time.Since(u.resizeAt) < answerWait {
		switch {
		case late || u.inline.Waits():
			u.resize.Reset(answerPoll)
			return
		case !u.confirmed: // the shorter the time from the last answer to the picture, the better
			u.confirmed = true
			if err := u.inline.SizeChanges(); err != nil {
				u.quit = true
			}
			u.resize.Reset(answerPoll)
			return
		}
	}
	if late && u.full == nil { // it means something else, or does not answer
		u.asks(screen.CursorQuestion)
	}
	u.resizing = false
	u.resize.Stop()
	u.cols, u.rows = cols, rows
	u.relay()
	if u.full != nil {
		u.full.resize(u.cols, u.rows)
	} else if err := u.inline.Resize(u.cols, u.rows); err != nil {
		u.quit = true
	}
	u.draw()
}

// asks sets what is asked behind pictures.
func (u *ui) asks(q screen.Question) {
	u.asksSize = q == screen.SizeQuestion
	if q == screen.CursorQuestion && !u.greeted {
		q = screen.NoQuestion
	}
	u.inline.Ask(q)
}

// answered takes what the terminal says about its size or the cursor.
func (u *ui) answered(r term.Report) {
	cols, rows := u.tty.Size()
	q, row := screen.CursorQuestion, 0
	switch {
	case r.Kind == "cursor" && len(r.Args) == 2:
		row = r.Args[0]
	case r.Kind == "size" && len(r.Args) == 3 && r.Args[0] == 8:
		q = screen.SizeQuestion
		told := [2]int{r.Args[2], r.Args[1]}
		if !u.sized && told == [2]int{rows, cols} { // some versions of tmux say it the wrong way round
			u.swapped = true
		}
		if u.swapped {
			told[0], told[1] = told[1], told[0]
		}
		if !u.sized {
			if u.sized = true; told == [2]int{cols, rows} {
				u.asks(q)
			}
			u.told = told
			return
		}
		u.told = told
		cols, rows = told[0], told[1]
	default:
		return
	}
	if row > 0 && !u.greeted {
		if u.greeted = true; !u.asksSize {
			u.asks(q)
		}
		return
	}
	other := u.inline.Answered(q, cols, rows, row)
	switch {
	case !u.resizing && other: // the news of it may come late
		u.hold()
	case u.resizing && u.confirmed && !u.inline.Waits():
		u.resized()
	}
}

// settle waits for the answers that the terminal owes: they must not reach another program.
func (u *ui) settle() {
	limit := time.After(answerWait)
	for u.full == nil && u.inline.Waits() {
		select {
		case e := <-u.tty.Events():
			if r, ok := e.(term.Report); ok {
				u.report(r)
			}
		case <-limit:
			return
		}
	}
}

// reflow says, as far as the environment tells, whether the terminal wraps lines anew when its width changes.
func reflow(getenv func(string) string) screen.Reflow {
	t := getenv("TERM")
	switch getenv("TERM_PROGRAM") {
	case "iTerm.app", "WezTerm", "ghostty", "vscode", "Apple_Terminal", "tmux", "rio", "WarpTerminal":
		return screen.Reflows
	}
	for _, name := range []string{"TMUX", "VTE_VERSION", "KITTY_WINDOW_ID", "KONSOLE_VERSION", "WT_SESSION", "ALACRITTY_WINDOW_ID"} {
		if getenv(name) != "" {
			return screen.Reflows
		}
	}
	switch {
	case getenv("XTERM_VERSION") != "", t == "linux", strings.HasPrefix(t, "screen"):
		return screen.Cuts
	case strings.HasPrefix(t, "tmux"), strings.HasPrefix(t, "foot"), strings.HasPrefix(t, "alacritty"), strings.HasPrefix(t, "xterm-kitty"), strings.HasPrefix(t, "xterm-ghostty"):
		return screen.Reflows
	}
	return screen.MayReflow
}

// named takes the terminal's own name for itself, which comes through where the environment does not.
func (u *ui) named(name string) {
	switch {
	case strings.HasPrefix(name, "XTerm("):
		u.inline.SetReflow(screen.Cuts)
	case name != "":
		u.inline.SetReflow(screen.Reflows)
	}
}
