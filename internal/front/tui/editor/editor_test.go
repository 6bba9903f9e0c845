package editor

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"lathe/internal/front/tui/width"
)

// at makes an editor from a text with "|" for the cursor.
func at(o Options, s string) *Editor {
	e := New(o)
	before, after, _ := strings.Cut(s, "|")
	e.Load(Draft{Text: before + after})
	e.moveTo(len(before))
	return e
}

func shown(e *Editor) string { return e.Text()[:e.Cursor()] + "|" + e.Text()[e.Cursor():] }

func press(e *Editor, keys string) {
	for _, k := range strings.Fields(keys) {
		switch {
		case k == "space":
			e.Key("space", " ")
		case utf8.RuneCountInString(k) == 1:
			e.Key(k, k)
		default:
			e.Key(k, "")
		}
	}
}

func TestKeys(t *testing.T) {
	for _, c := range []struct{ text, keys, want string }{
		{"|", "h i", "hi|"},
		{"one two|", "ctrl+a x", "x|one two"},
		{"|one", "ctrl+e x", "onex|"},
		{"a\nb|c\nd", "home", "a\n|bc\nd"},
		{"a\n|bc\nd", "home", "|a\nbc\nd"},
		{"a\nbc|\nd", "end", "a\nbc\nd|"},
		{"one two three|", "ctrl+w", "one two |"},
		{"one, (two)|", "ctrl+w", "one, (|"},
		{"one two|", "ctrl+u", "|"},
		{"a\nbc|d", "ctrl+u", "a\n|d"},
		{"a\n|d", "ctrl+u", "a|d"},
		{"a|bc\nd", "ctrl+k", "a|\nd"},
		{"a|\nd", "ctrl+k", "a|d"},
		{"one two|", "ctrl+w ctrl+w ctrl+y", "one two|"},
		{"|one two", "alt+d alt+d ctrl+y ctrl+y", "one twoone two|"},
		{"a b|", "ctrl+w left ctrl+u ctrl+y alt+y", "b| "},
		{"a b|", "alt+y", "a b|"},
		{"one two|", "alt+b alt+b", "|one two"},
		{"|one two", "alt+f", "one |two"},
		{"one.two|", "alt+b", "one.|two"},
		{"中文 word|", "alt+b alt+b", "|中文 word"},
		{"ab|c", "ctrl+d ctrl+h", "a|"},
		{"a\\|", "enter b", "a\nb|"},
		{"a|", "ctrl+j shift+enter alt+enter", "a\n\n\n|"},
		{"|", "a b space c d ctrl+_", "ab |"},
		{"|", "a b space c d ctrl+_ ctrl+_", "|"},
		{"|", "a b space c d ctrl+_ ctrl+_ alt+_ alt+_", "ab cd|"},
		{"abc|", "backspace backspace x ctrl+_ ctrl+_", "abc|"},
		{"👩‍👩‍👧e\u0301|", "backspace", "👩‍👩‍👧|"},
		{"a👩‍👩‍👧|b", "left delete", "a|b"},
		{"🇩🇪🇫🇷|", "left", "🇩🇪|🇫🇷"},
		{"aé文|", "left left left right", "a|é文"},
		{"abc\nde|", "up", "ab|c\nde"},
		{"abcdef\nx\nabc|def", "up up", "abc|def\nx\nabcdef"},
		{"|abc\nx", "down end", "abc\nx|"},
		{"文字|\nab", "down", "文字\nab|"},
		{"文字\nabc|", "up", "文|字\nabc"},
		{"abc|", "ctrl+home x ctrl+end y", "xabcy|"},
	} {
		e := at(Options{}, c.text)
		press(e, c.keys)
		if got := shown(e); got != c.want {
			t.Errorf("%q, keys %q: got %q, want %q", c.text, c.keys, got, c.want)
		}
	}
}

func TestReadlineFlavor(t *testing.T) {
	for _, c := range []struct{ text, keys, want string }{
		{"a one.two|", "ctrl+w", "a |"},
		{"|one two", "alt+f", "one| two"},
		{"|one two", "alt+d", "| two"},
	} {
		e := at(Options{Readline: true}, c.text)
		press(e, c.keys)
		if got := shown(e); got != c.want {
			t.Errorf("%q, keys %q: got %q, want %q", c.text, c.keys, got, c.want)
		}
	}
}

