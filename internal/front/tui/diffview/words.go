package diffview

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// pair joins removed with added rows of a block that are likely one changed line: for each row the index of its partner,
// or -1.
func pair(rows []Row) []int {
	out := make([]int, len(rows))
	for i := range out {
		out[i] = -1
	}
	for i := 0; i < len(rows); {
		if rows[i].Kind == ' ' {
			i++
			continue
		}
		del := i
		for i < len(rows) && rows[i].Kind == '-' {
			i++
		}
		add := i
		for i < len(rows) && rows[i].Kind == '+' {
			i++
		}
		pairBlock(rows, out, del, add, i)
	}
	return out
}

// pairBlock pairs in order: each removed row with the next added one that is alike.
func pairBlock(rows []Row, out []int, del, add, end int) {
	next := add
	for k := del; k < add && next < end; k++ {
		if add-del == end-add {
			next = add + (k - del)
		}
		for j := next; j < min(end, next+20); j++ {
			if alike(rows[k].Text, rows[j].Text) {
				out[k], out[j] = j, k
				next = j + 1
				break
			}
			if add-del == end-add {
				break
			}
		}
	}
}

// alike reports that enough of two lines is the same that showing what changed in them helps.
func alike(a, b string) bool {
	ta, tb := tokens(strings.TrimSpace(a)), tokens(strings.TrimSpace(b))
	if len(ta) == 0 || len(tb) == 0 || len(ta) > maxTokens || len(tb) > maxTokens {
		return false
	}
	common := 0
	for _, m := range matches(ta, tb) {
		common += len(ta[m[0]])
	}
	return 2*common*10 >= 4*(len(a)+len(b))
}

const maxTokens = 200

// tokens splits a line into words, runs of blanks, and single other characters.
func tokens(s string) []string {
	var out []string
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if k := runeClass(r); k != 0 {
			for n < len(s) {
				r, size := utf8.DecodeRuneInString(s[n:])
				if runeClass(r) != k {
					break
				}
				n += size
			}
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

func runeClass(r rune) int {
	switch {
	case r == '_' || unicode.IsLetter(r) && r < 0x2e80 || unicode.IsDigit(r) || unicode.IsMark(r):
		return 1
	case r == ' ' || r == '\t':
		return 2
	}
	return 0
}

// matches is a longest common subsequence of tokens, as pairs of indices.
func matches(a, b []string) [][2]int {
	w := len(b) + 1
	table := make([]int16, (len(a)+1)*w)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i*w+j] = table[(i+1)*w+j+1] + 1
			} else {
				table[i*w+j] = max(table[(i+1)*w+j], table[i*w+j+1])
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			out = append(out, [2]int{i, j})
			i, j = i+1, j+1
		case table[(i+1)*w+j] >= table[i*w+j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

// changed are the byte ranges of a that are not in b. Blanks between two changed words belong to the change.
func changed(a, b string) [][2]int {
	ta, tb := tokens(a), tokens(b)
	if len(ta) > maxTokens || len(tb) > maxTokens {
		return nil
	}
	same := make([]bool, len(ta))
	for _, m := range matches(ta, tb) {
		same[m[0]] = true
	}
	for i := 1; i+1 < len(ta); i++ {
		if same[i] && runeClass(rune(ta[i][0])) == 2 && !same[i-1] && !same[i+1] {
			same[i] = false
		}
	}
	var out [][2]int
	pos := 0
	for i, t := range ta {
		if !same[i] {
			if n := len(out); n > 0 && out[n-1][1] == pos {
				out[n-1][1] = pos + len(t)
			} else {
				out = append(out, [2]int{pos, pos + len(t)})
			}
		}
		pos += len(t)
	}
	return out
}
