package screen

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// cell is one character of a row and what is in force for it.
type cell struct {
	text, state string
	width       int
}

// cells takes a row apart; ok is false where terminals may disagree about its widths.
func cells(line string) (out []cell, width int, ok bool) {
	if unsure(line) || strings.IndexByte(line, '\t') >= 0 {
		return nil, 0, false
	}
	var s splitter
	for line != "" {
		if line[0] == 0x1b {
			line = line[s.sequence(line):]
			continue
		}
		i := strings.IndexByte(line, 0x1b)
		if i < 0 {
			i = len(line)
		}
		g := displaywidth.StringGraphemes(line[:i])
		for g.Next() {
			out = append(out, cell{g.Value(), s.style + s.link, g.Width()})
			width += g.Width()
		}
		line = line[i:]
	}
	return out, width, true
}

// patchGap is up to how many characters that stay are written again, rather than jumped over.
const patchGap = 6

// patch turns the foot's row at into line by writing what differs. It reports false, with nothing written, where the whole
// row must be.
func (s *Inline) patch(at int, old, line string) bool {
	was, wasWidth, ok := cells(old)
	now, nowWidth, ok2 := cells(line)
	if !ok || !ok2 || nowWidth >= s.width || wasWidth >= s.width {
		return false
	}
	end := len(now) // behind it all is as it was
	if nowWidth == wasWidth {
		for end > 0 && len(was)-(len(now)-end) > 0 && now[end-1] == was[len(was)-(len(now)-end)-1] {
			end--
		}
	}
	col := 0
	aligned := true
	for i := 0; i < end; {
		if aligned && i < len(was) && now[i] == was[i] {
			col += now[i].width
			i++
			continue
		}
		to, same := i, 0 // to: behind the last that differs
		for j := i; j < end && same <= patchGap; j++ {
			if aligned && j < len(was) && now[j] == was[j] {
				same++
				continue
			}
			aligned = aligned && j < len(was) && now[j].width == was[j].width
			to, same = j+1, 0
		}
		s.move(at, col)
		state := ""
		for ; i < to; i++ {
			if c := now[i]; c.state != state {
				s.b.WriteString(closing(state) + c.state)
				state = c.state
			}
			s.b.WriteString(now[i].text)
			col += now[i].width
		}
		s.b.WriteString(closing(state))
		s.col = col
	}
	if nowWidth < wasWidth {
		s.move(at, nowWidth)
		s.b.WriteString("\x1b[K")
	}
	return true
}
