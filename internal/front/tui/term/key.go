package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Event is what comes from the terminal: Key, Paste, Mouse, Focus, Resize, Report or Closed.
type Event interface{ termEvent() }

// Key is one press of a key. Text is what it types, "" for keys that type nothing.
type Key struct {
	Code rune // a letter in lower case, or one of the codes below
	Mod  Mod
	Text string

	MayBeRow bool // F3, or the answer that the cursor stands in the first row: both look the same
}

// Mod is a set of modifiers.
type Mod uint8

// The modifiers.
const (
	Shift Mod = 1 << iota
	Alt
	Ctrl
	Super
)

// Codes of keys that have no character.
const (
	Enter     rune = '\r'
	Tab       rune = '\t'
	Escape    rune = 0x1b
	Backspace rune = 0x7f
)

// Further codes; they lie outside Unicode.
const (
	Up rune = 0x110000 + iota
	Down
	Right
	Left
	Home
	End
	PageUp
	PageDown
	Insert
	Delete
	F1
	F2
	F3
	F4
	F5
	F6
	F7
	F8
	F9
	F10
	F11
	F12
	Unknown
)

var names = map[rune]string{
	Enter: "enter", Tab: "tab", Escape: "esc", Backspace: "backspace", ' ': "space", Up: "up", Down: "down", Right: "right", Left: "left",
	Home: "home", End: "end", PageUp: "pgup", PageDown: "pgdown", Insert: "insert", Delete: "delete", F1: "f1", F2: "f2", F3: "f3", F4: "f4",
	F5: "f5", F6: "f6", F7: "f7", F8: "f8", F9: "f9", F10: "f10", F11: "f11", F12: "f12", Unknown: "unknown",
}

// String names the key, such as "ctrl+a", "shift+tab", "alt+enter", "A", "é".
func (k Key) String() string {
	name, special := names[k.Code]
	if !special {
		if k.Text != "" && k.Mod&^Shift == 0 {
			return k.Text
		}
		name = string(k.Code)
	}
	var b strings.Builder
	for _, m := range [...]struct {
		bit  Mod
		name string
	}{{Ctrl, "ctrl+"}, {Alt, "alt+"}, {Shift, "shift+"}, {Super, "super+"}} {
		if k.Mod&m.bit != 0 {
			b.WriteString(m.name)
		}
	}
	return b.String() + name
}

// Named is the key of a name as String gives it.
func Named(name string) Key {
	var k Key
	for _, m := range [...]struct {
		bit  Mod
		name string
	}{{Ctrl, "ctrl+"}, {Alt, "alt+"}, {Shift, "shift+"}, {Super, "super+"}} {
		if rest, ok := strings.CutPrefix(name, m.name); ok {
			k.Mod, name = k.Mod|m.bit, rest
		}
	}
	for code, n := range names {
		if n == name {
			k.Code = code
			if code == ' ' && k.Mod == 0 {
				k.Text = " "
			}
			return k
		}
	}
	r, _ := utf8.DecodeRuneInString(name)
	k.Code = unicode.ToLower(r)
	if k.Mod&^Shift == 0 {
		k.Text = name
	}
	return k
}

// Paste is pasted text, whole, with line ends as "\n".
type Paste struct{ Text string }

// Mouse is a press or release of a button, a turn of the wheel, or a drag. X and Y count from 0.
type Mouse struct {
	Button  int // 0 left, 1 middle, 2 right, 64 wheel up, 65 wheel down
	X, Y    int
	Mod     Mod
	Release bool
	Motion  bool
}

// Focus tells that the terminal's window got or lost the focus.
type Focus struct{ In bool }

// Resize is a new size of the terminal.
type Resize struct{ Width, Height int }

// Report is an answer of the terminal to a question: Kind is "cursor", "size", "background", "kitty", "attributes" or
// "version".
type Report struct {
	Kind string
	Args []int
	Text string
}

// Closed says that the terminal has gone.
type Closed struct{ Err error }

func (Key) termEvent()    {}
func (Paste) termEvent()  {}
func (Mouse) termEvent()  {}
func (Focus) termEvent()  {}
func (Resize) termEvent() {}
func (Report) termEvent() {}
func (Closed) termEvent() {}

// typed is the key of a character.
func typed(r rune, text string, mod Mod) Key {
	k := Key{Code: r, Mod: mod, Text: text}
	if unicode.IsUpper(r) {
		k.Code, k.Mod = unicode.ToLower(r), k.Mod|Shift
	}
	if mod&(Ctrl|Alt|Super) != 0 {
		k.Text = ""
	}
	return k
}
