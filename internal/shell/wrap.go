package shell

import (
	"path"
	"strings"
	"sync"
)

// Wrapped is a command taken out of the program that would run it.
type Wrapped struct {
	Words []Word
	By    string // the wrapper's name
	// Plain says that the wrapper adds nothing of its own: an allow rule for the inner command covers both.
	Plain bool
	// Assigns are the variables that the wrapper sets for the inner command (env A=b cmd).
	Assigns []string
}

// wrapper is how to find the inner command of a program that runs another.
type wrapper struct {
	plain    bool   // allow rules look through it
	flags    string // short flags without a value
	values   string // short flags with a value
	long     string // long flags, blank separated; a trailing = takes a value
	operands int    // operands before the command
	env      bool   // NAME=value operands come before the command
	loose    bool   // flags that are not known are skipped: for deny rules only
}

var wrappers = sync.OnceValue(func() map[string]wrapper {
	return map[string]wrapper{
		"timeout": {
			plain: true, flags: "fpv", values: "ks", operands: 1,
			long: "foreground preserve-status verbose kill-after= signal=",
		},
		"time":    {plain: true, flags: "p"},
		"nice":    {plain: true, values: "n", long: "adjustment="},
		"nohup":   {plain: true},
		"stdbuf":  {plain: true, values: "ioe", long: "input= output= error="},
		"command": {plain: true, flags: "p"},
		"builtin": {plain: true},
		"noglob":  {plain: true},

		"xargs":       {loose: true, values: "adEILnPs", long: "arg-file= delimiter= max-lines= max-args= max-procs= max-chars= replace= eof="},
		"env":         {loose: true, env: true, values: "uCS", long: "unset= chdir= split-string= block-signal="},
		"sudo":        {loose: true, env: true, values: "CDghpRrtTuU", long: "user= group= host= chdir= chroot= prompt= role= type="},
		"doas":        {loose: true, values: "Cu"},
		"watch":       {loose: true, values: "nq", long: "interval= equexit="},
		"setsid":      {loose: true},
		"ionice":      {loose: true, values: "cnpPu", long: "class= classdata="},
		"flock":       {loose: true, values: "wEc", operands: 1, long: "timeout= conflict-exit-code= command="},
		"chrt":        {loose: true, values: "TPD", operands: 1},
		"taskset":     {loose: true, operands: 1},
		"unbuffer":    {loose: true},
		"nocorrect":   {loose: true},
		"exec":        {loose: true, values: "a"},
		"busybox":     {loose: true},
		"toybox":      {loose: true},
		"strace":      {loose: true, values: "aeEoOpPsSuUbI"},
		"ltrace":      {loose: true, values: "aeolnpsuxFD"},
		"parallel":    {loose: true, values: "jInNaPS"},
		"chronic":     {loose: true},
		"setarch":     {loose: true, operands: 1},
		"caffeinate":  {loose: true, values: "tw"},
		"catchsegv":   {loose: true},
		"proxychains": {loose: true, values: "f"},
		"fakeroot":    {loose: true, values: "lfsib"},
		"coproc":      {loose: true},
		"systemd-run": {loose: true, values: "pEMutGCH", long: "unit= property= slice= setenv= working-directory="},
		"runuser":     {loose: true, values: "ugGcs", long: "user= group="},
		"prlimit":     {loose: true, values: "p"},
		"unshare":     {loose: true, values: "SGRw"},
		"nsenter":     {loose: true, values: "tSGw"},
		"chroot":      {loose: true, operands: 1, long: "userspec= groups="},
	}
})

// Unwrap takes the inner command out of a wrapper such as timeout, env or sudo. ok is false when the program is
// no wrapper, its flags are not understood, or nothing follows.
func Unwrap(words []Word) (inner Wrapped, ok bool) {
	if len(words) < 2 {
		return Wrapped{}, false
	}
	name, literal := words[0].Literal()
	if !literal {
		return Wrapped{}, false
	}
	base := path.Base(name)
	w, known := wrappers()[base]
	if !known {
		return Wrapped{}, false
	}
	inner = Wrapped{By: base, Plain: w.plain && base == name}
	i := 1
	for ; i < len(words); i++ {
		arg, literal := words[i].Literal()
		if !literal || !strings.HasPrefix(arg, "-") || arg == "-" {
			break
		}
		if arg == "--" {
			i++
			break
		}
		takes, understood := w.flag(arg)
		if !understood {
			if !w.loose {
				return Wrapped{}, false
			}
			continue
		}
		if takes {
			i++
		}
	}
	if base == "xargs" && i == 1 {
		inner.Plain = name == base
	}
	i += w.operands
	for ; w.env && i < len(words); i++ {
		variable, assigned := assignment(words[i])
		if !assigned {
			break
		}
		inner.Assigns = append(inner.Assigns, variable)
	}
	if i >= len(words) {
		return Wrapped{}, false
	}
	inner.Words = words[i:]
	if base == "xargs" || base == "parallel" {
		inner.Words = append(inner.Words[:len(inner.Words):len(inner.Words)], Unknown("the arguments come from the input"))
	}
	return inner, true
}

