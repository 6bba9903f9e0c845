package theme

// Style is a list of SGR parameters, such as "1;31". The empty style paints nothing.
type Style string

// Reset ends every style.
const Reset = "\x1b[m"

// Open is the sequence that switches the style on; Reset switches it off.
func (s Style) Open() string {
	if s == "" {
		return ""
	}
	return "\x1b[" + string(s) + "m"
}

// Paint puts text between Open and Reset. Empty text stays empty.
func (s Style) Paint(text string) string {
	if s == "" || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + Reset
}

// With is s with t on top; where both set the same thing, t wins.
func (s Style) With(t Style) Style {
	switch {
	case s == "":
		return t
	case t == "":
		return s
	}
	return s + ";" + t
}
