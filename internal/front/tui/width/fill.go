package width

import "strings"

// Filled is the text of a line of prose, made so that a terminal of cols columns, which breaks anywhere, breaks between
// words: where a word does not fit any more, spaces fill the row, and the hanging indent is spaces too. So no line end
// comes into what is copied, only more of the spaces that stood there, and none inside of a word. What cannot go to the next row without a
// great gap, of more than half a row, breaks at the edge: a long word, and text of wide characters, which needs no spaces. Below a
// hanging indent such text breaks behind punctuation where a row is half full, and is indented too. Other lines are returned as they are.
func (l Line) Filled(cols int) string {
	if !l.Prose || len(l.Text) < cols && isPlain(l.Text) || cols < 4 {
		return l.Text
	}
	f := filler{cols: cols, hang: Of(l.Hang), indent: l.Hang}
	if f.hang > cols/2 { // as in Rows
		f.hang = 0
	}
	if f.hang == 0 || strings.Trim(Strip(l.Hang), " ") != "" { // what is no space would stand between the words of a copy
		f.indent = Spaces(f.hang)
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
	indent     string // as wide as hang, of spaces, which may have colours
	at         int    // the column; cols where the next character wraps
	spaces     int    // that are due
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
	if cells == 0 && Strip(w) == "" {
		f.put(w, 0)
		return
	}
	wide := !whole && f.hang > 0
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
	if f.at+cells <= f.cols {
		f.put(w, cells)
		return
	}
	if wide {
		f.between(w)
		return
	}
	f.b.WriteString(w)
	f.open.read(w)
	for i := 0; i < len(w); { // the terminal breaks it
		n, c := Next(w[i:])
		if f.at+c > f.cols {
			f.at = 0
		}
		f.at += c
		i += n
	}
}

// between adds text of wide characters that does not fit in the row, broken between them. The indent of the next row comes
// into a copy as spaces, which do the least harm behind punctuation.
func (f *filler) between(w string) {
	for w != "" {
		seg := Breaks(w, f.cols-f.at, f.cols-f.hang)[0]
		if seg.Cells > f.cols-f.at && f.at > f.hang {
			f.wrap()
			continue
		}
		cut, cells := seg.End, seg.Cells
		if cut < len(w) {
			if i, n := lastStop(w[:cut]); i > 0 && f.at+n >= f.cols/2 {
				cut, cells = i, n
			}
		}
		f.put(w[:cut], cells)
		if w = w[cut:]; Strip(w) != "" {
			f.wrap()
		}
	}
}

// lastStop is the place behind the last closing punctuation of s, and the width up to there; 0 where there is none.
func lastStop(s string) (at, cells int) {
	width := 0
	for i := 0; i < len(s); {
		n, c := Next(s[i:])
		width += c
		if cluster := s[i : i+n]; c == 2 && closing(cluster) && stops(cluster) {
			at, cells = i+n, width
		}
		i += n
	}
	return at, cells
}

// stops reports whether a closing sign ends a part of a sentence.
func stops(cluster string) bool {
	return strings.Contains("、。，．：；？！）］｝」』】〉》", cluster)
}

// put adds what stays in the row.
func (f *filler) put(s string, cells int) {
	f.b.WriteString(s)
	f.open.read(s)
	f.at += cells
}

// wrap fills the row and indents the next one. No style reaches into that.
func (f *filler) wrap() {
	fill := f.cols - f.at
	f.at = f.hang
	if fill == 0 { // after a word that ends at the edge
		f.at = max(1, f.hang)
	}
	f.b.WriteString(f.open.close())
	f.b.WriteString(Spaces(fill))
	if f.hang > 0 {
		f.b.WriteString(f.indent)
	} else {
		f.b.WriteString(Spaces(f.at))
	}
	f.b.WriteString(f.open.String())
}
