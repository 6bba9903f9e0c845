package editor

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// A placeholder stands in the text as one private character, from firstPart on. Typed and pasted text never has them.
const (
	firstPart = 0xf0000
	maxParts  = 0xfffd
)

// Kind is what a placeholder stands for.
type Kind string

const (
	Pasted Kind = "text"
	Image  Kind = "image"
)

// Part is what stands behind a placeholder. Label is unique in a draft.
type Part struct {
	ID      int    `json:"id"`
	Kind    Kind   `json:"type"`
	Label   string `json:"label"`
	Content string `json:"content,omitempty"` // the pasted text; for an image whatever the caller gave, such as a path
}

// Draft is a text with its placeholders, in the form that history and the draft file keep.
type Draft struct {
	Text  string `json:"text"` // with labels
	Parts []Part `json:"parts,omitempty"`
}

// Prompt is the text with pasted text put in. Images stay labels: send them along from Images.
func (d Draft) Prompt() string {
	var pairs []string
	for _, p := range d.Parts {
		if p.Kind == Pasted {
			pairs = append(pairs, p.Label, p.Content)
		}
	}
	if len(pairs) == 0 {
		return d.Text
	}
	return strings.NewReplacer(pairs...).Replace(d.Text)
}

// Images are the parts of kind Image in the order of their numbers.
func (d Draft) Images() []Part {
	var out []Part
	for _, p := range d.Parts {
		if p.Kind == Image {
			out = append(out, p)
		}
	}
	return out
}

// Pastes of more than these become placeholders.
const (
	maxPasteChars = 800
	maxPasteLines = 2
)

// PasteResult tells what a paste did.
type PasteResult struct {
	Placeholder string // its label, "" when the text was put in as it is
	Removed     int    // control characters that were dropped
}

// Paste puts pasted text in at the cursor: a long one as a placeholder, which the same paste again behind it turns into the
// text itself. Line ends never send.
func (e *Editor) Paste(s string) PasteResult {
	s, removed := clean(s)
	lines := strings.Count(s, "\n")
	if lines < maxPasteLines && (len(s) <= maxPasteChars || utf8.RuneCountInString(s) <= maxPasteChars) {
		if s != "" {
			e.begin(other)
			e.splice(e.cur, e.cur, s)
		}
		return PasteResult{Removed: removed}
	}
	if e.expand(s) {
		return PasteResult{Removed: removed}
	}
	return PasteResult{Placeholder: e.attach(Pasted, s, lines), Removed: removed}
}

// Attach puts a placeholder in at the cursor and returns its label.
func (e *Editor) Attach(k Kind, content string) string {
	return e.attach(k, content, strings.Count(content, "\n"))
}

func (e *Editor) attach(k Kind, content string, lines int) string {
	if e.last >= maxParts {
		e.last = 0
	}
	e.last++
	p := Part{ID: e.last, Kind: k, Content: content}
	switch {
	case k == Image:
		p.Label = fmt.Sprintf("[Image #%d]", p.ID)
	case lines > 0:
		p.Label = fmt.Sprintf("[Pasted text #%d +%d lines]", p.ID, lines)
	default:
		p.Label = fmt.Sprintf("[Pasted text #%d]", p.ID)
	}
	r := rune(firstPart + p.ID)
	e.parts[r] = p
	e.begin(other)
	e.splice(e.cur, e.cur, string(r))
	return p.Label
}

// expand puts a pasted content into the text, to be edited, where the cursor stands behind its placeholder.
func (e *Editor) expand(content string) bool {
	at := e.prev(e.cur)
	p, ok := e.partAt(at)
	if !ok || p.Kind != Pasted || p.Content != content {
		return false
	}
	e.begin(other)
	e.splice(at, e.next(at), p.Content)
	return true
}

func (e *Editor) partAt(pos int) (Part, bool) {
	if pos >= len(e.text) || e.text[pos] < 0xf3 {
		return Part{}, false
	}
	r, _ := utf8.DecodeRuneInString(e.text[pos:])
	p, ok := e.parts[r]
	return p, ok
}

