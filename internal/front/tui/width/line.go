package width

import "strings"

// Line is one logical line of the screen: a paragraph is one Line however long it is. Who prints it decides about
// wrapping: Rows wraps at words; printing Text leaves it to the terminal, and printing Filled too, at words.
type Line struct {
	// Text has no line end. It may carry SGR and OSC 8 sequences, and ends with all of them closed.
	Text string
	// Hang stands before each further row when Rows wraps, such as the indent of a list item or the bar of a quote.
	Hang string
	// Fixed lines are made for the width they were rendered at (tables): Rows cuts them instead of wrapping.
	Fixed bool
	// Prose is wrapped at words by Filled where the terminal wraps.
	Prose bool
}

// Seg is a part of a line that fits in a row: bytes [Start, End) and its width.
type Seg struct{ Start, End, Cells int }

// Breaks divides s into rows: the first may take first cells, the others rest. It breaks after spaces and hyphens between
// letters, before and after wide characters, and inside a word only when the word alone is longer than a row. All
// bytes of s are in exactly one Seg, so that spaces at a break hang at the end of their row, where they may stand past
// the edge. There is always at least one Seg.
func Breaks(s string, first, rest int) []Seg {
	first, rest = max(first, 1), max(rest, 1)
	if len(s) <= first && isPlain(s) {
		return []Seg{{0, len(s), len(s)}}
	}
	var out []Seg
	limit, start, cells := first, 0, 0
	good, goodCells := -1, 0 // the last place where a break is allowed, and the width up to there
	after := middle
	for i := 0; i < len(s); {
		n, w := Next(s[i:])
		cluster := s[i : i+n]
		if w > 0 && cluster != " " { // may we break before this cluster?
			if i > start && (after == gap || (after == wide || w == 2 && after != opener) && !closing(cluster)) {
				good, goodCells = i, cells
			}
			if cells+w > limit && cells > 0 {
				if good <= start {
					good, goodCells = i, cells
				}
				out = append(out, Seg{start, good, goodCells})
				cells -= goodCells
				start, good, limit = good, -1, rest
				if cells+w > limit && i > start { // what is left is too long as well
					i, cells, after = start, 0, middle
					continue
				}
			}
		}
		cells += w
		i += n
		if w > 0 {
			after = kind(cluster, w)
			if cluster == "-" && i-n > start && i < len(s) && isLetter(s[i-n-1]) && isLetter(s[i]) {
				after = gap
			}
		}
	}
	return append(out, Seg{start, len(s), cells})
}

// What stands before a place in a line, as far as breaking is concerned.
const (
	middle = iota
	gap    // a space or the like: break here
	wide   // a wide character: break here, but not before closing punctuation
	opener // opening punctuation: never break here
)

