package search

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	windowSize  = 128 << 10 // how much of a file is looked at in one go, at first
	maxLine     = 8 << 20   // a longer line is searched in pieces
	maxWhole    = 32 << 20  // the largest file that is searched as one text (multiline, UTF-16)
	binaryProbe = 8000      // a NUL byte in so many first bytes means binary, as in git
)

var errTooLarge = errors.New("too large to be searched as one text")

// scanner searches one file after another for one worker. It reuses its buffer.
type scanner struct {
	opt  *GrepOptions
	m    *Matcher
	p    *probe
	buf  []byte
	win  int // bytes of a first read
	stop func() bool
}

func newScanner(m *Matcher, opt *GrepOptions, stop func() bool) *scanner {
	return &scanner{opt: opt, m: m, p: m.probe(), buf: make([]byte, windowSize), win: windowSize, stop: stop}
}

// scan searches an open file; nil when nothing matches.
func (s *scanner) scan(f file, named bool) (*FileHit, error) {
	n, err := f.read(s.buf[:s.win])
	if err != nil && err != io.EOF {
		return nil, err
	}
	eof := err == io.EOF
	b := s.buf[:n]
	if len(b) >= 2 && (b[0] == 0xff && b[1] == 0xfe || b[0] == 0xfe && b[1] == 0xff) {
		return s.scanUTF16(f, b, eof)
	}
	binary := bytes.IndexByte(b[:min(n, binaryProbe)], 0) >= 0
	if binary && !named {
		return nil, nil
	}
	c := &collector{opt: s.opt, m: s.m, hit: &FileHit{Binary: binary}, line: 1}
	if s.m.multiline {
		text, err := s.rest(f, b, eof)
		if err != nil {
			return nil, err
		}
		s.scanText(c, text)
	} else if err := s.scanLines(c, f, n, eof); err != nil {
		return nil, err
	}
	if c.hit.Matches == 0 {
		return nil, nil
	}
	return c.hit, nil
}

// scanLines moves a window over the file. Its first n bytes are in s.buf. The window always begins at the start
// of a line; behind the last whole line that was searched, lines that may become context are kept.
func (s *scanner) scanLines(c *collector, f file, n int, eof bool) error {
	from := 0 // what stands before was searched
	for {
		end := n
		if !eof {
			end = from + bytes.LastIndexByte(s.buf[from:n], '\n') + 1
			if end == from && n-from < maxLine { // no whole line yet
				var err error
				if n, eof, err = s.fill(f, n); err != nil {
					return err
				}
				continue
			}
			if end == from {
				end = n
			}
		}
		if done := s.window(c, s.buf[:end], from); done || eof && end == n || s.stop() {
			return nil
		}
		keep := c.keepFrom(s.buf[:end])
		c.shift(s.buf[:keep], keep)
		n = copy(s.buf, s.buf[keep:n])
		from = end - keep
		var err error
		if n, eof, err = s.fill(f, n); err != nil {
			return err
		}
	}
}

