package term

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSequence bounds an escape sequence that does not end.
const maxSequence = 4096

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// Decoder turns the bytes of a terminal into events. Its zero value is ready.
type Decoder struct {
	buf     []byte
	paste   []byte
	pasting bool
	scanned int // bytes of paste in which no end was found
}

// Feed takes bytes, split anywhere, and returns the events that are complete.
func (d *Decoder) Feed(b []byte) []Event {
	d.buf = append(d.buf, b...)
	return d.take(false)
}

// Pending reports whether bytes wait that may be the begin of a sequence, or a lone Esc.
func (d *Decoder) Pending() bool { return len(d.buf) > 0 && !d.pasting }

// Flush takes what waits for what it is: nothing more came.
func (d *Decoder) Flush() []Event { return d.take(true) }

func (d *Decoder) take(final bool) []Event {
	var out []Event
	for len(d.buf) > 0 {
		if d.pasting {
			e, more := d.pasted()
			if more {
				break
			}
			out = append(out, e)
			continue
		}
		n, e := decode(d.buf, final)
		if n == 0 {
			break
		}
		if bytes.Equal(d.buf[:n], pasteStart) {
			d.pasting, d.paste, d.scanned, e = true, nil, 0, nil
		}
		d.buf = d.buf[n:]
		if e != nil {
			out = append(out, e)
		}
	}
	if len(d.buf) == 0 {
		d.buf = nil
	}
	return out
}

// pasted moves what was pasted aside until its end is seen.
func (d *Decoder) pasted() (Event, bool) {
	d.paste = append(d.paste, d.buf...)
	d.buf = nil
	i := bytes.Index(d.paste[d.scanned:], pasteEnd)
	if i < 0 {
		d.scanned = max(0, len(d.paste)-len(pasteEnd)+1)
		return nil, true
	}
	i += d.scanned
	text := strings.ToValidUTF8(string(d.paste[:i]), "\ufffd")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	d.buf = append([]byte(nil), d.paste[i+len(pasteEnd):]...)
	d.pasting, d.paste, d.scanned = false, nil, 0
	return Paste{text}, false
}

// decode reads one event at the start of b. n is 0 when more bytes are needed; final says that none come. The event is
// nil for what means nothing.
func decode(b []byte, final bool) (n int, e Event) {
	switch c := b[0]; {
	case c == 0x1b:
		return escape(b, final)
	case c < 0x20 || c == 0x7f:
		return 1, control(c, 0)
	}
	if !utf8.FullRune(b) && !final {
		return 0, nil
	}
	r, size := utf8.DecodeRune(b)
	if r == utf8.RuneError && size == 1 {
		return 1, nil
	}
	return size, typed(r, string(r), 0)
}

func control(c byte, mod Mod) Key {
	switch c {
	case '\r':
		return Key{Code: Enter, Mod: mod}
	case '\t':
		return Key{Code: Tab, Mod: mod}
	case 0x1b:
		return Key{Code: Escape, Mod: mod}
	case 0x7f, 0x08:
		return Key{Code: Backspace, Mod: mod}
	case 0:
		return Key{Code: ' ', Mod: mod | Ctrl}
	case 0x1c, 0x1d, 0x1e, 0x1f:
		return Key{Code: rune(`\]^_`[c-0x1c]), Mod: mod | Ctrl}
	}
	return Key{Code: rune('a' + c - 1), Mod: mod | Ctrl}
}

func escape(b []byte, final bool) (int, Event) {
	if len(b) == 1 {
		if final {
			return 1, Key{Code: Escape}
		}
		return 0, nil
	}
	switch c := b[1]; {
	case c == '[':
		return csi(b, final)
	case c == 'O':
		if len(b) == 2 {
			if final {
				return 2, typed('O', "", Alt)
			}
			return 0, nil
		}
		return 3, ss3(b[2])
	case c == ']' || c == 'P' || c == '_' || c == '^' || c == 'X':
		return text(b, final)
	case c == 0x1b:
		return 1, Key{Code: Escape}
	case c < 0x20 || c == 0x7f:
		return 2, control(c, Alt)
	}
	if !utf8.FullRune(b[1:]) && !final {
		return 0, nil
	}
	r, size := utf8.DecodeRune(b[1:])
	if r == utf8.RuneError {
		return 1 + size, nil
	}
	return 1 + size, typed(r, "", Alt)
}

func ss3(c byte) Event {
	if code, ok := finals[c]; ok {
		return Key{Code: code}
	}
	if c == 'M' {
		return Key{Code: Enter}
	}
	return nil
}

// finals are the keys named by the last letter of their sequence.
var finals = map[byte]rune{
	'A': Up, 'B': Down, 'C': Right, 'D': Left, 'H': Home, 'F': End, 'P': F1, 'Q': F2, 'R': F3, 'S': F4,
}

// numbers are the keys named by a number before "~".
var numbers = map[int]rune{
	1: Home, 2: Insert, 3: Delete, 4: End, 5: PageUp, 6: PageDown, 7: Home, 8: End,
	11: F1, 12: F2, 13: F3, 14: F4, 15: F5, 17: F6, 18: F7, 19: F8, 20: F9, 21: F10, 23: F11, 24: F12,
}

// kitty are the codes of the kitty keyboard protocol that are no characters.
var kitty = map[int]rune{
	9: Tab, 13: Enter, 27: Escape, 127: Backspace, 8: Backspace, 57414: Enter,
	57417: Left, 57418: Right, 57419: Up, 57420: Down, 57421: PageUp, 57422: PageDown, 57423: Home, 57424: End, 57425: Insert, 57426: Delete,
}

