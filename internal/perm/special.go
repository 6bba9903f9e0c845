package perm

import (
	"regexp"
	"strings"
	"sync"

	"lathe/internal/shell"
)

// literals returns the values of words, or false when one expands.
func literals(words []shell.Word) ([]string, bool) {
	out := make([]string, len(words))
	for i, w := range words {
		text, ok := w.Literal()
		if !ok {
			return nil, false
		}
		out[i] = text
	}
	return out, true
}

func checkGrep(a *args, u *usage) {
	u.links = a.has("-R", "--dereference-recursive")
	u.deep = u.links || a.has("-r", "--recursive", "-d", "--directories")
	u.here = u.deep
}

// checkPrintf refuses -v and %n, which assign to a variable whose name bash evaluates.
func checkPrintf(a *args, u *usage) {
	if len(a.operands) == 0 {
		return
	}
	format, literal := a.operands[0].Literal()
	if literal && format == "--" && len(a.operands) > 1 {
		format, literal = a.operands[1].Literal()
	}
	if !literal || strings.HasPrefix(format, "-") {
		u.no("its format is a flag or expands")
		return
	}
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		for i++; i < len(format) && strings.IndexByte("0123456789-+ #'.*hlLjzt", format[i]) >= 0; i++ {
		}
		if i < len(format) && format[i] == 'n' {
			u.no("%n assigns to a variable")
		}
	}
}

// checkTest reads test and [. Only operators that neither evaluate nor name variables are known.
func checkTest(a *args, u *usage) {
	words, ok := literals(a.operands)
	if !ok {
		u.no("a word of the test expands")
		return
	}
	for i, w := range words {
		switch w {
		case "-v", "-R", "-o":
			u.no("the test may look at a variable")
		case "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-p", "-r", "-s", "-t", "-u", "-w", "-x", "-L", "-N", "-O", "-G", "-S":
			if i+1 < len(words) {
				u.reads = append(u.reads, operand{word: a.operands[i+1], list: true})
			}
		case "-nt", "-ot", "-ef":
			if i > 0 && i+1 < len(words) {
				u.reads = append(u.reads, operand{word: a.operands[i-1], list: true}, operand{word: a.operands[i+1], list: true})
			}
		}
	}
}

func checkDate(a *args, u *usage) {
	for _, w := range a.operands {
		if text, ok := w.Literal(); !ok || !strings.HasPrefix(text, "+") {
			u.no("it may set the clock")
		}
	}
}

func checkTput(a *args, u *usage) {
	words, ok := literals(a.operands)
	if !ok || len(words) == 0 {
		u.no("its capability is not known")
		return
	}
	for i, w := range words {
		switch w {
		case "cols", "lines", "colors", "setaf", "setab", "sgr0", "bold", "dim", "rev", "smul", "rmul", "smso", "rmso", "el", "cup", "civis", "cnorm", "longname":
		default:
			if i == 0 || strings.Trim(w, "0123456789") != "" {
				u.no("its capability is not known to only print")
			}
		}
	}
}

var lsofAddress = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[46]?(?i:tcp|udp)?(:[0-9]+([,-][0-9]+)*)?$`)
})

// checkLsof admits listings; an address with a host would be looked up in the network.
func checkLsof(a *args, u *usage) {
	words, ok := literals(a.operands)
	if !ok {
		u.no("a word expands")
		return
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "-c" || w == "-p" || w == "-u" || w == "-g" || w == "-d":
			i++
		case w == "-i" && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-"):
			i++
			if !lsofAddress().MatchString(words[i]) {
				u.no("its address may be looked up in the network")
			}
		case strings.HasPrefix(w, "-i"):
			if !lsofAddress().MatchString(w[2:]) {
				u.no("its address may be looked up in the network")
			}
		case strings.HasPrefix(w, "-s"):
			if w != "-s" && !strings.HasPrefix(w, "-sTCP:") && !strings.HasPrefix(w, "-sUDP:") {
				u.no("its state is not known")
			}
		case len(w) > 2 && (w[:2] == "-c" || w[:2] == "-p" || w[:2] == "-u"):
		case strings.HasPrefix(w, "-"):
			if strings.Trim(w[1:], "abnPltUOwRV") != "" {
				u.no("the flag " + w + " is not known to only read")
			}
		default:
			u.reads = append(u.reads, operand{word: a.operands[i], list: true})
		}
	}
}

var ssFilter = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(state|exclude|[a-z]+-?[a-z0-9]*|[sd]port|[=<>!]+|and|or|not|\(|\)|:[0-9]+)$`)
})

func checkSs(a *args, u *usage) {
	for i, w := range a.operands {
		text, ok := w.Literal()
		host := i > 0 && len(a.operands[i-1].Pieces) == 1 && (a.operands[i-1].Pieces[0].Text == "dst" || a.operands[i-1].Pieces[0].Text == "src")
		if !ok || host || !ssFilter().MatchString(text) {
			u.no("its filter may be looked up in the network")
		}
	}
}

// checkDocker admits listings of the default daemon.
func checkDocker(a *args, u *usage) {
	words, ok := literals(a.operands)
	if !ok || len(words) == 0 {
		u.no("a word expands")
		return
	}
	i := 1
	switch words[0] {
	case "ps", "images", "version", "--version":
	case "container", "image", "volume", "network":
		if len(words) < 2 || words[1] != "ls" && words[1] != "list" {
			u.no("this command of docker is not known to only read")
			return
		}
		i = 2
	default:
		u.no("this command of docker is not known to only read")
		return
	}
	flags := dockerFlags().parse(a.operands[i:])
	if flags.why != "" {
		u.no(flags.why)
	}
}

var dockerFlags = sync.OnceValue(func() *flagTable {
	return parseFlags("-aqlsq -n: -f: --all --quiet --latest --size --last= --filter= --format= --no-trunc --digests --tree")
})

// findExecs are the commands that find would run.
func findExecs(words []shell.Word) [][]shell.Word {
	name, _ := words[0].Literal()
	if base := lastSegment(name); base != "find" && base != "gfind" && base != "fd" && base != "fdfind" {
		return nil
	}
	var out [][]shell.Word
	for i, w := range words {
		text, _ := w.Literal()
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
				out = append(out, words[i+1:end])
			}
		}
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
