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
// answers, it is asked again behind pictures. Nearly every terminal answers the last.
const greeting = "\x1b]11;?\a\x1b[>q" + string(screen.SizeQuestion) + string(screen.CursorQuestion)

// talk is what the terminal has told of its size and the cursor.
type talk struct {
	asked    time.Time // when it was greeted
	greeted  bool      // it has answered the whole greeting
	sized    bool      // it has said its size
	told     [2]int    // what that was last: columns, rows
	swapped  bool      // it says rows before columns
	asksSize bool      // its size is what it is asked behind pictures
}

// word is one answer of the terminal.
type word struct {
	to         screen.Question // NoQuestion: of none that was asked behind a picture
	cols, rows int
	row        int // of the cursor, from 1
}

// take reads an answer. The terminal's size, as the system says it, is that of now.
func (t *talk) take(r term.Report, cols, rows int) word {
	switch {
	case r.Kind == "cursor" && len(r.Args) == 2:
		if !t.greeted {
			t.greeted = true
			return word{}
		}
		return word{screen.CursorQuestion, cols, rows, r.Args[0]}
	case r.Kind == "size" && len(r.Args) == 3 && r.Args[0] == 8:
		t.told = [2]int{r.Args[2], r.Args[1]}
		if !t.sized && t.told == [2]int{rows, cols} && cols != rows { // some versions of tmux say it the wrong way round
			t.swapped = true
		}
		if t.swapped {
			t.told[0], t.told[1] = t.told[1], t.told[0]
		}
		if !t.sized {
			t.sized, t.asksSize = true, t.told == [2]int{cols, rows}
			return word{}
		}
		return word{to: screen.SizeQuestion, cols: t.told[0], rows: t.told[1]}
	}
	return word{}
}

// question is what the terminal is asked behind pictures.
func (t *talk) question() screen.Question {
	switch {
	case !t.greeted:
		return screen.NoQuestion
	case t.asksSize:
		return screen.SizeQuestion
	}
	return screen.CursorQuestion
}

// differs reports whether the terminal has another size than the system says.
func (t *talk) differs(cols, rows int) bool { return t.asksSize && t.told != [2]int{cols, rows} }

// owes reports whether answers to the greeting may still come.
func (t *talk) owes(now time.Time) bool {
	return !t.greeted && !t.asked.IsZero() && now.Sub(t.asked) < answerWait
}

// greet asks the terminal what it answers.
func (u *ui) greet() {
	u.talk.asked = time.Now()
	u.raw(greeting)
}

// hold stops drawing until the terminal's size is settled: what is drawn meanwhile would be made for the old one.
func (u *ui) hold() {
	u.resizing, u.resizeAt, u.confirmed = true, time.Now(), false
	if u.full == nil {
		_ = u.inline.SizeChanges()
	}
	u.resize.Reset(resizeWait)
}

// resized paints for the new size, once it has lasted and it is known what became of what was on its way.
func (u *ui) resized() {
	differs := u.talk.differs(u.tty.Size())
	if u.full == nil && time.Since(u.resizeAt) < answerWait {
		switch {
		case differs || u.inline.Waits():
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
	if differs && u.full == nil { // it means something else, or does not answer
		u.talk.asksSize = false
		u.inline.Ask(u.talk.question())
	}
	u.paint()
	u.draw()
}

// paint takes the size of now, and paints for it what was committed.
func (u *ui) paint() {
	u.resizing = false
	u.resize.Stop()
	u.cols, u.rows = u.tty.Size()
	u.relay()
	if u.full != nil {
		u.moved = u.lent
		u.full.resize(u.cols, u.rows)
	} else if err := u.inline.Resize(u.cols, u.rows); err != nil {
		u.quit = true
	}
}

// answered takes what the terminal says about its size or the cursor.
func (u *ui) answered(r term.Report) {
	switch other := u.told(r); {
	case !u.resizing && other: // the news of it may come late
		u.hold()
	case u.resizing && u.confirmed && !u.inline.Waits():
		u.resized()
	}
}

// told is the same without what follows from it. It reports whether the size is another one than pictures are made for.
func (u *ui) told(r term.Report) (other bool) {
	cols, rows := u.tty.Size()
	a := u.talk.take(r, cols, rows)
	if a.to == screen.NoQuestion {
		u.inline.Ask(u.talk.question())
		return false
	}
	return u.inline.Answered(a.to, a.cols, a.rows, a.row)
}

// isAnswer reports whether a key is none but says that the cursor stands in the first row.
func (u *ui) isAnswer(k term.Key) bool {
	return k.MayBeRow && (u.inline.Waits() || u.talk.owes(time.Now()))
}

// firstRow is that answer.
var firstRow = term.Report{Kind: "cursor", Args: []int{1, 1}}

// settle waits for the answers that the terminal owes, until the limit: they must not reach another program. What comes besides
// is kept for the loop.
func (u *ui) settle(limit <-chan time.Time) {
	for u.inline.Waits() || u.talk.owes(time.Now()) {
		select {
		case e := <-u.tty.Events():
			switch e := e.(type) {
			case term.Report:
				if e.Kind == "cursor" || e.Kind == "size" {
					u.told(e)
				} else {
					u.report(e)
				}
				continue
			case term.Key:
				if u.isAnswer(e) {
					u.told(firstRow)
					continue
				}
			case term.Closed:
				u.kept = append(u.kept, e)
				return
			}
			u.kept = append(u.kept, e)
		case <-limit:
			return
		}
	}
}

// stepAside takes the region off the terminal, for the shell or another program, and waits for what the terminal still says to us.
func (u *ui) stepAside() {
	if u.lent {
		u.tty.Alt(false, false)
	}
	if u.full == nil || u.lent {
		u.fit()
		_ = u.inline.Leave()
	}
	u.settle(time.After(answerWait))
}

// fit has the inline screen take a new size at once, where there is one.
func (u *ui) fit() {
	cols, rows := u.tty.Size()
	if c, r := u.inline.Size(); !u.resizing && !u.moved && c == cols && r == rows {
		return
	}
	_ = u.inline.SizeChanges()
	u.settle(time.After(answerWait))
	u.resizing, u.moved = false, false
	u.resize.Stop()
	u.cols, u.rows = u.tty.Size()
	u.relay()
	_ = u.inline.Resize(u.cols, u.rows)
}

// back takes the terminal again after another program had it.
func (u *ui) back() {
	u.cols, u.rows = u.tty.Size()
	u.inline.Unanswered()
	u.inline.Enter(u.cols, u.rows)
	u.moved = false
	if u.lent {
		u.tty.Alt(true, true)
	}
	if u.full != nil {
		u.full.resize(u.cols, u.rows)
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
