package sys

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Version of the program; set by the linker for releases.
var Version = "0.1.0"

// Sys is filled once at start; tests fill what they need.
type Sys struct {
	Now     func() time.Time        // for stamps only; timers use package time
	NewID   func() string           // a random uuid
	Getenv  func(key string) string // the process environment with the settings' env blocks applied
	Environ func() []string         // the environment that children get
	Dirs    Dirs
	Version string // of the program, "1.2.3"
}

// Dirs are the folders that the program uses; all absolute.
type Dirs struct {
	Work   string // the working directory at start, links resolved
	Home   string // the user's home; empty when there is none
	State  string // what Lathe writes: ~/.lathe, or LATHE_HOME
	Config string // what people already have: ~/.claude, or CLAUDE_CONFIG_DIR
}

// Int reads a whole number of the environment: 200, 64_000 or 2e3.
func Int(s string) (n int64, ok bool) {
	s = strings.ReplaceAll(strings.TrimSpace(s), "_", "")
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// IsOn reports whether the value of an environment variable switches something on.
func IsOn(v string) bool { return v == "1" || strings.EqualFold(v, "true") }

// IsOff reports whether a variable says no; one that is not set does not.
func IsOff(v string) bool { return v == "0" || strings.EqualFold(v, "false") }

// List is the values of an environment variable, or of a flag, that holds several: commas or spaces are between them.
func List(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
}
