package account

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"lathe/internal/event"
	"lathe/internal/price"
)

// Summary writes the totals for people, in plain lines; none when no model was used and no line was changed.
func Summary(t Totals, table *price.Table) []string {
	if len(t.Models) == 0 && t.Added+t.Removed == 0 {
		return nil
	}
	lines := []string{
		"Total cost:            " + usd(t.Cost),
		"Total duration (API):  " + span(t.API),
		"Total duration (wall): " + span(t.Wall),
		fmt.Sprintf("Total code changes:    %s added, %s removed", plural(t.Added), plural(t.Removed)),
	}
	if len(t.Models) == 0 {
		return lines
	}
	lines = append(lines, "Usage by model:")
	for _, name := range t.names() {
		m := t.Models[name]
		cost := usd(m.Cost)
		if !table.Info(name).Priced {
			cost = "price unknown"
		}
		line := fmt.Sprintf("    %s: %s input, %s output, %s cache read, %s cache write (%s)",
			name, event.Thousands(m.Input), event.Thousands(m.Output), event.Thousands(m.CacheRead), event.Thousands(m.CacheWrite), cost)
		if m.WebSearch > 0 {
			line += fmt.Sprintf(", %d web searches", m.WebSearch)
		}
		lines = append(lines, line)
	}
	return append(lines, sideLines(t)...)
}

// sideLines say what of the totals were calls outside the conversations.
func sideLines(t Totals) []string {
	if len(t.Side) == 0 {
		return nil
	}
	lines := []string{"Of that, on the side:"}
	for _, purpose := range slices.Sorted(maps.Keys(t.Side)) {
		s := t.Side[purpose]
		calls := "1 call"
		if s.Calls != 1 {
			calls = fmt.Sprintf("%d calls", s.Calls)
		}
		lines = append(lines, fmt.Sprintf("    %s: %s, %s input, %s output (%s)", purpose, calls, event.Thousands(s.Input+s.CacheRead+s.CacheWrite), event.Thousands(s.Output), usd(s.Cost)))
	}
	return lines
}

// usd shows small sums to the hundredth of a cent and large ones to the cent.
func usd(v float64) string {
	if v >= 0.5 {
		return fmt.Sprintf("$%.2f", v)
	}
	return fmt.Sprintf("$%.4f", v)
}

func span(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

func plural(lines int) string {
	if lines == 1 {
		return "1 line"
	}
	return strconv.Itoa(lines) + " lines"
}
