package picture

import (
	"strconv"
	"strings"
)

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
