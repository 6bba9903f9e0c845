package screen

import (
	"strings"
	"testing"

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