// csi reads a control sequence: parameters, intermediates, one final byte.
func csi(b []byte, final bool) (int, Event) {
	i := 2
	for i < len(b) && (b[i] >= 0x20 && b[i] <= 0x3f) {
		i++
	}
	switch {
	case i > maxSequence:
		return i, nil
	case i == len(b) && i == 2 && final:
		return 2, typed('[', "", Alt)
	case i == len(b) && final:
		return i, nil
	case i == len(b):
		return 0, nil
	case b[i] < 0x40 || b[i] > 0x7e: // broken off by something else
		return i, nil
	}
	return i + 1, sequence(string(b[2:i]), b[i])
}

func sequence(body string, last byte) Event {
	switch {
	case strings.HasPrefix(body, "<"):
		return mouse(ints(body[1:]), last)
	case strings.HasPrefix(body, "?"):
		kind := map[byte]string{'u': "kitty", 'c': "attributes"}[last]
		if kind == "" {
			return nil
		}
		return Report{Kind: kind, Args: ints(body[1:])}
	case last == 'u':
		return kittyKey(body)
	case body == "" && last == 'I', body == "" && last == 'O':
		return Focus{In: last == 'I'}
	}
	args := ints(body)
	mod := modifiers(at(args, 1, 1))
	switch last {
	case 'Z':
		return Key{Code: Tab, Mod: mod | Shift}
	case '~':
		if at(args, 0, 0) == 27 && len(args) == 3 { // modifyOtherKeys
			return keyOf(args[2], "", mod)
		}
		if code, ok := numbers[at(args, 0, 0)]; ok {
			return Key{Code: code, Mod: mod}
		}
		return nil
	case 't':
		return Report{Kind: "size", Args: args}
	case 'R':
		if len(args) == 2 && args[0] != 1 {
			return Report{Kind: "cursor", Args: args}
		}
		if !strings.Contains(body, ":") {
			return Key{Code: F3, Mod: mod, MayBeRow: len(args) == 2}
		}
	}
	if strings.Contains(body, ":") { // kitty: the kind of event; 3 is a release
		if parts := strings.Split(body, ":"); len(parts) == 2 && parts[1] == "3" {
			return nil
		}
		mod = modifiers(at(ints(strings.Split(body, ":")[0]), 1, 1))
	}
	if code, ok := finals[last]; ok {
		return Key{Code: code, Mod: mod}
	}
	return nil
}

// kittyKey reads code[:shifted[:base]] ; modifiers[:event] ; text.
func kittyKey(body string) Event {
	parts := strings.Split(body, ";")
	code, err := strconv.Atoi(strings.Split(parts[0], ":")[0])
	if err != nil {
		return nil
	}
	mod, text := Mod(0), ""
	if len(parts) > 1 {
		m := ints(strings.ReplaceAll(parts[1], ":", ";"))
		if at(m, 1, 1) == 3 { // release
			return nil
		}
		mod = modifiers(at(m, 0, 1))
	}
	if len(parts) > 2 {
		for _, c := range ints(strings.ReplaceAll(parts[2], ":", ";")) {
			text += string(rune(c))
		}
	}
	return keyOf(code, text, mod)
}

func keyOf(code int, text string, mod Mod) Event {
	if c, ok := kitty[code]; ok {
		return Key{Code: c, Mod: mod}
	}
	switch {
	case code >= 57376 && code <= 57387: // F13 and on
		return Key{Code: Unknown}
	case code >= 57344 && code <= 63743: // modifiers alone, media keys
		return nil
	case code < 0x20 || !utf8.ValidRune(rune(code)):
		return nil
	}
	if text == "" && mod&^Shift == 0 {
		text = string(rune(code))
	}
	return typed(rune(code), text, mod)
}

func mouse(args []int, last byte) Event {
	if len(args) != 3 {
		return nil
	}
	m := Mouse{Button: args[0] & 0xc3, X: args[1] - 1, Y: args[2] - 1, Release: last == 'm', Motion: args[0]&32 != 0}
	for bit, mod := range map[int]Mod{4: Shift, 8: Alt, 16: Ctrl} {
		if args[0]&bit != 0 {
			m.Mod |= mod
		}
	}
	return m
}

// text reads a sequence that ends with ST or BEL: an answer of the terminal.
func text(b []byte, final bool) (int, Event) {
	for i := 2; i < len(b); i++ {
		end := 0
		switch {
		case b[i] == 0x07:
			end = 1
		case b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\':
			end = 2
		case b[i] == 0x1b && i+1 < len(b):
			return i, nil
		}
		if end > 0 {
			return i + end, answer(b[1], string(b[2:i]))
		}
	}
	switch {
	case final && len(b) == 2:
		return 2, typed(rune(b[1]), "", Alt)
	case final || len(b) > maxSequence:
		return len(b), nil
	}
	return 0, nil
}

func answer(kind byte, body string) Event {
	switch {
	case kind == ']' && strings.HasPrefix(body, "11;"):
		return Report{Kind: "background", Text: body[3:]}
	case kind == 'P' && strings.HasPrefix(body, ">|"):
		return Report{Kind: "version", Text: body[2:]}
	}
	return nil
}

func modifiers(n int) Mod {
	if n < 1 {
		return 0
	}
	m := n - 1
	out := Mod(m & 7)
	if m&2 != 0 || m&32 != 0 { // alt, meta
		out |= Alt
	}
	if m&8 != 0 {
		out |= Super
	}
	return out
}

func ints(s string) []int {
	if s == "" {
		return nil
	}
	var out []int
	for _, p := range strings.Split(s, ";") {
		n, err := strconv.Atoi(p)
		if err != nil {
			n = 0
		}
		out = append(out, n)
	}
	return out
}

func at(list []int, i, other int) int {
	if i < len(list) && list[i] != 0 {
		return list[i]
	}
	return other
}
