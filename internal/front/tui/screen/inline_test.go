package screen

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"lathe/internal/front/tui/width"
)

// wrapped is what a terminal shows of a line.
func wrapped(line width.Line, cols int) []string {
	var out []string
	for _, r := range split(nil, line, cols) {
		out = append(out, strings.TrimRight(width.Strip(r.body), " "))
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Fatalf("%s\n--- want\n%s\n--- got\n%s", what, w, g)
	}
}

var words = []string{"a", "word", "und", "\x1b[1mbold\x1b[m", "日本語", "x y", "\x1b[31mred", "still\x1b[m", "the end.", "wide 漢字 here", "longer-than-others", "👍", "e\u0301t"}

func randomLine(r *rand.Rand) width.Line {
	var b strings.Builder
	for range r.Intn(14) {
		b.WriteString(words[r.Intn(len(words))] + " ")
	}
	return randomKind(r, b.String()+"\x1b[m")
}

// randomKind makes a line of any text: prose, with a hanging indent or without, or another.
func randomKind(r *rand.Rand, text string) width.Line {
	return width.Line{Text: text, Hang: width.Spaces(2 * r.Intn(3)), Prose: r.Intn(3) > 0}
}

// TestDraw draws random frames, as answers and footers grow and shrink, and compares the terminal with what was asked for.
func TestDraw(t *testing.T) {
	for seed := range 300 {
		r := rand.New(rand.NewSource(int64(seed)))
		cols, rows := 10+r.Intn(60), 6+r.Intn(20)
		g := newGlass(cols, rows, false)
		s := NewInline(g, cols, rows, known(false))
		var all []string // rows that were committed
		var open []width.Line
		for step := range 60 {
			var f Frame
			switch r.Intn(5) {
			case 0, 1: // the last line grows
				if len(open) == 0 {
					open = append(open, randomKind(r, ""))
				}
				w := words[r.Intn(4)] + " "
				if w[0] != 0x1b && r.Intn(2) > 0 { // the middle of a word
					w = w[:1+r.Intn(len(w))]
				}
				open[len(open)-1].Text += w
			case 2: // lines become final as they are
				n := r.Intn(len(open) + 1)
				f.Commit = append(f.Commit, open[:n]...)
				open = open[n:]
			case 3: // other lines come before
				for range r.Intn(4) {
					f.Commit = append(f.Commit, randomLine(r))
				}
				open = nil
			case 4:
				open = nil
				for range r.Intn(5) {
					open = append(open, randomLine(r))
				}
			}
			f.Open = append([]width.Line(nil), open...)
			for i := range 1 + r.Intn(4) {
				f.Foot = append(f.Foot, fmt.Sprintf("foot %d %d", i, r.Intn(3)))
			}
			f.Cursor = Cursor{Row: r.Intn(len(f.Foot)), Col: r.Intn(5)}
			if err := s.Draw(f); err != nil {
				t.Fatal(err)
			}
			for _, l := range f.Commit {
				all = append(all, wrapped(l, cols)...)
			}
			want := append([]string(nil), all...)
			var live []string
			for _, l := range f.Open {
				live = append(live, wrapped(l, cols)...)
			}
			if over := len(live) - (rows - len(f.Foot)); over > 0 {
				live = live[over:]
			}
			want = append(append(want, live...), f.Foot...)
			same(t, fmt.Sprintf("seed %d step %d, %d by %d", seed, step, cols, rows), g.rows(), want)
			if g.x != min(f.Cursor.Col, cols-1) || g.lines[g.top+g.y].text() != f.Foot[f.Cursor.Row] {
				t.Fatalf("seed %d step %d: the cursor is in column %d, not %d, of %q", seed, step, g.x, f.Cursor.Col, g.lines[g.top+g.y].text())
			}
		}
	}
}

// TestDrawBehindAFullRow: a line whose last row is full goes on in the next one, and so much comes with it that the full row
// would be scrolled off before.
func TestDrawBehindAFullRow(t *testing.T) {
	for more := range 12 {
		g := newGlass(10, 8, true)
		s := NewInline(g, 10, 8, Reflows)
		foot := []string{"", "input"}
		for _, f := range []Frame{
			{Open: []width.Line{{Text: "0123456789"}}, Foot: foot},
			{Commit: []width.Line{{Text: "0123456789end"}}, Open: []width.Line{{Text: strings.Repeat("x", 1+10*more)}}, Foot: foot},
		} {
			if err := s.Draw(f); err != nil {
				t.Fatal(err)
			}
		}
		want := []string{"0123456789", "end"}
		for i := max(0, more-5); i < more; i++ {
			want = append(want, "xxxxxxxxxx")
		}
		same(t, fmt.Sprintf("%d more", more), g.rows(), append(want, "x", "", "input"))
	}
}

