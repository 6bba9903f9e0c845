package screen

import (
	"slices"
	"time"
)

// Question is what the terminal is asked behind a picture. Its answer says that the picture has been drawn, and with the size
// of then whether it was drawn as it was meant.
type Question string

// The questions, of which the first is for terminals that answer none.
const (
	NoQuestion     Question = ""
	CursorQuestion Question = "\x1b[6n"
	SizeQuestion   Question = "\x1b[18t" // tmux tells us of a new size late, but answers with it at once
)

const (
	// flightTime is how long what we write may be on its way to a terminal that answers nothing, and the news of its new
	// size on its way to us: tmux alone keeps that back for a quarter of a second.
	flightTime = 600 * time.Millisecond
	// askTime is the least time between questions behind pictures that commit nothing: each costs bytes.
	askTime = 100 * time.Millisecond
	// answerTime is how long an answer may take. Then the terminal counts as one that gives none, until it has caught up.
	answerTime = 10 * time.Second
)

// written is the state before something was written, for as long as that may be on its way.
type written struct {
	at       time.Time
	safe     int  // committed lines that it cannot reach
	paints   bool // the whole screen: in another size, lines stand there that were thought to be in the scrollback
	question int  // the number of the first question behind it; 0: none yet
	astray   bool // the size was another one when it was drawn, or may have been
}

// asked is a question that is not answered yet.
type asked struct {
	Question
	at         time.Time
	cols, rows int
}

// Ask sets what the terminal is asked from now on.
func (s *Inline) Ask(q Question) { s.question = q }

// Waits reports whether an answer is still to come.
func (s *Inline) Waits() bool { return len(s.asked) > 0 }

// Unanswered says, before Enter, that no answer will come to what was asked: another program had the terminal.
func (s *Inline) Unanswered() { s.asked, s.late = nil, false }

// Answered takes the answer to a question, with the size that the terminal has, and the row in which the cursor stands, from 1,
// where that was asked. It reports whether the size is another one than pictures are made for. What nobody asked for tells nothing.
func (s *Inline) Answered(to Question, cols, rows, cursor int) (other bool) {
	if !slices.ContainsFunc(s.asked, func(q asked) bool { return q.Question == to }) {
		return false
	}
	for len(s.asked) > 0 {
		q := s.asked[0]
		s.asked = s.asked[1:]
		s.answers++
		if q.Question != to { // its answer got lost
			continue
		}
		s.drawn(cols == q.cols && rows == q.rows)
		if to == CursorQuestion && len(s.asked) == 0 && cursor <= rows {
			s.row, s.rowIn = cursor, [2]int{cols, rows}
		}
		break
	}
	if len(s.asked) == 0 {
		s.late = false
	}
	return cols != s.width || rows != s.height
}

// drawn says of all that the answers of now stand for whether it was drawn at its size.
func (s *Inline) drawn(well bool) {
	kept := s.flight[:0]
	for _, w := range s.flight {
		if w.question > 0 && w.question <= s.answers {
			if well && !w.astray {
				continue
			}
			w.astray = true
		}
		kept = append(kept, w)
	}
	s.flight = kept
}

// note keeps the state before what stands in the buffer, and asks behind it where that is due.
func (s *Inline) note(safe int, commits, paints bool) {
	if s.b.Len() == 0 {
		return
	}
	s.row = 0
	now := s.now()
	s.forgetDrawn(now)
	s.flight = append(s.flight, written{at: now, safe: safe, paints: paints})
	if commits || now.Sub(s.askedAt) >= askTime {
		s.ask(s.question, now)
	}
}

// ask writes a question, unless answers do not come.
func (s *Inline) ask(q Question, now time.Time) {
	if len(s.asked) > 0 && now.Sub(s.asked[0].at) > answerTime {
		s.late = true
	}
	if !s.answering() {
		return
	}
	s.b.WriteString(string(q))
	s.asked = append(s.asked, asked{q, now, s.width, s.height})
	s.askedAt = now
	for i := range s.flight {
		if s.flight[i].question == 0 {
			s.flight[i].question = s.answers + len(s.asked)
		}
	}
}

// answering reports whether the terminal says how far it is; else only the clock tells.
func (s *Inline) answering() bool { return s.question != NoQuestion && !s.late }

// forgetDrawn drops what must have been drawn by now, where the terminal was not asked or does not say.
func (s *Inline) forgetDrawn(now time.Time) {
	kept := s.flight[:0]
	for _, w := range s.flight {
		if w.astray || w.question > 0 && s.answering() || now.Sub(w.at) <= flightTime {
			kept = append(kept, w)
		}
	}
	s.flight = kept
}

// safe is how many lines of tail cannot have been damaged by what was on its way to a screen of some rows: such lines stood so
// far above the region that no movement reached them, in whatever width. Where all has been drawn they are all safe.
func (s *Inline) safe(rows int) (lines int, all bool) {
	s.forgetDrawn(s.now())
	safe := s.count
	for _, w := range s.flight {
		if w.paints {
			w.safe -= max(rows, s.height)
		}
		safe = min(safe, w.safe)
	}
	return max(0, safe-(s.count-len(s.tail))), len(s.flight) == 0
}

// SizeChanges says that the terminal has told of a new size. What is on its way to it was made for the old one, and may
// have gone wrong there: Resize writes it again. Where the terminal answers, what has gone wrong is known once Waits is false.
func (s *Inline) SizeChanges() error {
	now := s.now()
	s.forgetDrawn(now)
	if !s.answering() {
		for i := range s.flight {
			s.flight[i].astray = true
		}
		return nil
	}
	if s.question != CursorQuestion {
		s.ask(s.question, now)
	}
	s.ask(CursorQuestion, now)
	return s.flush()
}
