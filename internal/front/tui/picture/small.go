package picture

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"lathe/internal/front/tui/theme"
	"lathe/internal/front/tui/width"
)

// SpinnerEvery is how long a frame of the spinner stands.
const SpinnerEvery = 100 * time.Millisecond

// Spinner is the frame after a time; without motion it is one sign that stays.
func Spinner(elapsed time.Duration, motion bool) string {
	if !motion {
		return "●"
	}
	const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	n := int(max(elapsed, 0)/SpinnerEvery) % 10
	return frames[3*n : 3*n+3]
}

// Bar is a bar of cells cells, filled to a part between 0 and 1.
func Bar(th *theme.Theme, part float64, cells int) string {
	if th.Depth == theme.Plain {
		n := int(clamp(part)*float64(max(cells-2, 0)) + 0.5)
		return "[" + strings.Repeat("#", n) + strings.Repeat(".", max(cells-2-n, 0)) + "]"
	}
	eighths := int(clamp(part)*float64(cells*8) + 0.5)
	full := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		full += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return th.Accent.Paint(full) + width.Spaces(cells-width.Of(full))
}

func clamp(v float64) float64 { return max(0, min(v, 1)) }

// Hint is a key and what it does.
type Hint struct{ Key, Does string }

// Hints is one line of hints; those at the end are left out where there is no room.
func Hints(th *theme.Theme, hints []Hint, cols int) string {
	var b strings.Builder
	used := 0
	for i, h := range hints {
		n := width.Of(h.Key) + 1 + width.Of(h.Does)
		if i > 0 {
			n += 3
		}
		if used+n > cols {
			break
		}
		if i > 0 {
			b.WriteString(th.Faint.Paint(" · "))
		}
		b.WriteString(th.Strong.Paint(h.Key) + " " + th.Muted.Paint(h.Does))
		used += n
	}
	return b.String()
}

// Tokens writes a number of tokens: 999, 12.3k, 1.2M.
func Tokens(n int) string {
	switch {
	case n < 0:
		return "-" + Tokens(-n)
	case n < 1000:
		return strconv.Itoa(n)
	case n < 99_950:
		return short(float64(n)/1e3, 1) + "k"
	case n < 999_500:
		return short(float64(n)/1e3, 0) + "k"
	}
	return short(float64(n)/1e6, 1) + "M"
}

func short(v float64, digits int) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', digits, 64), ".0")
}

// Elapsed writes a time: 5s, 1m 05s, 2h 03m.
func Elapsed(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm %02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh %02dm", s/3600, s/60%60)
}