// Guesses are the commands that a wrapper may run where its flags are not understood, and those of programs that run what
// follows somewhere among their words: every word that is no flag may begin one.
func Guesses(words []Word) (out [][]Word) {
	if len(words) < 2 {
		return nil
	}
	name, _ := words[0].Literal()
	base := path.Base(name)
	from := 0
	if runners()[base] || strings.HasPrefix(base, "ld-linux") || strings.HasPrefix(base, "ld-musl") || base == "ld.so" {
		from = 1
	} else if w, known := wrappers()[base]; known {
		for i := 1; i < len(words) && from == 0; i++ {
			arg, literal := words[i].Literal()
			if !literal || !strings.HasPrefix(arg, "-") || arg == "-" || arg == "--" {
				return nil
			}
			takes, understood := w.flag(arg)
			if !understood {
				from = i + 1
			} else if takes {
				i++
			}
		}
	}
	for i := from; from > 0 && i < len(words) && len(out) < maxGuesses; i++ {
		if arg, literal := words[i].Literal(); literal && arg != "" && !strings.HasPrefix(arg, "-") {
			out = append(out, words[i:])
		}
	}
	return out
}

const maxGuesses = 8

// runners are programs that run what follows among their words.
var runners = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq("setpriv pkexec daemonize dtach faketime torsocks torify gosu su-exec setuidgid s6-setuidgid chpst tini dumb-init firejail bwrap " +
		"proot valgrind perf dbus-run-session xvfb-run cgexec numactl schedtool eatmydata rlwrap linux32 linux64 i386 x86_64 run0 start-stop-daemon entr " +
		"with-contenv tmux screen hyperfine softlimit envdir trickle sem") {
		m[name] = true
	}
	return m
})

// flag reads one flag word: whether its value is the next word, and whether it is known.
func (w wrapper) flag(arg string) (takesNext, known bool) {
	if name, isLong := strings.CutPrefix(arg, "--"); isLong {
		name, _, glued := strings.Cut(name, "=")
		for f := range strings.FieldsSeq(w.long) {
			if f == name {
				return false, !glued
			}
			if f == name+"=" {
				return !glued, true
			}
		}
		return false, false
	}
	if w.plain && strings.Trim(arg[1:], "0123456789") == "" && strings.ContainsRune(w.values, 'n') {
		return false, true // nice -5
	}
	for i := 1; i < len(arg); i++ {
		switch {
		case strings.IndexByte(w.values, arg[i]) >= 0:
			return i+1 == len(arg), true
		case strings.IndexByte(w.flags, arg[i]) >= 0:
		default:
			return false, false
		}
	}
	return false, true
}

// assignment reads a word of the form NAME=value.
func assignment(w Word) (name string, ok bool) {
	if len(w.Pieces) == 0 || w.Pieces[0].Kind != Lit {
		return "", false
	}
	name, _, ok = strings.Cut(w.Pieces[0].Text, "=")
	return name, ok && name != "" && !strings.ContainsAny(name, "-/.")
}

// Hidden is a script that a command would hand to another shell.
type Hidden struct {
	Script *Script // nil when the text is not known
	By     string
}

// Inner looks into eval and sh -c. ok is false when the command runs no text as a script.
func Inner(words []Word) (h Hidden, ok bool) {
	if len(words) == 0 {
		return Hidden{}, false
	}
	name, _ := words[0].Literal()
	switch base := path.Base(name); base {
	case "eval":
		return Hidden{Script: joined(words[1:]), By: base}, len(words) > 1
	case "sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "su", "script", "runuser":
		return shellString(words[1:], base)
	case "source", ".", "trap", "fc", "alias":
		return Hidden{By: base}, true
	case "hash", "mapfile", "readarray", "compgen", "complete", "enable", "bind": // hash -p gives a program another name
		for _, w := range words[1:] {
			if flag, literal := w.Literal(); !literal || strings.HasPrefix(flag, "-") && strings.ContainsAny(flag, "pCfx") {
				return Hidden{By: base}, true
			}
		}
	}
	return Hidden{}, false
}

// shellString finds the text after -c (also in a cluster, -lc).
func shellString(args []Word, by string) (Hidden, bool) {
	for i, w := range args {
		flag, literal := w.Literal()
		if !literal {
			return Hidden{By: by}, true
		}
		switch {
		case flag == "--command" || strings.HasPrefix(flag, "-") && !strings.HasPrefix(flag, "--") && strings.Contains(flag, "c"):
			if i+1 >= len(args) {
				return Hidden{}, false
			}
			for _, next := range args[i+1:] {
				if f, known := next.Literal(); known && strings.HasPrefix(f, "-") {
					continue
				}
				return Hidden{Script: joined([]Word{next}), By: by}, true
			}
			return Hidden{}, false
		case strings.HasPrefix(flag, "--command="):
			return Hidden{Script: Analyse(flag[len("--command="):]), By: by}, true
		case flag == "--version" || flag == "--help":
			return Hidden{}, false
		case strings.HasPrefix(flag, "-"), strings.HasPrefix(flag, "+"):
		case by == "su" || by == "runuser" || by == "script":
		default:
			return Hidden{By: by}, true // a script file
		}
	}
	return Hidden{By: by}, true // reads its input
}

func joined(words []Word) *Script {
	parts := make([]string, len(words))
	for i, w := range words {
		s, literal := w.Literal()
		if !literal {
			return nil
		}
		parts[i] = s
	}
	return Analyse(strings.Join(parts, " "))
}
