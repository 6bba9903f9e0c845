package screen

import (
	"strings"
	"testing"
	"time"

	"lathe/internal/front/tui/width"
)

// asking is a screen that has asked behind a picture.
func asking(t *testing.T, q Question) (*Inline, *glass) {
	t.Helper()
	g := newGlass(40, 12, true)
	s := NewInline(g, 40, 12, Reflows)
	s.Ask(q)
	if err := s.Draw(Frame{Commit: []width.Line{{Text: "line 1"}, {Text: "line 2"}}, Foot: []string{"", "input"}}); err != nil {
		t.Fatal(err)
	}
	if !s.Waits() {
		t.Fatal("no question was asked")
	}
	return s, g
}

// TestAnswersWithoutQuestion: floods of answers to what was not asked tell nothing, and take no answer's place.
func TestAnswersWithoutQuestion(t *testing.T) {
	for _, c := range []struct{ asked, told Question }{{CursorQuestion, SizeQuestion}, {SizeQuestion, CursorQuestion}} {
		s, _ := asking(t, c.asked)
		for range 1000 {
			if s.Answered(c.told, 7, 0, 9999) {
				t.Fatalf("%q: a new size, which nobody asked for", c.told)
			}
		}
		if !s.Waits() || len(s.flight) == 0 {
			t.Fatalf("%q was taken for the answer to %q", c.told, c.asked)
		}
		s.Answered(c.asked, 40, 12, 4)
		if s.Waits() || len(s.flight) > 0 {
			t.Fatalf("%q: the answer was not taken", c.asked)
		}
		if s.Answered(c.asked, 50, 12, 4) {
			t.Fatalf("%q: an answer that came twice counts twice", c.asked)
		}
	}
}

// TestCursorBelowTheScreen: a row that the screen has not got is no row: nothing stands there twice for it, and nothing is lost.
func TestCursorBelowTheScreen(t *testing.T) {
	for _, row := range []int{-3, 0, 13, 99999} {
		s, g := asking(t, CursorQuestion)
		for range 20 {
			if err := s.Draw(Frame{Commit: []width.Line{{Text: "line"}}, Foot: []string{"", "input"}}); err != nil {
				t.Fatal(err)
			}
		}
		for s.Waits() {
			s.Answered(CursorQuestion, 40, 12, row)
		}
		if err := s.Resize(40, 12); err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(g.rows(), "\n"); strings.Count(all, "line 1") != 1 || strings.Count(all, "line") != 22 {
			t.Errorf("row %d:\n%s", row, all)
		}
	}
}

// TestUnanswered: what another program has taken is not waited for, and the next answer belongs to the next question.
func TestUnanswered(t *testing.T) {
	s, _ := asking(t, CursorQuestion)
	s.Unanswered()
	if s.Waits() {
		t.Fatal("it waits")
	}
	s.Enter(40, 12)
	if err := s.Draw(Frame{Commit: []width.Line{{Text: "line 3"}}, Foot: []string{"", "input"}}); err != nil {
		t.Fatal(err)
	}
	if len(s.flight) != 1 {
		t.Fatalf("%d pictures on their way, want 1", len(s.flight))
	}
	s.Answered(CursorQuestion, 40, 12, 4)
	if s.Waits() || len(s.flight) > 0 {
		t.Fatal("the answer was not taken for the question behind the picture")
	}
}

// committed draws a picture that commits n lines, above a foot of four rows with the cursor in the first.
func committed(t *testing.T, s *Inline, n int) {
	t.Helper()
	f := Frame{Foot: []string{"", "spinner", "input", "status"}}
	for range n {
		f.Commit = append(f.Commit, width.Line{Text: "line"})
	}
	if err := s.Draw(f); err != nil {
		t.Fatal(err)
	}
}

