package editor

import (
	"strings"
	"testing"
)

// vimKeys presses characters; <esc>, <cr> and the like are named keys.
func vimKeys(v *Vim, e *Editor, keys string) Result {
	var r Result
	for keys != "" {
		if end := strings.IndexByte(keys, '>'); keys[0] == '<' && end > 2 {
			r = v.Key(e, keys[1:end], "")
			keys = keys[end+1:]
			continue
		}
		k := string([]rune(keys)[:1])
		r = v.Key(e, k, k)
		keys = keys[len(k):]
	}
	return r
}

func TestVim(t *testing.T) {
	for _, c := range []struct{ text, keys, want string }{
		{"one two|", "", "one tw|o"},
		{"one two|", "bix", "one x|two"},
		{"|one two", "wx", "one |wo"},
		{"|one two", "ex", "on| two"},
		{"|one.two x", "Wx", "one.two| "},
		{"|one two three", "dw", "|two three"},
		{"|one two three", "2dw", "|three"},
		{"|one two three", "d2w", "|three"},
		{"one |two", "dw", "one| "},
		{"|one two", "cwx<esc>", "|x two"},
		{"|one two", "de", "| two"},
		{"one two|", "db", "one |o"},
		{"|one\ntwo\nthree", "dd", "|two\nthree"},
		{"|one\ntwo\nthree", "2dd", "|three"},
		{"one\n|two", "dd", "|one"},
		{"one\n|two", "ddP", "|two\none"},
		{"|one\ntwo", "ddp", "two\n|one"},
		{"|one", "yyp", "one\n|one"},
		{"|one two", "ywP", "one| one two"},
		{"|abc", "xp", "b|ac"},
		{"ab|cd", "D", "a|b"},
		{"ab|cd", "Cx<esc>", "ab|x"},
		{"  ab|cd", "Sx<esc>", "|x"},
		{"  ab|cd", "Ix<esc>", "  |xabcd"},
		{"ab|cd", "Ax<esc>", "abcd|x"},
		{"a|b", "ox<esc>", "ab\n|x"},
		{"a|b", "Ox<esc>", "|x\nab"},
		{"|a(b)c", "f)x", "a(b|c"},
		{"|a.b.c", "f.;x", "a.b|c"},
		{"|a.b.c", "t.x", "|.b.c"},
		{"a.b.|c", "F.x", "a.b|c"},
		{"a.b.|c", "F.;,x", "a.b|c"},
		{"|a b", "$x", "a| "},
		{"a\n  b|", "ggx", "|\n  b"},
		{"|a\nb", "Gx", "a\n|"},
		{"|a\n b", "jx", "a\n|b"},
		{"a (b |c) d", "di(", "a (|) d"},
		{"a (b |c) d", "da(", "a | d"},
		{`a "b |c" d`, `ci"x<esc>`, `a "|x" d`},
		{`|a "b c" d`, `di"`, `a "|" d`},
		{"one t|wo three", "diw", "one | three"},
		{"one t|wo three", "daw", "one |three"},
		{"|a b", ">>", "  |a b"},
		{"  |a", "<<", "|a"},
		{"|a\n  b", "J", "a| b"},
		{"|aBc", "~~", "Ab|c"},
		{"|abc", "rx", "|xbc"},
		{"|abc", "2rx", "x|xc"},
		{"|one two", "dwu", "|one two"},
		{"|one two three", "dw.", "|three"},
		{"|a b c", "cwx<esc>w.", "x |x c"},
		{"|a", "ix y z<esc>u", "|a"},
		{"|one two", "vey", "|one two"},
		{"|one two", "ved", "| two"},
		{"|one two", "vld", "|e two"},
		{"|one\ntwo\nx", "Vjd", "|x"},
		{"|abc", "vlU", "|ABc"},
		{"|abc", "vlrx", "|xxc"},
		{"|abc", "vlo<esc>x", "|bc"},
		{"a (b |c) d", "vi(d", "a (|) d"},
		{"|👩‍👩‍👧文", "x", "|文"},
		{"|one two", "yiwwvep", "one |one"},
		{"a|b", "<left>x", "|b"},
		{"|a b c d", "3x", "| c d"},
	} {
		e := at(Options{}, c.text)
		v := NewVim()
		e.moveTo(e.cur)
		v.mode = Normal
		v.clamp(e)
		vimKeys(v, e, c.keys)
		if got := shown(e); got != c.want {
			t.Errorf("%q, keys %q: got %q, want %q (%s)", c.text, c.keys, got, c.want, v.Mode())
		}
	}
}

func TestVimResults(t *testing.T) {
	e, v := at(Options{}, "a|"), NewVim()
	if r := vimKeys(v, e, "<esc>"); r != Done || v.Mode() != Normal {
		t.Errorf("%v %v", r, v.Mode())
	}
	for keys, want := range map[string]Result{"<esc>": Ignored, "/": Search, "k": HistoryPrev, "j": HistoryNext, "<enter>": Submit, "<ctrl+r>": Ignored} {
		if r := vimKeys(v, e, keys); r != want {
			t.Errorf("%s: %v, want %v", keys, r, want)
		}
	}
	vimKeys(v, e, "2d")
	if v.Pending() != "2d" {
		t.Errorf("pending %q", v.Pending())
	}
	vimKeys(v, e, "<esc>v")
	if from, to, ok := v.Selection(e); !ok || from != 0 || to != 1 {
		t.Errorf("selection %d to %d", from, to)
	}
}

// What was typed before the first command is not repeated as commands.
func TestVimRepeatsOnlyChanges(t *testing.T) {
	e, v := New(Options{}), NewVim()
	vimKeys(v, e, "dd x<esc>.")
	if got := shown(e); got != "dd |x" {
		t.Errorf("%q", got)
	}
}
