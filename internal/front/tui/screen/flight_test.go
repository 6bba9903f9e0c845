package screen

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"lathe/internal/front/tui/width"
)

// flight holds back what is written, as the way to a terminal does.
type flight struct{ b strings.Builder }

func (f *flight) Write(p []byte) (int, error) { return f.b.Write(p) }

// take is what was written since, in pieces that a terminal takes one after the other.
func (f *flight) take() []string {
	s := f.b.String()
	f.b.Reset()
	var out []string
	for s != "" {
		n := 1
		switch {
		case s[0] == 0x1b:
			n = sequenceLen(s)
		case s[0] >= 0x20:
			n, _ = width.Next(s)
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

// TestResizeInFlight changes the size while pictures are on their way that were made for another one, between any two
// characters of several. No line that was committed may be lost or damaged, in the scrollback neither; and where the terminal
// answers, only those that were on their way may stand there twice.
func TestResizeInFlight(t *testing.T) {
	for _, q := range []Question{NoQuestion, CursorQuestion, SizeQuestion} {
		for _, reflows := range []bool{true, false} {
			for name, wider := range map[string]int{"height alone": 0, "wider": 10, "narrower": -10} {
				t.Run(fmt.Sprintf("%s, reflows %v, asks %q", name, reflows, q), func(t *testing.T) {
					for seed := range 10 {
						f := newFlight(seed, q, reflows)
						f.run(t, wider, false)
						f.check(t, !reflows && wider < 0, q == NoQuestion || !reflows)
					}
				})
			}
		}
	}
}

// TestResizeAtRest changes the size while nothing is on its way, in a terminal that answers: nothing is lost, and nothing stands there
// twice, whatever the terminal does with its rows.
func TestResizeAtRest(t *testing.T) {
	for _, q := range []Question{CursorQuestion, SizeQuestion} {
		for _, reflows := range []bool{true, false} {
			for name, wider := range map[string]int{"height alone": 0, "wider": 30, "narrower": -10} {
				t.Run(fmt.Sprintf("%s, reflows %v, asks %q", name, reflows, q), func(t *testing.T) {
					for seed := range 10 {
						f := newFlight(seed, q, reflows)
						f.run(t, wider, true)
						f.check(t, !reflows && wider < 0, !reflows && wider < 0)
					}
				})
			}
		}
	}
}

// TestResizeUnknown is the same for a terminal of which it is not known what it does: nothing is lost.
func TestResizeUnknown(t *testing.T) {
	for _, q := range []Question{NoQuestion, CursorQuestion} {
		for _, reflows := range []bool{true, false} {
			for _, wider := range []int{0, 20, -10} {
				for seed := range 10 {
					f := newFlight(seed, q, reflows)
					f.s.SetReflow(MayReflow)
					f.run(t, wider, seed%2 == 0 && q != NoQuestion)
					f.check(t, !reflows && wider < 0, true)
				}
			}
		}
	}
}

// inFlight is an answer that streams into a terminal of which the size changes.
type inFlight struct {
	seed       int
	r          *rand.Rand
	way        flight
	g          *glass
	s          *Inline
	cols, rows int
	lines      []width.Line
	open       width.Line
	twice      map[int]bool // lines that were on their way at a change of the size
}

func newFlight(seed int, q Question, reflows bool) *inFlight {
	r := rand.New(rand.NewSource(int64(seed)))
	f := &inFlight{seed: seed, r: r, cols: 20 + r.Intn(60), rows: 10 + r.Intn(26), open: width.Line{Text: "line 1 "}, twice: map[int]bool{}}
	f.g = newGlass(f.cols, f.rows, reflows)
	f.s = NewInline(&f.way, f.cols, f.rows, known(reflows))
	f.s.Ask(q)
	return f
}

func known(reflows bool) Reflow {
	if reflows {
		return Reflows
	}
	return Cuts
}

// run draws pictures, and changes the size in the middle of every second group of them, or behind it.
func (f *inFlight) run(t *testing.T, wider int, atRest bool) {
	now := time.Unix(0, 0)
	f.s.now = func() time.Time { return now }
	for step := range 20 {
		what := fmt.Sprintf("seed %d, step %d, %d by %d", f.seed, step, f.cols, f.rows)
		now = now.Add(2 * flightTime)
		first := len(f.lines)
		for range 1 + f.r.Intn(3) {
			if err := f.s.Draw(f.picture()); err != nil {
				t.Fatal(what, err)
			}
		}
		pieces := f.way.take()
		at := len(pieces)
		if step%2 == 1 {
			if !atRest {
				at = f.r.Intn(len(pieces) + 1)
			}
			f.rows = 10 + f.r.Intn(26)
			switch {
			case wider > 0:
				f.cols += f.r.Intn(wider)
			case wider < 0:
				f.cols = max(20, f.cols-f.r.Intn(-wider))
			}
		}
		write(t, what, f.g, pieces[:at])
		if atRest || f.r.Intn(2) > 0 {
			f.answer()
		}
		f.g.resize(f.cols, f.rows)
		write(t, what, f.g, pieces[at:])
		if step%2 == 0 {
			continue
		}
		if atRest {
			now = now.Add(2 * flightTime)
		}
		if err := f.s.SizeChanges(); err != nil {
			t.Fatal(what, err)
		}
		write(t, what, f.g, f.way.take())
		f.answer()
		if f.s.Waits() {
			t.Fatal(what, "an answer is not counted")
		}
		for i := first - len(f.s.above) - len(f.s.foot) - f.rows; i < len(f.lines) && len(f.s.flight) > 0; i++ {
			f.twice[i] = true
		}
		if err := f.s.Resize(f.cols, f.rows); err != nil {
			t.Fatal(what, err)
		}
	}
	write(t, "end", f.g, f.way.take())
}

// picture is the next one of an answer that streams: the line that grows becomes final, others follow.
func (f *inFlight) picture() Frame {
	var p Frame
	for range f.r.Intn(4) {
		f.open.Text += "end."
		p.Commit = append(p.Commit, f.open)
		f.open = randomKind(f.r, fmt.Sprintf("line %d ", len(f.lines)+len(p.Commit)+1)+strings.Repeat("text that is long ", f.r.Intn(6)))
	}
	f.lines = append(f.lines, p.Commit...)
	f.open.Text += "more "
	p.Open = []width.Line{f.open}
	p.Foot = []string{"", "spinner " + strings.Repeat("x", f.r.Intn(10)), "❯ input", "status"}
	p.Cursor = Cursor{Row: 2, Col: 4}
	return p
}

// answer has the answers of the terminal arrive.
func (f *inFlight) answer() {
	for _, a := range f.g.answers {
		if a.to == CursorQuestion { // it does not say the size
			a.cols, a.rows = f.g.cols, f.g.height
		}
		f.s.Answered(a.to, a.cols, a.rows, a.row)
	}
	f.g.answers = nil
}

// check looks for lines that are lost, or stand there twice without need.
func (f *inFlight) check(t *testing.T, cut, anyTwice bool) {
	seen := f.g.copied()
	for i := range seen { // prose has more spaces where it wraps
		seen[i] = strings.Join(strings.Fields(seen[i]), " ")
	}
	for i, l := range f.lines {
		n := 0
		for _, got := range seen {
			if strings.HasSuffix(got, l.Text) || cut && strings.HasPrefix(got, fmt.Sprintf("line %d ", i+1)) {
				n++
			}
		}
		switch {
		case n == 0:
			t.Fatalf("seed %d: line %d of %d is lost: %q\n%s", f.seed, i+1, len(f.lines), l.Text, strings.Join(f.g.rows(), "\n"))
		case n > 1 && !anyTwice && !f.twice[i]:
			t.Fatalf("seed %d: line %d of %d stands there %d times\n%s", f.seed, i+1, len(f.lines), n, strings.Join(f.g.rows(), "\n"))
		}
	}
}

func write(t *testing.T, what string, g *glass, pieces []string) {
	t.Helper()
	for _, p := range pieces {
		if _, err := g.Write([]byte(p)); err != nil {
			t.Fatal(what, err)
		}
	}
}
