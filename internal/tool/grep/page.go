package grep

import (
	"fmt"
	"strconv"
	"strings"

	"lathe/internal/search"
	"lathe/internal/tool"
)

// page cuts a report to one result.
type page struct {
	in     *Input
	limit  int
	rel    func(abs string) string
	single bool // the path was a file: lines need no name in front

	text  strings.Builder
	seen  int  // entries before and on the page
	shown int  // entries on the page
	full  bool // the byte limit was met
}

// room reports whether the next entry, of n bytes, belongs on the page, and counts it.
func (p *page) room(n int) bool {
	p.seen++
	if p.seen <= p.in.Offset || p.shown >= p.limit || p.full {
		return false
	}
	if p.shown > 0 && p.text.Len()+n+1 > maxBytes {
		p.full = true
		return false
	}
	p.shown++
	return true
}

func (p *page) line(s string) {
	if p.text.Len() > 0 {
		p.text.WriteByte('\n')
	}
	p.text.WriteString(s)
}

// render returns the structured output and the text for the model.
func (p *page) render(r *search.Report) (Output, string) {
	out := Output{Mode: p.in.OutputMode, Filenames: []string{}}
	switch p.in.OutputMode {
	case modeContent:
		p.content(r, &out)
	case modeCount:
		p.counts(r, &out)
	default:
		p.files(r, &out)
	}
	total := p.seen
	if p.in.Offset > 0 {
		out.AppliedOffset = &p.in.Offset
	}
	if p.in.Offset+p.shown < total {
		out.AppliedLimit = &p.shown
	}
	out.NumFiles = len(out.Filenames)
	return out, p.words(r, total)
}

func (p *page) files(r *search.Report, out *Output) {
	total := len(r.Files)
	out.TotalFiles = &total
	for _, f := range r.Files {
		name := p.rel(f.Path)
		if p.room(len(name)) {
			p.line(name)
			out.Filenames = append(out.Filenames, name)
		}
	}
}

func (p *page) counts(r *search.Report, out *Output) {
	total, matches := len(r.Files), 0
	for _, f := range r.Files {
		matches += f.Matches
		name := p.rel(f.Path)
		entry := name + ":" + strconv.Itoa(f.Matches)
		if p.room(len(entry)) {
			p.line(entry)
			out.Filenames = append(out.Filenames, name)
		}
	}
	text := p.text.String()
	out.Content, out.NumMatches, out.TotalFiles = &text, &matches, &total
}

func (p *page) content(r *search.Report, out *Output) {
	files, matches := len(r.Files), 0
	for i := range r.Files {
		f := &r.Files[i]
		matches += f.Matches
		if p.fileLines(f, i > 0) {
			out.Filenames = append(out.Filenames, p.rel(f.Path))
		}
	}
	text, lines := p.text.String(), p.shown
	out.Content, out.NumLines, out.NumMatches, out.TotalFiles = &text, &lines, &matches, &files
	if total := p.seen; total != lines {
		out.TotalLines = &total
	}
}

// fileLines adds the lines of one file and reports whether any of them is on the page.
func (p *page) fileLines(f *search.FileHit, gap bool) bool {
	before, name := p.shown, p.rel(f.Path)
	if f.Binary {
		if p.room(len(name) + 40) {
			p.line(name + ": binary file matches")
		}
		return p.shown > before
	}
	context := (*p.in.Before > 0 || *p.in.After > 0) && !p.in.Only
	for i := range f.Lines {
		l := &f.Lines[i]
		text := p.prefix(name, l) + l.Text
		if !p.room(len(text)) {
			continue
		}
		if context && (l.Gap || i == 0 && gap) && p.shown > 1 {
			p.line("--")
		}
		p.line(text)
	}
	p.seen += f.NumLines - len(f.Lines)
	return p.shown > before
}

// prefix is what stands before a line: name and number with colons, or with dashes before context.
func (p *page) prefix(name string, l *search.Line) string {
	sep := ":"
	if !l.Match {
		sep = "-"
	}
	s := ""
	if !p.single {
		s = name + sep
	}
	if p.in.Numbers == nil || *p.in.Numbers {
		s += strconv.Itoa(l.Num) + sep
	}
	return s
}

// words adds to the text what it leaves out and how to get it.
func (p *page) words(r *search.Report, total int) string {
	var notes []string
	text := p.text.String()
	if total == 0 {
		text = "No matches found"
		if p.in.Type != "" || p.in.Glob != "" {
			text = "No matches found in files of that glob and type"
		}
	}
	unit := map[string]string{modeContent: "lines"}[p.in.OutputMode]
	if unit == "" {
		unit = "files"
	}
	switch end := p.in.Offset + p.shown; {
	case total > 0 && p.in.Offset >= total:
		notes = append(notes, fmt.Sprintf("Nothing at offset %d: there are %d %s.", p.in.Offset, total, unit))
	case end < total:
		notes = append(notes, fmt.Sprintf("Shown: %d-%d of %d %s. Go on with offset %d, or narrow the search.",
			p.in.Offset+1, end, total, unit, end))
	}
	if r.Unreadable > 0 {
		notes = append(notes, tool.Count(r.Unreadable, "file or folder", "files or folders")+" could not be read.")
	}
	if n := len(r.TooLarge); n > 0 {
		notes = append(notes, fmt.Sprintf("Too large for this search: %s, such as %s.", tool.Count(n, "file"), p.rel(r.TooLarge[0])))
	}
	for _, n := range notes {
		if text != "" {
			text += "\n"
		}
		text += "[" + n + "]"
	}
	return text
}
