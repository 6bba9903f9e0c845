package screen

import (
	"fmt"
	"math/rand"
	"slices"
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
// characters of several. No line that was committed may be lost or damaged, in the scrollback neither.
func TestResizeInFlight(t *testing.T) {
	for _, reflows := range []bool{true, false} {
		for name, wider := range map[string]int{"height alone": 0, "wider": 10, "narrower": -10} {
			t.Run(fmt.Sprintf("%s, reflows %v", name, reflows), func(t *testing.T) {
				for seed := range 100 {
					inFlight(t, reflows, seed, wider)
				}
			})
		}
	}
}

func inFlight(t *testing.T, reflows bool, seed, wider int) {
	r := rand.New(rand.NewSource(int64(seed)))
	cols, rows := 20+r.Intn(60), 10+r.Intn(26)
	g := newGlass(cols, rows, reflows)
	var way flight
	s := NewInline(&way, cols, rows, reflows)
	now := time.Unix(0, 0)
	s.now = func() time.Time { return now }
	var lines []width.Line
	open := width.Line{Text: "line 1 "}
	for step := range 20 {
		what := fmt.Sprintf("reflows %v, seed %d, step %d, %d by %d", reflows, seed, step, cols, rows)
		now = now.Add(2 * flightTime)
		for range 1 + r.Intn(3) {
			var f Frame
			for range r.Intn(4) { // as an answer streams: the line that grows becomes final, others follow
				open.Text += "end."
				f.Commit = append(f.Commit, open)
				open = randomKind(r, fmt.Sprintf("line %d ", len(lines)+len(f.Commit)+1)+strings.Repeat("text that is long ", r.Intn(6)))
			}
			lines = append(lines, f.Commit...)
			open.Text += "more "
			f.Open = []width.Line{open}
			f.Foot = []string{"", "spinner " + strings.Repeat("x", r.Intn(10)), "❯ input", "status"}
			f.Cursor = Cursor{Row: 2, Col: 4}
			if err := s.Draw(f); err != nil {
				t.Fatal(what, err)
			}
		}
		pieces := way.take()
		at := len(pieces)
		if step%2 == 1 {
			at = r.Intn(len(pieces) + 1)
			rows = 10 + r.Intn(26)
			switch {
			case wider > 0:
				cols += r.Intn(wider)
			case wider < 0:
				cols = max(20, cols-r.Intn(-wider))
			}
		}
		write(t, what, g, pieces[:at])
		g.resize(cols, rows)
		write(t, what, g, pieces[at:])
		if step%2 == 1 {
			s.SizeChanges()
			if err := s.Resize(cols, rows); err != nil {
				t.Fatal(what, err)
			}
		}
	}
	write(t, "end", g, way.take())
	seen := g.copied()
	for i := range seen { // prose has more spaces where it wraps
		seen[i] = strings.Join(strings.Fields(seen[i]), " ")
	}
	for i, l := range lines {
		cut := !reflows && wider < 0 // such a terminal cuts off what it has shown
		if !slices.ContainsFunc(seen, func(got string) bool {
			return strings.HasSuffix(got, l.Text) || cut && strings.HasPrefix(got, fmt.Sprintf("line %d ", i+1))
		}) {
			t.Fatalf("seed %d: line %d of %d is lost: %q\n%s", seed, i+1, len(lines), l.Text, strings.Join(g.rows(), "\n"))
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