func kind(cluster string, cells int) int {
	switch {
	case cluster == " ":
		return gap
	case cells != 2:
		return middle
	case opening(cluster):
		return opener
	}
	return wide
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

// closing punctuation does not start a row, opening punctuation does not end one (kinsoku, the common part of it).
func closing(cluster string) bool {
	return strings.Contains("、。，．：；？！）］｝」』】〉》〕”’ー・…々ぁぃぅぇぉっゃゅょァィゥェォッャュョ", cluster)
}

func opening(cluster string) bool {
	return strings.Contains("（［｛「『【〈《〔“‘", cluster)
}

// Rows wraps the line at cols cells. Spaces at a break are dropped, styles are closed at the end of a row and opened
// again in the next, and each row but the first begins with Hang.
func (l Line) Rows(cols int) []string {
	wrapped := l.Wrap(cols)
	rows := make([]string, len(wrapped))
	for i, r := range wrapped {
		rows[i] = r.Text
	}
	return rows
}

// Row is a row of a line that was wrapped.
type Row struct {
	Text string
	Cont bool   // it goes on with the row before it
	Hang int    // cells at its start that are no part of the line
	Glue string // what stands in the line between the row before it and this one: spaces, or nothing
}

// Wrap is Rows, with what it takes to have the line's text back.
func (l Line) Wrap(cols int) []Row {
	cols = max(cols, 1)
	if l.Fixed {
		return []Row{{Text: Cut(l.Text, cols, "…")}}
	}
	if len(l.Text) <= cols && isPlain(l.Text) {
		return []Row{{Text: l.Text}}
	}
	hang, hangCells := l.Hang, Of(l.Hang)
	if hangCells > cols/2 { // on a very narrow screen the text matters more
		hang, hangCells = "", 0
	}
	segs := Breaks(l.Text, cols, cols-hangCells)
	if len(segs) == 1 {
		if segs[0].Cells > cols {
			return []Row{{Text: Cut(l.Text, cols, "")}}
		}
		return []Row{{Text: l.Text}}
	}
	rows := make([]Row, 0, len(segs))
	var open sequences
	glue := ""
	for i, g := range segs {
		text, rest := l.Text[g.Start:g.End], ""
		if i < len(segs)-1 {
			text, rest = trimRight(text)
		} else if room := cols - hangCells; g.Cells > room {
			text, rest = trimRight(text) // spaces past the edge
		}
		row := Row{Text: open.String() + text, Cont: i > 0, Glue: glue}
		if i > 0 {
			row.Text, row.Hang = hang+row.Text, hangCells
		}
		open.read(text)
		row.Text += open.close()
		rows = append(rows, row)
		open.read(rest)
		glue = Strip(rest)
	}
	return rows
}

// Mark paints the cells [from, to) of a row, without the styles that they have. It also returns their text.
func Mark(s string, from, to int, paint func(string) string) (painted, text string) {
	var before, marked strings.Builder
	var open sequences
	cells, i := 0, 0
	for i < len(s) {
		n, w := Next(s[i:])
		if cells >= to && w > 0 {
			break
		}
		open.read(s[i : i+n])
		switch {
		case w > 0 && cells+w > from || w == 0 && s[i] != 0x1b && marked.Len() > 0:
			marked.WriteString(s[i : i+n])
		case marked.Len() == 0:
			before.WriteString(s[i : i+n])
		}
		cells += w
		i += n
	}
	if marked.Len() == 0 {
		return s, ""
	}
	var was sequences
	was.read(before.String())
	return before.String() + was.close() + paint(marked.String()) + open.String() + s[i:], marked.String()
}

// trimRight cuts s after its last visible character that is no space.
func trimRight(s string) (text, rest string) {
	end := 0
	for i := 0; i < len(s); {
		n, w := Next(s[i:])
		if w > 0 && s[i:i+n] != " " || w == 0 && end == i && s[i] != '\x1b' {
			end = i + n
		}
		i += n
	}
	return s[:end], s[end:]
}

// sequences are the styles and the link that are open at a point of a line.
type sequences struct {
	sgr  string // all sequences since the last reset
	link string
}

func (q *sequences) read(s string) {
	for i := strings.IndexByte(s, '\x1b'); i >= 0; i = strings.IndexByte(s, '\x1b') {
		n := escape(s[i:])
		if n == 0 {
			return
		}
		switch seq := s[i : i+n]; {
		case seq == "\x1b[m" || seq == "\x1b[0m":
			q.sgr = ""
		case seq[1] == '[' && seq[n-1] == 'm':
			q.sgr += seq
		case strings.HasPrefix(seq, "\x1b]8;;\x1b") || strings.HasPrefix(seq, "\x1b]8;;\a"):
			q.link = ""
		case strings.HasPrefix(seq, "\x1b]8;"):
			q.link = seq
		}
		s = s[i+n:]
	}
}

func (q *sequences) String() string { return q.link + q.sgr }

func (q *sequences) close() string {
	out := ""
	if q.sgr != "" {
		out = "\x1b[m"
	}
	if q.link != "" {
		out += "\x1b]8;;\x1b\\"
	}
	return out
}

// Links wraps text in an OSC 8 link. The address must be free of control characters; otherwise text comes back alone.
func Link(address, text string) string {
	for i := range len(address) {
		if address[i] < 0x21 || address[i] > 0x7e {
			return text
		}
	}
	return "\x1b]8;;" + address + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}
