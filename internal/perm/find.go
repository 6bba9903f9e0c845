package perm

import (
	"slices"
	"strings"
	"sync"

	"lathe/internal/shell"
)

// findExecs are the commands that find would run.
func findExecs(words []shell.Word) [][]shell.Word {
	name, _ := words[0].Literal()
	base := lastSegment(name)
	if base != "find" && base != "gfind" && base != "fd" && base != "fdfind" {
		return nil
	}
	var out [][]shell.Word
	for i, w := range words {
		text, _ := w.Literal()
		if base[0] == 'f' && base[1] == 'd' && len(text) > 2 && text[0] == '-' && text[1] != '-' && strings.ContainsAny(text[len(text)-1:], "xX") {
			text = "-x" // fd -Hx
		}
		switch text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			end := i + 1
			for end < len(words) {
				if t, _ := words[end].Literal(); t == ";" || t == "+" {
					break
				}
				end++
			}
			if end > i+1 {
				out = append(out, foundNames(words[i+1:end]))
			}
		}
	}
	return out
}

// foundNames puts what find will have found in place of its {}.
func foundNames(words []shell.Word) []shell.Word {
	out, placed := slices.Clone(words), false
	for i, w := range words {
		if text, literal := w.Literal(); literal && strings.Contains(text, "{}") {
			out[i], placed = shell.Unknown("names that are not known yet"), true
		}
	}
	if !placed {
		out = append(out, shell.Unknown("names that are not known yet")) // fd puts it behind
	}
	return out
}

// checkFind reads the expression of find: tests and actions that print.
func checkFind(a *args, u *usage) {
	words := a.operands
	i := 0
	for ; i < len(words); i++ { // options and starting points
		text, literal := words[i].Literal()
		if literal && (text == "-H" || text == "-L" || text == "-P") {
			continue
		}
		if literal && (strings.HasPrefix(text, "-") || text == "(" || text == "!") {
			break
		}
		u.reads = append(u.reads, operand{word: words[i], list: true})
	}
	for ; i < len(words); i++ {
		text, literal := words[i].Literal()
		if !literal {
			u.no("a word of its expression expands")
			return
		}
		kind, known := findWords()[text]
		if !known && (strings.HasPrefix(text, "-newer") && len(text) == 8) {
			kind, known = 1, true
		}
		if !known {
			u.no("the test or action " + text + " is not known to only read")
			return
		}
		if kind == 0 {
			continue
		}
		if i++; i == len(words) {
			u.no(text + " has no value")
			return
		}
		if _, literal := words[i].Literal(); !literal {
			u.no("the value of " + text + " expands")
		}
		if kind == 2 {
			u.reads = append(u.reads, operand{word: words[i], list: true})
		}
	}
}

// findWords are the words of an expression: 0 stands alone, 1 takes a value, 2 takes a path.
var findWords = sync.OnceValue(func() map[string]int {
	m := map[string]int{"(": 0, ")": 0, "!": 0, ",": 0}
	for w := range strings.FieldsSeq("-a -o -and -or -not -empty -depth -d -prune -print -print0 -ls -nouser -nogroup -readable -writable -executable -true -false -quit -xdev -mount -noleaf -daystart -warn -nowarn -follow") {
		m[w] = 0
	}
	for w := range strings.FieldsSeq("-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -atime -ctime -mmin -amin -cmin -used -maxdepth -mindepth -user -group -uid -gid -perm -links -inum -lname -ilname -fstype -printf") {
		m[w] = 1
	}
	for w := range strings.FieldsSeq("-newer -anewer -cnewer -samefile") {
		m[w] = 2
	}
	return m
})
