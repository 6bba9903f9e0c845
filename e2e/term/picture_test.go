//go:build unix

package term

import (
	"fmt"
	"html"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"lathe/internal/fakeapi"
)

// Cells of a picture, in its units.
const (
	cellWide, cellHigh = 8, 17
	paper, ink         = "#1c1e26", "#d8dade"
)

// svg is a picture of the screen.
func (s *screen) svg() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.emu.Height() - 1
	for last > 0 && s.row(last) == "" {
		last--
	}
	w, h := s.emu.Width()*cellWide+24, (last+1)*cellHigh+24
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13.3">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="%s"/>`+"\n", w, h, paper)
	for y := 0; y <= last; y++ {
		for x := 0; x < s.emu.Width(); {
			n := s.run(&b, x, y)
			x += n
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// run draws the cells from x on that look alike, and returns how many they are.
func (s *screen) run(b *strings.Builder, x, y int) int {
	first := s.emu.CellAt(x, y)
	if first == nil {
		return 1
	}
	text, n := "", 0
	for x+n < s.emu.Width() {
		c := s.emu.CellAt(x+n, y)
		if c == nil || !c.Style.Equal(&first.Style) {
			break
		}
		switch {
		case c.Content != "":
			text += c.Content
		case c.Width != 0 || n == 0:
			text += " "
		}
		n++
	}
	st := first.Style
	fg, bg := hex(st.Fg, ink), hex(st.Bg, "")
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", 12+x*cellWide, 12+y*cellHigh, n*cellWide, cellHigh, bg)
	}
	if strings.TrimSpace(text) == "" {
		return max(1, n)
	}
	extra := ""
	if st.Attrs&1 != 0 {
		extra += ` font-weight="bold"`
	}
	if st.Attrs&2 != 0 {
		extra += ` opacity="0.6"`
	}
	if st.Attrs&4 != 0 {
		extra += ` font-style="italic"`
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s" xml:space="preserve"%s>%s</text>`+"\n",
		12+x*cellWide, 12+y*cellHigh+13, fg, extra, html.EscapeString(text))
	return max(1, n)
}

func hex(c color.Color, other string) string {
	if c == nil {
		return other
	}
	if i, ok := c.(ansi.BasicColor); ok { // as a terminal of today has them
		return [...]string{
			"#1c1e26", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf",
			"#5c6370", "#ff7a85", "#b5e890", "#ffd68a", "#7cc7ff", "#dd8ff5", "#6fd3de", "#ffffff",
		}[i%16]
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// TestPictures makes the pictures of README.md and docs/terminal.md, in the folder that LATHE_PICTURES names.
func TestPictures(t *testing.T) {
	dir := os.Getenv("LATHE_PICTURES")
	if dir == "" {
		t.Skip("SKIPPED: LATHE_PICTURES names no folder for pictures")
	}
	keep := func(s *screen, name string) {
		s.rested()
		home := strings.NewReplacer("/"+s.cmd.Dir, "~/work", s.cmd.Dir, "~/work") // a rule has one slash more
		if err := os.WriteFile(filepath.Join(dir, name+".svg"), []byte(home.Replace(s.svg())), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	code := "package words\n\nfunc Count(s string) int {\n\tn := 1\n\tfor _, c := range s {\n\t\tif c == ' ' {\n\t\t\tn++\n\t\t}\n\t}\n\treturn n\n}\n"
	fixed := "package words\n\nimport \"strings\"\n\n// Count counts the words of a text.\nfunc Count(s string) int {\n\treturn len(strings.Fields(s))\n}\n"
	r := newRig(t, fakeapi.Sequence(
		answer(fakeapi.Block{Text: "I look at the code and at its test first."}, fakeapi.Call("Read", map[string]any{"file_path": "${CWD}/words.go"}), bash("ls")),
		answer(fakeapi.Block{Text: "An empty text has **no** words, and blanks may come in rows. `strings.Fields` knows both."},
			fakeapi.Call("Write", map[string]any{"file_path": "${CWD}/words.go", "content": fixed})),
		answer(bash("gofmt -l . && rm -rf build")),
		fakeapi.Text("Done. What changed:\n\n| text | before | now |\n|---|--:|--:|\n| `\"\"` | 1 | 0 |\n| `\"a  b\"` | 3 | 2 |\n\n```go\nfunc Count(s string) int {\n\treturn len(strings.Fields(s)) // blanks in rows too\n}\n```\n\n1. no other caller is affected\n2. the test passes"),
	))
	r.file("words.go", code)
	cmd := r.command()
	cmd.Env = append(cmd.Env, "COLORTERM=truecolor")
	s := r.launch(96, 50, cmd)
	s.waitFor("manual mode")
	s.keys("Count is wrong for empty texts and double blanks, fix it<enter>")
	s.waitFor("Why:", "strings.Fields")
	keep(s, "edit")
	s.keys("y")
	s.waitFor("Run this command?")
	keep(s, "permission")
	s.keys("y")
	s.waitFor("the test passes", "what shall be done?")
	keep(s, "answer")
	s.keys("/")
	s.waitFor("/clear")
	keep(s, "commands")
}
