package theme

import "strings"

// Depth is what a terminal can show.
type Depth int

const (
	Plain   Depth = iota // no escape sequences at all: no terminal, TERM=dumb
	Mono                 // bold, underline and reverse, no colours: NO_COLOR
	ANSI                 // 16 colours
	Palette              // 256 colours
	True                 // 24 bits
)

// DepthOf reads the depth from the environment, by the conventions of no-color.org, CLICOLOR_FORCE, COLORTERM and
// terminfo's names. getenv is os.Getenv or the like; tty tells whether the output is a terminal.
func DepthOf(getenv func(string) string, tty bool) Depth {
	term := strings.ToLower(getenv("TERM"))
	forced := truthy(getenv("CLICOLOR_FORCE")) || truthy(getenv("FORCE_COLOR"))
	switch {
	case !tty && !forced, term == "dumb":
		return Plain
	case getenv("NO_COLOR") != "":
		return Mono
	}
	switch ct := strings.ToLower(getenv("COLORTERM")); {
	case ct == "truecolor", ct == "24bit":
		if strings.HasPrefix(term, "screen") && getenv("TMUX") == "" { // GNU screen passes no 24 bits
			return Palette
		}
		return True
	case getenv("WT_SESSION") != "", strings.HasSuffix(term, "-direct"), strings.Contains(term, "kitty"), strings.Contains(term, "ghostty"),
		strings.Contains(term, "alacritty"), strings.Contains(term, "wezterm"):
		return True
	}
	switch program := getenv("TERM_PROGRAM"); {
	case program == "iTerm.app", program == "vscode", program == "WezTerm", program == "ghostty":
		return True
	case strings.Contains(term, "256color"), program == "Apple_Terminal":
		return Palette
	case term == "" && !forced:
		return Plain
	}
	return ANSI
}

func truthy(v string) bool { return v != "" && v != "0" && v != "false" }

// DarkBackground guesses the background from COLORFGBG ("15;0": last field is the background's index). known is false
// when the variable does not tell; ask the terminal (OSC 11) or take dark then.
func DarkBackground(getenv func(string) string) (dark, known bool) {
	v := getenv("COLORFGBG")
	bg := v[strings.LastIndexByte(v, ';')+1:]
	switch bg {
	case "0", "1", "2", "3", "4", "5", "6", "8":
		return true, true
	case "7", "9", "10", "11", "12", "13", "14", "15":
		return false, true
	}
	return true, false
}
