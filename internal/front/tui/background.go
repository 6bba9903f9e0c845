package tui

import (
	"strconv"
	"strings"

	"lathe/internal/front/tui/term"
	"lathe/internal/front/tui/theme"
)

// report takes an answer of the terminal: the colour of its background chooses between light and dark.
func (u *ui) report(r term.Report) (shows bool) {
	switch r.Kind {
	case "cursor", "size":
		u.answered(r)
		return false
	case "version":
		u.named(r.Text)
		return false
	case "background":
	default:
		return false
	}
	dark, ok := darkColour(r.Text)
	if !ok || dark == u.dark {
		return false
	}
	u.dark = dark
	name := "auto"
	if u.session != nil && u.session.Settings.Theme != "" {
		name = u.session.Settings.Theme
	}
	if u.session == nil || u.session.Settings.CustomTheme == nil {
		u.th = theme.Named(name, u.depth, u.dark)
	}
	return true
}

// darkColour reads "rgb:rrrr/gggg/bbbb".
func darkColour(s string) (dark, ok bool) {
	var c [3]uint64
	s, found := strings.CutPrefix(s, "rgb:")
	parts := strings.Split(s, "/")
	if !found || len(parts) != 3 {
		return false, false
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 16, 32)
		if err != nil || len(p) > 4 {
			return false, false
		}
		c[i] = n * 0xffff / (1<<(4*len(p)) - 1)
	}
	return 299*c[0]+587*c[1]+114*c[2] < 1000*0x8000, true
}