func TestResults(t *testing.T) {
	for _, c := range []struct {
		text, key string
		want      Result
	}{
		{"a|", "enter", Submit},
		{"a\\|", "enter", Done},
		{"|", "ctrl+d", Ignored},
		{"|", "esc", Ignored},
		{"|", "tab", Ignored},
		{"a|\nb", "up", HistoryPrev},
		{"a|\nb", "down", Done},
		{"a\nb|", "down", HistoryNext},
		{"12345678901|2", "up", Done}, // wrapped at ten cells
	} {
		e := at(Options{}, c.text)
		e.SetWidth(10)
		if got := e.Key(c.key, ""); got != c.want {
			t.Errorf("%q, %s: %v, want %v", c.text, c.key, got, c.want)
		}
	}
}

func TestCompletion(t *testing.T) {
	e := at(Options{}, "see @src/ma| now")
	if e.Before() != "see @src/ma" {
		t.Errorf("before the cursor: %q", e.Before())
	}
	e.Replace(len("src/ma"), "src/main.go")
	if got := shown(e); got != "see @src/main.go| now" {
		t.Error(got)
	}
	e.Undo()
	if got := shown(e); got != "see @src/ma| now" {
		t.Error(got)
	}
}

func TestPaste(t *testing.T) {
	e := New(Options{})
	if p := e.Paste("one\r\ntwo\x1b[31m"); p.Placeholder != "" || p.Removed != 1 || e.Text() != "one\ntwo[31m" {
		t.Errorf("%+v, %q", p, e.Text())
	}
	e.Load(Draft{})
	long := "a\r\nb\rc\nd"
	if p := e.Paste(long); p.Placeholder != "[Pasted text #1 +3 lines]" {
		t.Errorf("%+v", p)
	}
	press(e, "x")
	if p := e.Paste(strings.Repeat("é", 801)); p.Placeholder != "[Pasted text #2]" {
		t.Errorf("%+v", p)
	}
	if p := e.Paste(strings.Repeat("é", 800)); p.Placeholder != "" {
		t.Errorf("%+v", p)
	}
	e.Undo()
	e.Attach(Image, "/tmp/a.png")
	if want := "[Pasted text #1 +3 lines]x[Pasted text #2][Image #3]"; e.Text() != want {
		t.Errorf("%q", e.Text())
	}
	d := e.Draft()
	if want := "a\nb\nc\ndx" + strings.Repeat("é", 801) + "[Image #3]"; d.Prompt() != want {
		t.Errorf("prompt %q", d.Prompt())
	}
	if im := d.Images(); len(im) != 1 || im[0].Content != "/tmp/a.png" {
		t.Errorf("%+v", im)
	}
	press(e, "backspace backspace left backspace") // each goes as one; the last finds nothing but the first
	if e.Text() != "x" {
		t.Errorf("%q", e.Text())
	}
	press(e, "ctrl+_")
	e.Load(d)
	if e.Text() != d.Text || e.Draft().Prompt() != d.Prompt() {
		t.Errorf("a draft that is loaded: %q", e.Text())
	}
	if p := e.Paste(long); p.Placeholder != "[Pasted text #4 +3 lines]" {
		t.Errorf("numbers go on: %+v", p)
	}
	if p := e.Paste(long); p.Placeholder != "" || !strings.HasSuffix(e.Text(), "[Image #3]a\nb\nc\nd") {
		t.Errorf("the same paste again: %+v, %q", p, e.Text())
	}
}

// What was killed in one prompt can be yanked in the next, placeholders too.
func TestKilledPlaceholderSurvivesSending(t *testing.T) {
	e := New(Options{})
	e.Paste("1\n2\n3\n4")
	press(e, "ctrl+u")
	e.Take()
	press(e, "ctrl+y")
	if e.Draft().Prompt() != "1\n2\n3\n4" {
		t.Errorf("%+v", e.Draft())
	}
	old := Draft{Text: "[Pasted text #1 +9 lines]", Parts: []Part{{ID: 1, Kind: Pasted, Label: "[Pasted text #1 +9 lines]", Content: "old"}}}
	e.Load(old)
	press(e, "ctrl+y")
	if got := e.Draft().Prompt(); got != "old1\n2\n3\n4" {
		t.Errorf("a recalled placeholder of the same number: %q", got)
	}
}

