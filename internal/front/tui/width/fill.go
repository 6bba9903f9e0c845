package width

import "strings"

// Filled is the text of a line of prose, made so that a terminal of cols columns, which breaks anywhere, breaks between
// words: where a word does not fit any more, spaces fill the row, and the hanging indent is spaces too. So no line end
// comes into what is copied, only more of the spaces that stood there, and none inside of a word. What cannot go to the next row without a
// great gap, of more than half a row, breaks at the edge: a long word, and text of wide characters, which needs no spaces. Other lines are
// returned as they are.
func (l Line) Filled(cols int) string {
	if !l.Prose || len(l.Text) < cols && isPlain(l.Text) || cols < 4 {
		return l.Text
	}
	f := filler{cols: cols, hang: Of(l.Hang)}
	if f.hang > cols/2 { // as in Rows
		f.hang = 0
	}
	text := l.Text
	for text != "" {
		i := strings.IndexByte(text, ' ')
		if i < 0 {
			i = len(text)
		}
		f.word(text[:i])
		n := i
		for n < len(text) && text[n] == ' ' {
			n++
		}
		f.spaces += n - i
		text = text[n:]
	}
	if f.at+f.spaces < cols {
		f.b.WriteString(Spaces(f.spaces))
	}
	return f.b.String()
}

type filler struct {
	b          strings.Builder
	cols, hang int
	at         int // the column; cols where the next character wraps
	spaces     int // that are due
	open       sequences
}

// word adds what stands between spaces.
func (f *filler) word(w string) {
	cells, whole := 0, true
	for i := 0; i < len(w); {
		n, c := Next(w[i:])
		cells += c
		whole = whole && (c < 2 || cells == c && i+n == len(w))
		i += n
	}
	defer f.open.read(w)
	if cells == 0 && Strip(w) == "" {
		f.b.WriteString(w)
		return
	}
	whole = whole && f.hang+cells < f.cols && (cells <= f.cols/2 || f.cols-f.at <= (f.cols+1)/2)
	end := f.at + f.spaces
	if f.at > 0 && (end >= f.cols || whole && end+cells >= f.cols) {
		f.wrap()
	} else { // with one space at the edge at least, which keeps the words apart in a copy
		f.spaces = min(f.spaces, f.cols/2)
		f.b.WriteString(Spaces(f.spaces))
		f.at += f.spaces
	}
	f.spaces = 0
	f.b.WriteString(w)
	if f.at+cells <= f.cols {
		f.at += cells
		return
	}
	for i := 0; i < len(w); { // the terminal breaks it
		n, c := Next(w[i:])
		if f.at+c > f.cols {
			f.at = 0
		}
		f.at += c
		i += n
	}
}

// wrap fills the row and indents the next one. No style reaches into that.
func (f *filler) wrap() {
	fill := f.cols - f.at
	f.at = f.hang
	if fill == 0 { // after a word that ends at the edge
		f.at = max(1, f.hang)
	}
	f.b.WriteString(f.open.close())
	f.b.WriteString(Spaces(fill + f.at))
	f.b.WriteString(f.open.String())
}
