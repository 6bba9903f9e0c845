package skill

import (
	"strings"
	"unicode/utf8"
)

// Limits of the listing that the model is given.
const (
	maxDescription = 1536 // characters of one description
	DefaultListing = 8000 // characters of the whole listing where the window is not known
)

// Listing names the skills that the model may invoke, one a line, each description at most perEntry characters. Over
// the budget of characters names stay and descriptions go, the longest first.
func Listing(skills []Skill, budget, perEntry int) string {
	if perEntry <= 0 {
		perEntry = maxDescription
	}
	var shown []Skill
	total := 0
	for _, s := range skills {
		if s.UserOnly {
			continue
		}
		if s.NameOnly {
			s.Description = ""
		}
		s.Description = cutRunes(s.Description, perEntry)
		shown = append(shown, s)
		total += size(s)
	}
	for total > budget {
		longest := -1
		for i, s := range shown {
			if s.Description != "" && (longest < 0 || len(s.Description) > len(shown[longest].Description)) {
				longest = i
			}
		}
		if longest < 0 {
			break
		}
		total -= size(shown[longest])
		shown[longest].Description = ""
		total += size(shown[longest])
	}
	var b strings.Builder
	for _, s := range shown {
		b.WriteString("- " + s.Name)
		if s.Description != "" {
			b.WriteString(": " + s.Description)
		}
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// size is the length of a skill's line in characters.
func size(s Skill) int {
	n := len("- \n") + utf8.RuneCountInString(s.Name)
	if s.Description != "" {
		n += len(": ") + utf8.RuneCountInString(s.Description)
	}
	return n
}

func cutRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