func TestPasteOfAMegabyte(t *testing.T) {
	s := strings.Repeat("some line of text, é, and its end\r\n", 1<<20/36)
	e := New(Options{})
	e.Paste(s)
	e.View()
	if e.Draft().Prompt() != strings.ReplaceAll(s, "\r\n", "\n") {
		t.Fatal("the paste was changed")
	}
}

func TestStripInvisible(t *testing.T) {
	e := at(Options{}, "a\u202eb\u200b|c 🏴\U000e0067\U000e0062\U000e007f x\U000e0041\u200d")
	if n := e.StripInvisible(); n != 3 || shown(e) != "ab|c 🏴\U000e0067\U000e0062\U000e007f x\u200d" {
		t.Errorf("%d removed, %q", n, shown(e))
	}
	if n := e.StripInvisible(); n != 0 {
		t.Errorf("%d removed the second time", n)
	}
}

func rows(v *View) string {
	var b strings.Builder
	for _, r := range v.Rows {
		b.WriteString(r.Text)
		if r.Soft {
			b.WriteString("↩")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestView(t *testing.T) {
	for _, c := range []struct {
		text     string
		cols     int
		want     string
		row, col int
	}{
		{"|", 10, "\n", 0, 0},
		{"one two three|", 8, "one two ↩\nthree\n", 1, 5},
		{"one two| three", 8, "one two ↩\nthree\n", 0, 7},
		{"one two |three", 8, "one two ↩\nthree\n", 1, 0},
		{"12345678|", 8, "12345678↩\n\n", 1, 0},
		{"|12345678", 8, "12345678\n", 0, 0},
		{"123456789a|", 4, "1234↩\n5678↩\n9a\n", 2, 2},
		{"文字文字|", 5, "文字↩\n文字\n", 1, 4},
		{"a文字|文", 4, "a文↩\n字文\n", 1, 2},
		{"a\tb|\n\nc", 10, "a    b\n\nc\n", 0, 6},
		{"word 👩‍👩‍👧|👩‍👩‍👧", 7, "word 👩‍👩‍👧↩\n👩‍👩‍👧\n", 1, 0},
	} {
		e := at(Options{}, c.text)
		e.SetWidth(c.cols)
		v := e.View()
		if got := rows(v); got != c.want || v.Row != c.row || v.Col != c.col {
			t.Errorf("%q at %d: %q with the cursor at %d,%d", c.text, c.cols, got, v.Row, v.Col)
		}
	}
	e := New(Options{})
	e.SetWidth(18)
	press(e, "x")
	e.Paste("1\n2\n3\n4")
	v := e.View()
	if got := rows(v); got != "x[Pasted text #1 ↩\n+3 lines]\n" || v.Rows[0].Labels[0] != [2]int{1, 17} || v.Rows[1].Labels[0] != [2]int{0, 9} {
		t.Errorf("%q %v", got, v.Rows)
	}
}

// Any keys in any order: no panic, the cursor on a boundary and in a cell of its own, and undo and redo end where they began.
func TestRandomKeys(t *testing.T) {
	var names []string
	for k := range bound {
		names = append(names, k)
	}
	texts := []string{"a", "b", " ", "文", "e", "\u0301", "👩", "\u200d", "👧", "🇩", "🇪", "\\", ".", "\t"}
	rapid.Check(t, func(t *rapid.T) {
		e := New(Options{Readline: rapid.Bool().Draw(t, "readline")})
		e.SetWidth(rapid.IntRange(1, 30).Draw(t, "width"))
		vim := (*Vim)(nil)
		if rapid.Bool().Draw(t, "vim") {
			vim = NewVim()
		}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			step(t, e, vim, names, texts)
			check(t, e)
			checkSelection(t, e, vim)
		}
		roundTrip(t, e)
	})
}

func step(t *rapid.T, e *Editor, vim *Vim, names, texts []string) {
	key := e.Key
	if vim != nil {
		key = func(name, text string) Result { return vim.Key(e, name, text) }
	}
	switch rapid.IntRange(0, 11).Draw(t, "what") {
	case 0, 1, 2, 3:
		key(rapid.SampledFrom(names).Draw(t, "key"), "")
	case 4:
		e.Paste(rapid.SampledFrom([]string{"1\n2\n3\n4", "x\r\ny", "\x1b[m", strings.Repeat("long ", 200)}).Draw(t, "paste"))
	case 5:
		e.Attach(Image, "i")
	case 6:
		e.SetWidth(rapid.IntRange(1, 30).Draw(t, "width"))
	case 7:
		key("esc", "")
	case 8:
		k := rapid.SampledFrom(strings.Split("hjklwbeWBE0$^GgfFtT;,xXdDcCyYsSpPrJu.~ia\"'([{vVoOIA<>U3", "")).Draw(t, "vim")
		key(k, k)
	default:
		s := rapid.SampledFrom(texts).Draw(t, "text")
		key(s, s)
	}
}

func check(t *rapid.T, e *Editor) {
	if !utf8.ValidString(e.text) || e.cur < 0 || e.cur > len(e.text) {
		t.Fatalf("text %q, cursor %d", e.text, e.cur)
	}
	pos := 0
	for pos < e.cur {
		pos = e.next(pos)
	}
	if pos != e.cur || e.snap(e.cur) != e.cur || e.cur > 0 && e.next(e.prev(e.cur)) != e.cur {
		t.Fatalf("cursor %d is not on a boundary of %q", e.cur, e.text)
	}
	v := e.View()
	if v.Row >= len(v.Rows) || v.Col > e.width || v.Col < 0 || v.Col == e.width && e.width > 4 {
		t.Fatalf("cursor at %d,%d of %d rows, %d cells", v.Row, v.Col, len(v.Rows), e.width)
	}
	var all strings.Builder
	for _, r := range v.Rows {
		if w := width.Of(r.Text); w > e.width && e.width >= tabCells {
			t.Fatalf("row %q has %d cells of %d", r.Text, w, e.width)
		}
		all.WriteString(r.Text)
	}
	want := strings.NewReplacer("\n", "", "\t", "    ").Replace(e.Text())
	if all.String() != want {
		t.Fatalf("rows show %q, the text is %q", all.String(), want)
	}
}

// checkSelection: what the rows show as selected is what is selected.
func checkSelection(t *rapid.T, e *Editor, vim *Vim) {
	if vim == nil {
		return
	}
	from, to, ok := vim.Selection(e)
	want, got := "", ""
	if ok {
		want = strings.NewReplacer("\n", "", "\t", "    ").Replace(e.Text()[from:to])
	}
	for i, r := range e.View().Rows {
		a, b := vim.Selected(e, i)
		got += r.Text[a:b]
	}
	if got != want {
		t.Fatalf("selected %q, shown %q", want, got)
	}
}

func roundTrip(t *rapid.T, e *Editor) {
	text, cur, n := e.text, e.cur, 0
	for e.Undo() {
		check(t, e)
		n++
	}
	for range n {
		e.Redo()
	}
	if e.text != text || e.cur != cur {
		t.Fatalf("undo and redo of %d steps: %q became %q", n, text, e.text)
	}
}

func BenchmarkKeyInALongText(b *testing.B) {
	e := New(Options{})
	e.SetWidth(80)
	e.SetText(strings.Repeat("some words of a prompt that somebody wrote\n", 100))
	for b.Loop() {
		e.Key("x", "x")
		e.View()
		e.Key("backspace", "")
		e.View()
	}
}

// A paste of 1 MB, with the view of it.
func BenchmarkPasteOfAMegabyte(b *testing.B) {
	s := strings.Repeat("some line of text, é, and its end\r\n", 1<<20/36)
	for b.Loop() {
		e := New(Options{})
		e.Paste(s)
		e.View()
	}
}