// TestResize resizes at random, in a terminal that wraps anew and in one that does not, while an answer streams. No row of
// the region may stay behind, no line that was committed may be lost, and the newest must stand before the region.
func TestResize(t *testing.T) {
	for _, reflows := range []bool{true, false} {
		for seed := range 100 {
			r := rand.New(rand.NewSource(int64(seed)))
			cols, rows := 20+r.Intn(60), 16+r.Intn(20)
			g := newGlass(cols, rows, reflows)
			s := NewInline(g, cols, rows, known(reflows))
			n := 0
			for step := range 30 {
				what := fmt.Sprintf("reflows %v, seed %d, step %d, %d by %d", reflows, seed, step, cols, rows)
				var f Frame
				for range r.Intn(3) {
					n++
					f.Commit = append(f.Commit, randomKind(r, fmt.Sprintf("line %d ", n)+strings.Repeat("text that is long ", r.Intn(6))))
				}
				f.Open = []width.Line{randomKind(r, "open "+strings.Repeat("still streaming ", r.Intn(8)))}
				f.Foot = []string{"", "spinner " + strings.Repeat("x", r.Intn(cols/2)), "❯ input", "status" + strings.Repeat(" ", cols-12) + "right"}
				f.Cursor = Cursor{Row: 2, Col: 4}
				if err := s.Draw(f); err != nil {
					t.Fatal(what, err)
				}
				check(t, what+", drawn", g, n, reflows, f.Foot)
				if r.Intn(3) == 0 {
					cols, rows = 20+r.Intn(60), 16+r.Intn(20) // the region always fits: what the terminal itself scrolls off cannot be taken back
					was := fmt.Sprintf("%d by %d", g.cols, g.height)
					g.resize(cols, rows)
					if err := s.Resize(cols, rows); err != nil {
						t.Fatal(what, err)
					}
					f.Commit, f.Foot[1], f.Foot[3] = nil, "spinner", "status"
					if err := s.Draw(f); err != nil {
						t.Fatal(what, err)
					}
					check(t, fmt.Sprintf("%s, resized from %s to %d by %d", what, was, cols, rows), g, n, reflows, f.Foot)
				}
			}
		}
	}
}

// TestResizeBelowTheShell: what stood on the terminal before us is the person's, and a terminal that becomes wider, or higher, brings
// it back onto the screen. It must not be painted over.
func TestResizeBelowTheShell(t *testing.T) {
	for seed := range 80 {
		r := rand.New(rand.NewSource(int64(seed)))
		cols, rows := 20+r.Intn(60), 16+r.Intn(20)
		g := newGlass(cols, rows, true)
		before := 1 + r.Intn(30)
		for i := range before {
			fmt.Fprintf(g, "shell %d\r\n", i+1)
		}
		s := NewInline(g, cols, rows, known(true))
		n := 0
		for step := range 20 {
			what := fmt.Sprintf("seed %d, step %d, %d by %d", seed, step, cols, rows)
			var f Frame
			for range r.Intn(3) {
				n++
				f.Commit = append(f.Commit, randomKind(r, fmt.Sprintf("line %d ", n)+strings.Repeat("text that is long ", r.Intn(6))))
			}
			f.Open = []width.Line{randomKind(r, "open "+strings.Repeat("still streaming ", r.Intn(4)))}
			f.Foot = []string{"", "spinner", "❯ input", "status"}
			f.Cursor = Cursor{Row: 2, Col: 4}
			if err := s.Draw(f); err != nil {
				t.Fatal(what, err)
			}
			if r.Intn(3) == 0 {
				cols, rows = 20+r.Intn(60), 16+r.Intn(20)
				g.resize(cols, rows)
				if err := s.Resize(cols, rows); err != nil {
					t.Fatal(what, err)
				}
				f.Commit = nil
				if err := s.Draw(f); err != nil {
					t.Fatal(what, err)
				}
			}
			check(t, what, g, n, true, f.Foot)
			for i := range before {
				if !slices.Contains(g.rows(), fmt.Sprintf("shell %d", i+1)) {
					t.Fatalf("%s: line %d of %d of the shell is lost\n%s", what, i+1, before, strings.Join(g.rows(), "\n"))
				}
			}
		}
	}
}

// check looks for what a bad resize leaves behind.
func check(t *testing.T, what string, g *glass, n int, reflows bool, foot []string) {
	t.Helper()
	all := strings.Join(g.rows(), "\n")
	for _, ghost := range []string{"❯ input", "spinner", "status"} {
		if strings.Count(all, ghost) != 1 {
			t.Fatalf("%s: %q stands there %d times\n%s", what, ghost, strings.Count(all, ghost), all)
		}
	}
	seen := g.copied()
	last := 0
	for _, l := range seen {
		var k int
		if _, err := fmt.Sscanf(l, "line %d ", &k); err != nil {
			continue
		}
		if k > last+1 {
			t.Fatalf("%s: after line %d comes line %d\n%s", what, last, k, all)
		}
		last = max(last, k)
	}
	if last != n {
		t.Fatalf("%s: the last line is %d, not %d\n%s", what, last, n, all)
	}
}
