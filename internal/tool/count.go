package tool

import "fmt"

// Count writes a number with the word for what is counted: "1 line", "2 lines". The plural takes an s unless many says it.
func Count(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return fmt.Sprintf("%d %s", n, many[0])
	}
	return fmt.Sprintf("%d %ss", n, one)
}
