package event

import (
	"fmt"
	"strings"
)

// OneLine shortens a text to one line of at most n characters.
func OneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// Bytes writes a number of bytes for people: 950 B, 12 kB, 1.5 MB.
func Bytes(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.0f kB", float64(n)/1000)
	}
	if n >= 10_000_000_000 {
		return fmt.Sprintf("%.1f GB", float64(n)/1_000_000_000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1_000_000)
}

// Cut is the beginning of a text, of at most n bytes.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// Thousands shortens a number of tokens: 950, 12.3k, 1.0M.
func Thousands(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}