// labelled writes labels in the place of placeholders.
func (e *Editor) labelled(s string) string {
	i := partIndex(s)
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = partIndex(s) {
		b.WriteString(s[:i])
		r, n := utf8.DecodeRuneInString(s[i:])
		b.WriteString(e.parts[r].Label)
		s = s[i+n:]
	}
	b.WriteString(s)
	return b.String()
}

func partIndex(s string) int {
	return strings.IndexFunc(s, func(r rune) bool { return r >= firstPart })
}

// Draft is the present text with its placeholders; the editor keeps it.
func (e *Editor) Draft() Draft {
	d := Draft{Text: e.Text()}
	seen := map[rune]bool{}
	for _, r := range e.text {
		if p, ok := e.parts[r]; ok && !seen[r] {
			seen[r] = true
			d.Parts = append(d.Parts, p)
		}
	}
	sort.Slice(d.Parts, func(i, j int) bool { return d.Parts[i].ID < d.Parts[j].ID })
	return d
}

// Take returns the draft and empties the editor for the next one. The kill ring stays.
func (e *Editor) Take() Draft {
	d := e.Draft()
	e.Load(Draft{})
	return d
}

// Load replaces everything by a draft (of history, of the file of a crashed session), with nothing to undo and the
// cursor at the end. Placeholders get new numbers where theirs are taken by something else.
func (e *Editor) Load(d Draft) {
	kept := map[rune]Part{}
	for _, k := range e.ring {
		for _, r := range k {
			if p, ok := e.parts[r]; ok {
				kept[r] = p
			}
		}
	}
	e.parts = kept
	text, _ := clean(d.Text)
	var pairs []string
	for _, p := range d.Parts {
		if p.Label == "" || p.ID < 1 || p.ID > maxParts {
			continue
		}
		r := rune(firstPart + p.ID)
		if old, taken := e.parts[r]; taken && old != p {
			e.last++
			number := fmt.Sprintf("#%d", e.last)
			label := strings.Replace(p.Label, fmt.Sprintf("#%d", p.ID), number, 1)
			text = strings.ReplaceAll(text, p.Label, label)
			p.ID, p.Label = e.last, label
			r = rune(firstPart + p.ID)
		}
		e.last = max(e.last, p.ID)
		e.parts[r] = p
		pairs = append(pairs, p.Label, string(r))
	}
	if len(pairs) > 0 {
		text = strings.NewReplacer(pairs...).Replace(text)
	}
	e.text, e.cur = text, len(text)
	e.undo, e.redo, e.kind = nil, nil, none
	e.touch()
}

// StripInvisible removes characters that a reader cannot see but a model reads: bidirectional controls, zero-width
// spaces, tags. Joiners and the tags of flags stay. It returns how many it removed from the text and its pasted parts.
func (e *Editor) StripInvisible() int {
	text, n := strip(e.text)
	if n > 0 {
		e.begin(other)
		before, _ := strip(e.text[:e.cur])
		e.text = text
		e.cur = e.snap(min(len(before), len(text)))
		e.touch()
	}
	for r, p := range e.parts {
		if p.Kind != Pasted || !strings.ContainsRune(e.text, r) {
			continue
		}
		if content, m := strip(p.Content); m > 0 {
			n += m
			p.Content = content
			e.parts[r] = p
		}
	}
	return n
}

func strip(s string) (string, int) {
	n, flag := 0, false
	out := strings.Map(func(r rune) rune {
		switch {
		case r == 0x1f3f4: // black flag: tags after it name a region
			flag = true
			return r
		case flag && r >= 0xe0020 && r <= 0xe007f:
			flag = r != 0xe007f
			return r
		}
		flag = false
		switch {
		case r == 0xad, r == 0x61c, r == 0x180e, r == 0xfeff, r == 0x200b, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e,
			r >= 0x2060 && r <= 0x206f, r >= 0xe0000 && r <= 0xe007f, r >= 0xfff9 && r <= 0xfffb:
			n++
			return -1
		}
		return r
	}, s)
	return out, n
}