// TestAnswerCovers: an answer tells of the pictures before its question only, and of those in one size only.
func TestAnswerCovers(t *testing.T) {
	s, _ := asking(t, SizeQuestion)
	now := time.Now()
	s.now = func() time.Time { return now }
	s.askedAt = now
	if err := s.Draw(Frame{Foot: []string{"", "input2"}}); err != nil { // commits nothing, and comes at once
		t.Fatal(err)
	}
	if len(s.asked) != 1 || len(s.flight) != 2 {
		t.Fatalf("%d questions behind %d pictures, want 1 behind 2", len(s.asked), len(s.flight))
	}
	s.Answered(SizeQuestion, 40, 12, 0)
	if len(s.flight) != 1 {
		t.Fatalf("%d pictures on their way, want the one behind the question", len(s.flight))
	}
	committed(t, s, 1)
	committed(t, s, 1)
	if !s.Answered(SizeQuestion, 50, 12, 0) {
		t.Fatal("the new size is not told")
	}
	s.Answered(SizeQuestion, 40, 12, 0)
	if s.Waits() || len(s.flight) != 2 || !s.flight[0].astray || !s.flight[1].astray {
		t.Fatalf("%+v, want the two pictures that were drawn in another size", s.flight)
	}
}

// TestCursorRowHolds: the row is that of the last answer, as long as nothing was written since, and in that size.
func TestCursorRowHolds(t *testing.T) {
	s, _ := asking(t, CursorQuestion)
	committed(t, s, 10)
	if s.Answered(CursorQuestion, 40, 12, 3); s.row != 0 {
		t.Fatalf("row %d, although the cursor moves yet", s.row)
	}
	if s.Answered(CursorQuestion, 40, 12, 9); s.row != 9 {
		t.Fatalf("row %d, want 9", s.row)
	}
	known := s.view(40, 11, true)
	s.row = 0
	if got := s.view(40, 11, true); got != known {
		t.Errorf("%+v by the row of another size, %+v without", known, got)
	}
	s.row = 9
	if committed(t, s, 1); s.row != 0 {
		t.Errorf("row %d behind what was written since", s.row)
	}
}

// TestLateAnswers: a terminal that stops to answer is asked no more until it has caught up, and the clock takes its place.
func TestLateAnswers(t *testing.T) {
	s, _ := asking(t, SizeQuestion)
	now := time.Now().Add(2 * answerTime)
	s.now = func() time.Time { return now }
	committed(t, s, 1)
	if len(s.asked) != 1 {
		t.Fatalf("%d questions, want no more than the old one", len(s.asked))
	}
	now = now.Add(2 * flightTime)
	if _, all := s.safe(12); !all {
		t.Error("without answers, what was written long ago is not taken for drawn")
	}
	s.Answered(SizeQuestion, 40, 12, 0)
	if committed(t, s, 1); len(s.asked) != 1 {
		t.Errorf("%d questions to a terminal that has caught up, want 1", len(s.asked))
	}
}

// TestAstrayStays: what a new size met on its way is painted anew however much later that is.
func TestAstrayStays(t *testing.T) {
	s := NewInline(newGlass(40, 12, true), 40, 12, Reflows)
	now := time.Now()
	s.now = func() time.Time { return now }
	committed(t, s, 30)
	if err := s.SizeChanges(); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * flightTime)
	if _, all := s.safe(12); all {
		t.Error("it is taken for drawn")
	}
}

// TestSafeBehindPaint: a whole screen that is on its way reaches as many more lines as the screen has rows.
func TestSafeBehindPaint(t *testing.T) {
	s := NewInline(newGlass(40, 12, true), 40, 12, Reflows)
	now := time.Now()
	s.now = func() time.Time { return now }
	committed(t, s, 100)
	now = now.Add(2 * flightTime)
	if err := s.Resize(40, 12); err != nil {
		t.Fatal(err)
	}
	low, _ := s.safe(12)
	high, _ := s.safe(20)
	if low-high != 8 || low < 60 {
		t.Errorf("%d lines are safe on 12 rows, %d on 20", low, high)
	}
}

// TestView: what is known of the screen where no row is.
func TestView(t *testing.T) {
	s := NewInline(newGlass(40, 12, true), 40, 12, Reflows)
	committed(t, s, 30)
	if got := s.view(40, 10, true); got.from != 21 { // the rows below the cursor may have been cut off: 3 lines more can be seen
		t.Errorf("a lower screen shows lines from %d on, want 21", got.from)
	}
	first := s.view(10, 12, true).up
	s.col = 39
	if got := s.view(10, 12, true).up - first; got != 3 {
		t.Errorf("the cursor in column 39 stands %d rows lower at a width of 10, want 3", got)
	}
	s = NewInline(newGlass(40, 12, true), 40, 12, MayReflow)
	committed(t, s, 10)
	if s.view(40, 14, true).covered { // the width is the same: nothing is wrapped anew in either kind
		t.Error("a higher screen is covered by ours, although the shell's rows may have come back")
	}
}
