package tui

import (
	"context"
	"strings"

	"lathe/internal/event"
	"lathe/internal/front/tui/screen"
	"lathe/internal/front/tui/term"
	"lathe/internal/front/tui/width"
)

type fullView struct{}

func (*fullView) draw(*ui) error                { return nil }
func (*fullView) resize(int, int)               {}
func (*fullView) mouse(*ui, term.Mouse)         {}
func (*fullView) key(*ui, string) bool          { return false }
func (u *ui) toFull()                           {}
func (u *ui) toInline()                         {}
func (u *ui) openTranscript()                   {}
func (u *ui) openRewind()                       {}
func (u *ui) externalEditor()                   {}
func (u *ui) searchHistory()                    {}
func (u *ui) pasteImage()                       {}
func (u *ui) suggest()                          {}
func (u *ui) called(event.Call)                 {}
func (u *ui) uncalled(string)                   {}
func (u *ui) runShell(string)                   {}
func (u *ui) planDialog(e event.Ask) dialog     { return u.permissionDialog(e) }
func (u *ui) questionDialog(e event.Ask) dialog { return u.permissionDialog(e) }
func (u *ui) editDialog(e event.Ask) dialog     { return u.permissionDialog(e) }
func (u *ui) command(text string) bool {
	if text == "/exit" || text == "/quit" {
		u.quit = true
		return true
	}
	return false
}

type menu struct{}

func (*menu) key(*ui, string) bool { return false }
func (*menu) rows(*ui) []string    { return nil }

func runPlain(context.Context, Options) (Outcome, error) { return Outcome{}, nil }

var _ = screen.Cursor{}

// plainStream is an answer without Markdown.
type plainStream struct{ rest string }

func (u *ui) newStream() streamer { return &plainStream{} }

func (p *plainStream) Write(s string) (out []width.Line) {
	p.rest += s
	for {
		l, rest, ok := strings.Cut(p.rest, "\n")
		if !ok {
			return out
		}
		out = append(out, width.Line{Text: l})
		p.rest = rest
	}
}

func (p *plainStream) Open() []width.Line {
	if p.rest == "" {
		return nil
	}
	return []width.Line{{Text: p.rest}}
}

func (p *plainStream) Close() []width.Line {
	out := p.Open()
	p.rest = ""
	return out
}
