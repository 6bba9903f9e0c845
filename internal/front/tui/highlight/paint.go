package highlight

import (
	"strings"

	"lathe/internal/front/tui/theme"
)

// Style is a theme's style for a kind.
func Style(t *theme.Theme, k Kind) theme.Style {
	switch k {
	case Keyword:
		return t.Keyword
	case String:
		return t.String
	case Comment:
		return t.Comment
	case Number:
		return t.Number
	case Function:
		return t.Function
	case Type:
		return t.Type
	case Builtin:
		return t.Builtin
	case Key:
		return t.Function
	case Inserted:
		return t.AddedSign
	case Deleted:
		return t.RemovedSign
	}
	return ""
}

// Paint puts a line's styles in, with as few sequences as will do. The line must be inert already.
func Paint(t *theme.Theme, line string, spans []Span) string {
	if len(spans) == 0 || t.Depth == theme.Plain {
		return line
	}
	var b strings.Builder
	b.Grow(len(line) + 10*len(spans))
	at := 0
	for i := 0; i < len(spans); {
		s := Style(t, spans[i].Kind)
		j := i + 1 // spans of one style with only blanks between them are one
		for j < len(spans) && Style(t, spans[j].Kind) == s && strings.TrimLeft(line[spans[j-1].End:spans[j].Start], " ") == "" {
			j++
		}
		b.WriteString(line[at:spans[i].Start])
		b.WriteString(s.Paint(line[spans[i].Start:spans[j-1].End]))
		at, i = spans[j-1].End, j
	}
	b.WriteString(line[at:])
	return b.String()
}