// fill reads more behind the first n bytes, growing the buffer when it is half full already.
func (s *scanner) fill(f file, n int) (int, bool, error) {
	if n > len(s.buf)/2 {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
	k, err := f.read(s.buf[n:])
	if err != nil && err != io.EOF {
		return n, false, err
	}
	return n + k, err == io.EOF, nil
}

// window searches whole lines from b[from:]; done when the file needs no more looking at.
func (s *scanner) window(c *collector, b []byte, from int) (done bool) {
	s.p.begin(b[from:])
	for pos := from; ; {
		start, end, ok := s.p.nextLine(b[from:], pos-from)
		if !ok {
			break
		}
		c.hit.Matches++
		if s.opt.Mode == ModeFiles {
			return true
		}
		start, end = start+from, end+from
		if s.opt.Mode == ModeContent {
			c.add(b, start, end)
		}
		pos = end + 1
		if c.hit.Matches&1023 == 0 && s.stop() {
			return true
		}
	}
	c.trail(b)
	return false
}

// rest reads the whole file.
func (s *scanner) rest(f file, b []byte, eof bool) ([]byte, error) {
	n := len(b)
	for !eof {
		if n >= maxWhole {
			return nil, errTooLarge
		}
		var err error
		if n, eof, err = s.fill(f, n); err != nil {
			return nil, err
		}
		if s.stop() {
			return nil, nil
		}
	}
	return s.buf[:n], nil
}

// scanText searches a text for matches that may span lines. Each line of a match counts as matching for what is
// shown; Matches counts matches.
func (s *scanner) scanText(c *collector, b []byte) {
	if !s.p.mayMatch(b) || s.stop() {
		return
	}
	limit := -1
	if s.opt.Mode == ModeFiles {
		limit = 1
	}
	pos := 0
	for _, loc := range s.m.spans(b, limit) {
		if loc[0] == len(b) && loc[0] > 0 && loc[0] == loc[1] {
			break
		}
		c.hit.Matches++
		if s.opt.Mode != ModeContent {
			continue
		}
		if s.opt.OnlyMatching {
			c.addSpan(b, loc[0], loc[1])
			continue
		}
		start, _ := lineAround(b, 0, loc[0], 0)
		_, last := lineAround(b, 0, max(loc[0], loc[1]-1), 0)
		for at := max(start, pos); at <= last && at < len(b); {
			_, end := lineAround(b, at, at, 0)
			c.add(b, at, end)
			at = end + 1
			pos = at
		}
	}
	c.trail(b)
}

// scanUTF16 searches a file that a byte order mark names as UTF-16.
func (s *scanner) scanUTF16(f file, b []byte, eof bool) (*FileHit, error) {
	raw, err := s.rest(f, b, eof)
	if err != nil {
		return nil, err
	}
	c := &collector{opt: s.opt, m: s.m, hit: &FileHit{}, line: 1}
	text := decodeUTF16(raw)
	if s.m.multiline {
		s.scanText(c, text)
	} else {
		s.window(c, text, 0)
	}
	if c.hit.Matches == 0 {
		return nil, nil
	}
	return c.hit, nil
}

func decodeUTF16(raw []byte) []byte {
	if len(raw) < 2 {
		return nil
	}
	big := raw[0] == 0xfe
	units := make([]uint16, 0, len(raw)/2)
	for i := 2; i+1 < len(raw); i += 2 {
		u := uint16(raw[i]) | uint16(raw[i+1])<<8
		if big {
			u = u<<8 | u>>8
		}
		units = append(units, u)
	}
	return []byte(string(utf16.Decode(units)))
}

// collector turns matching lines of one file into what is shown: with context, numbers and limits.
type collector struct {
	opt *GrepOptions
	m   *Matcher
	hit *FileHit

	pos, line int // line is the number of the line that starts at pos
	shown     int // number of the last line that was added
	next      int // where the line behind it starts
	after     int // how many lines behind it are still to be added
}

// number returns the number of the line that starts at at, which must not go back.
func (c *collector) number(b []byte, at int) int {
	c.line += bytes.Count(b[c.pos:at], []byte{'\n'})
	c.pos = at
	return c.line
}

// add takes the matching line b[start:end].
func (c *collector) add(b []byte, start, end int) {
	if c.opt.OnlyMatching {
		num := c.number(b, start)
		for _, loc := range c.m.spans(b[start:end], -1) {
			if loc[0] < loc[1] {
				c.keep(num, b[start+loc[0]:start+loc[1]], 0, true)
			}
		}
		return
	}
	c.follow(b, start)
	num := c.number(b, start)
	first, k := start, 0
	for k < c.opt.Before && first > 0 && num-k-1 > c.shown {
		first = bytes.LastIndexByte(b[:first-1], '\n') + 1
		k++
	}
	for at := first; at < start; k-- {
		stop := at + bytes.IndexByte(b[at:], '\n')
		c.keep(num-k, b[at:stop], 0, false)
		at = stop + 1
	}
	mark := 0
	if end-start > c.opt.lineLimit() {
		if loc := c.m.spans(b[start:end], 1); len(loc) > 0 {
			mark = loc[0][0]
		}
	}
	c.keep(num, b[start:end], mark, true)
	c.next, c.after = end+1, c.opt.After
}

// addSpan takes one match of a multiline search by itself.
func (c *collector) addSpan(b []byte, start, end int) {
	if start == end {
		return
	}
	line, _ := lineAround(b, 0, start, 0)
	c.keep(c.number(b, max(line, c.pos)), b[start:end], 0, true)
}

// follow adds lines behind the last match, up to the line that starts at limit.
func (c *collector) follow(b []byte, limit int) {
	for c.after > 0 && c.next < limit {
		end := limit
		if i := bytes.IndexByte(b[c.next:limit], '\n'); i >= 0 {
			end = c.next + i
		}
		c.keep(c.shown+1, b[c.next:end], 0, false)
		c.next = end + 1
		c.after--
	}
}

// trail adds what context is left in the window.
func (c *collector) trail(b []byte) { c.follow(b, len(b)) }

// keepFrom says from where on a searched window must be kept for context before a later match.
func (c *collector) keepFrom(b []byte) int {
	at := len(b)
	if c.opt.Mode != ModeContent {
		return at
	}
	for k := 0; k < c.opt.Before && at > 0 && len(b)-at < maxLine; k++ {
		at = bytes.LastIndexByte(b[:at-1], '\n') + 1
	}
	return at
}

// shift tells that the window's first n bytes (gone) are dropped.
func (c *collector) shift(gone []byte, n int) {
	if c.opt.Mode != ModeContent {
		return
	}
	if c.pos < n {
		c.number(gone, n)
	}
	c.pos -= n
	c.next = max(c.next-n, 0)
}

// keep stores one line, or only counts it when the file has as many as anybody will see.
func (c *collector) keep(num int, line []byte, mark int, match bool) {
	gap := c.shown > 0 && num > c.shown+1
	c.shown = num
	c.hit.NumLines++
	if len(c.hit.Lines) < c.opt.KeepLines {
		c.hit.Lines = append(c.hit.Lines, Line{Num: num, Text: clip(line, mark, c.opt.lineLimit()), Match: match, Gap: gap})
	}
}

// clip makes a line fit: of a long one, the part around mark, with how much is missing.
func clip(line []byte, mark, limit int) string {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) <= limit {
		return strings.ToValidUTF8(string(line), "\ufffd")
	}
	start := max(0, min(mark-limit/4, len(line)-limit))
	end := min(len(line), start+limit)
	for start > 0 && start < end && !utf8.RuneStart(line[start]) {
		start++
	}
	for end < len(line) && end > start && !utf8.RuneStart(line[end]) {
		end--
	}
	out := strings.ToValidUTF8(string(line[start:end]), "\ufffd")
	if start > 0 {
		out = "[…]" + out
	}
	if end < len(line) {
		out += "[…]"
	}
	return out
}

// modTimeOf is when the file was changed last; only files_with_matches asks for it.
func (s *scanner) modTimeOf(f file) time.Time {
	if s.opt.Mode != ModeFiles {
		return time.Time{}
	}
	return f.modTime()
}
