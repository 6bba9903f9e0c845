package perm

import (
	"regexp"
	"slices"
	"strconv"
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
	u.skips = grepSkips(a)
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
	checkConversions(format, a.operands[1:], u)
}

// checkConversions finds the operands that a format takes for numbers.
func checkConversions(format string, operands []shell.Word, u *usage) {
	var numbers []bool // of what the format takes, one after the other; it is used again for what is left
	unsure := false
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		for i++; i < len(format) && strings.IndexByte("0123456789-+ #'.*hlLjzt$", format[i]) >= 0; i++ {
			if format[i] == '*' {
				numbers = append(numbers, true)
			}
			unsure = unsure || format[i] == '$'
		}
		switch {
		case i == len(format), format[i] == '%':
		case format[i] == 'n':
			u.no("%n assigns to a variable")
		default:
			numbers = append(numbers, strings.IndexByte("sbqQc", format[i]) < 0)
		}
	}
	for i, w := range operands {
		_, literal := w.Literal()
		unsure = unsure || !literal
		if unsure && slices.Contains(numbers, true) || !unsure && len(numbers) > 0 && numbers[i%len(numbers)] {
			checkNumbers(&args{operands: operands[i : i+1]}, u)
		}
	}
}

// checkNumbers admits operands that are numbers. zsh evaluates others as arithmetic, whose subscripts run commands.
func checkNumbers(a *args, u *usage) {
	for _, w := range a.operands {
		for _, p := range w.Pieces {
			if p.Kind != shell.Num && (p.Kind != shell.Lit || strings.Trim(p.Text, "0123456789.+-") != "") {
				u.no("zsh evaluates " + w.Text + " as arithmetic")
			}
		}
	}
}

// longSleep is the longest wait, in seconds, that needs no question.
const longSleep = 600

// checkSleep admits waits of seconds or minutes that are written out.
func checkSleep(a *args, u *usage) {
	words, ok := literals(a.operands)
	sum := 0.0
	for _, w := range words {
		number, minutes := strings.CutSuffix(w, "m")
		n, err := strconv.ParseFloat(strings.TrimSuffix(number, "s"), 64)
		if minutes {
			n *= 60
		}
		ok = ok && err == nil && n >= 0
		sum += n
	}
	if !ok || len(words) == 0 || !(sum <= longSleep) { // also where it is no number
		u.no("it waits long, or how long is not known")
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
		case "-t", "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
			if w != "-t" && i > 0 {
				checkNumbers(&args{operands: a.operands[i-1 : i]}, u)
			}
			if i+1 < len(words) && (w != "-t" || words[i+1] != "]") {
				checkNumbers(&args{operands: a.operands[i+1 : i+2]}, u)
			}
		case "-a", "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-p", "-r", "-s", "-u", "-w", "-x", "-L", "-N", "-O", "-G", "-S":
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
