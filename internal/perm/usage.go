package perm

import (
	"strings"
	"sync"

	"lathe/internal/shell"
)

// usage is what a program's words say about files, and whether all of them are known to be harmless.
type usage struct {
	lands         []operand // sources that arrive below into under their own names
	into          shell.Word
	reads, writes []operand
	why           string      // why it is not known to only read
	deep          bool        // it reads the content of everything below its operands
	links         bool        // and follows links there
	names         bool        // it reads names and sizes only, not content
	here          bool        // without operands it looks at the current directory
	edits         bool        // its flags are those of a program of mode acceptEdits
	gitDir        *shell.Word // git -C: must be the current directory
	contents      contents    // of a command of git
	maybe         []operand   // values of flags that are not known: they may name files
	// skips says that a search from directories leaves out an entry with this name; nil where it takes all.
	skips func(name string, dir bool) bool
}

type operand struct {
	word shell.Word
	list bool // only names are shown
}

func (u *usage) no(why string) {
	if u.why == "" {
		u.why = why
	}
}

// flag is one flag as given.
type flagUse struct {
	name  string // "-o" or "--output"
	value *shell.Word
}

// args are a program's words, read by its table of flags.
type args struct {
	flags    []flagUse
	operands []shell.Word
	why      string // the first word that the table does not know
	dashed   bool   // there is a --
	behind   int    // the index of the first operand behind it
	late     bool   // a flag, or --, comes after an operand: some systems take it for one more operand
	maybe    []string
}

func (a *args) has(names ...string) bool {
	for _, f := range a.flags {
		for _, n := range names {
			if f.name == n {
				return true
			}
		}
	}
	return false
}

// How a flag takes its value.
const (
	flagAlone byte = iota + 1
	flagText       // a value that is text
	flagPath       // a value that names a file to read
	flagDest       // a value that names a file or directory to write
	flagMaybe      // a value only when glued: --color=always, -n3
)

// flagTable are the flags of a program that only read.
type flagTable struct {
	short  [128]byte
	long   map[string]byte
	digits bool // -5
}

// parseFlags reads the notation of the tables: -abc flags without values; -x: with text, -x@ with a path to read,
// -x> with a path to write, -x? with a glued value; --name likewise, where = stands for text; -# for numbers.
func parseFlags(notation string) *flagTable {
	t := &flagTable{long: map[string]byte{}}
	for f := range strings.FieldsSeq(notation) {
		if f == "-#" {
			t.digits = true
			continue
		}
		kind := flagAlone
		switch f[len(f)-1] {
		case ':', '=':
			kind = flagText
		case '@':
			kind = flagPath
		case '>':
			kind = flagDest
		case '?':
			kind = flagMaybe
		}
		if kind != flagAlone {
			f = f[:len(f)-1]
		}
		if name, ok := strings.CutPrefix(f, "--"); ok {
			t.long[name] = kind
			continue
		}
		for i := 1; i < len(f); i++ {
			t.short[f[i]&0x7f] = kind
		}
	}
	return t
}

// parse reads words by the table. Flags may come after operands, as GNU programs take them.
func (t *flagTable) parse(words []shell.Word) (a args) {
	for i := 0; i < len(words); i++ {
		text, literal := words[i].Literal()
		if !literal {
			if f, ok := t.globbedFlag(words[i]); ok {
				a.flags = append(a.flags, f)
				continue
			}
			if startsWithDash(words[i]) {
				a.refuse("a flag expands: " + words[i].Text)
			}
			a.operands = append(a.operands, words[i])
			continue
		}
		a.late = a.late || len(a.operands) > 0 && len(text) > 1 && text[0] == '-'
		switch {
		case text == "--":
			a.dashed, a.behind = true, len(a.operands)
			a.operands = append(a.operands, words[i+1:]...)
			return a
		case strings.HasPrefix(text, "--"):
			i += t.longFlag(&a, text, words[i:])
		case len(text) > 1 && text[0] == '-':
			i += t.shortFlags(&a, text, words[i:])
		default:
			a.operands = append(a.operands, words[i])
		}
	}
	return a
}

func (a *args) refuse(why string) {
	if a.why == "" {
		a.why = why
	}
}

// startsWithDash says that the shell may make a flag of the word.
func startsWithDash(w shell.Word) bool {
	return len(w.Pieces) > 0 && w.Pieces[0].Kind == shell.Lit && strings.HasPrefix(w.Pieces[0].Text, "-")
}

// globbedFlag reads --include=*.go, without quotes: whatever files there are, it stays that flag with a text as its value.
func (t *flagTable) globbedFlag(w shell.Word) (f flagUse, ok bool) {
	text := ""
	for _, p := range w.Pieces {
		if p.Kind != shell.Lit && (p.Kind != shell.Glob || p.Text == "[") {
			return f, false
		}
		text += p.Text
	}
	head := w.Pieces[0]
	name, _, glued := strings.Cut(head.Text, "=")
	if head.Kind != shell.Lit || !glued || !strings.HasPrefix(name, "--") || t.long[name[2:]] != flagText {
		return f, false
	}
	_, text, _ = strings.Cut(text, "=")
	value := shell.Plain(text)
	return flagUse{name: name, value: &value}, true
}

func (t *flagTable) longFlag(a *args, text string, rest []shell.Word) (used int) {
	name, value, glued := strings.Cut(text[2:], "=")
	kind := t.long[name]
	f := flagUse{name: "--" + name}
	switch {
	case kind == 0, glued && kind == flagAlone:
		a.refuse("the flag --" + name + " is not known to only read")
		a.maybe = append(a.maybe, value)
	case glued:
		w := shell.Plain(value)
		f.value = &w
	case kind == flagText || kind == flagPath || kind == flagDest:
		if len(rest) < 2 {
			a.refuse("the flag --" + name + " has no value")
			return 0
		}
		f.value, used = &rest[1], 1
	}
	a.flags = append(a.flags, f)
	return used
}

func (t *flagTable) shortFlags(a *args, text string, rest []shell.Word) (used int) {
	if t.digits && strings.Trim(text[1:], "0123456789") == "" {
		return 0
	}
	for i := 1; i < len(text); i++ {
		kind := byte(0)
		if text[i] < 128 {
			kind = t.short[text[i]]
		}
		f := flagUse{name: "-" + text[i:i+1]}
		switch kind {
		case 0:
			a.refuse("the flag " + f.name + " is not known to only read")
			a.maybe = append(a.maybe, text[i+1:])
			return 0
		case flagAlone:
			a.flags = append(a.flags, f)
			continue
		}
		if i+1 < len(text) || kind == flagMaybe {
			w := shell.Plain(text[i+1:])
			f.value = &w
		} else if len(rest) < 2 {
			a.refuse("the flag " + f.name + " has no value")
			return 0
		} else {
			f.value, used = &rest[1], 1
		}
		a.flags = append(a.flags, f)
		return used
	}
	return 0
}

// files collects the paths that flags name.
func (t *flagTable) files(a *args, u *usage) {
	for _, text := range a.maybe {
		u.maybe = append(u.maybe, maybeFiles(text)...)
	}
	for _, f := range a.flags {
		if f.value == nil {
			continue
		}
		kind := t.long[strings.TrimPrefix(f.name, "--")]
		if len(f.name) == 2 {
			kind = t.short[f.name[1]&0x7f]
		}
		switch kind {
		case flagPath:
			u.reads = append(u.reads, operand{word: *f.value})
		case flagDest:
			u.writes = append(u.writes, operand{word: *f.value})
		default:
			if _, literal := f.value.Literal(); !literal {
				u.no("the value of " + f.name + " expands")
			}
		}
	}
}

// program is how one program's words are read.
type program struct {
	table    *flagTable
	notation string
	kind     operandKind
	most     int  // the largest number of operands; 0 means any
	noFlags  bool // every word is an operand
	edits    bool // a program of mode acceptEdits
	names    bool
	here     bool
	noGlob   bool // an unquoted glob asks: a file name could become a flag that writes
	check    func(a *args, u *usage)
}

type operandKind int

const (
	operandNone operandKind = iota
	operandText             // words that are printed or computed with
	operandPath
	operandPattern // a pattern first, then paths
	operandWrite
	operandCopy // all but the last are read, the last is written
)

// use reads the words of a known program.
func (p *program) use(words []shell.Word) (u usage) {
	u.edits, u.names, u.here = p.edits, p.names, p.here
	var a args
	if p.noFlags {
		a.operands = words[1:]
	} else {
		a = p.table.parse(words[1:])
		p.table.files(&a, &u)
	}
	if a.why != "" {
		u.no(a.why)
		u.edits = false
	}
	if p.edits {
		u.no("it changes files")
	}
	if p.most > 0 && (len(a.operands) > p.most || a.late) {
		u.no("it has more operands than it reads")
	}
	if p.noGlob {
		for _, w := range words[1:] {
			if w.Has(shell.Glob) {
				u.no("a file name could become a flag")
			}
		}
	}
	p.spread(&a, &u)
	if p.check != nil {
		p.check(&a, &u)
	}
	return u
}

// spread sorts the operands into what is read and what is written.
func (p *program) spread(a *args, u *usage) {
	ops := a.operands
	switch p.kind {
	case operandNone:
		if len(ops) > 0 {
			u.no("it takes no operands here")
		}
	case operandText:
		for _, w := range ops {
			textOperand(w, u)
		}
	case operandPattern:
		if !a.has("-e", "-f", "--regexp", "--file", "--files", "--type-list") && len(ops) > 0 { // with these there is no pattern
			if _, literal := ops[0].Literal(); !literal {
				u.no("its pattern expands")
			}
			ops = ops[1:]
		}
		u.addReads(ops)
	case operandPath:
		u.addReads(ops)
	case operandWrite:
		for _, w := range ops {
			u.writes = append(u.writes, operand{word: w})
		}
	}
}

func (u *usage) addReads(words []shell.Word) {
	for _, w := range words {
		if text, ok := w.Literal(); ok && text == "-" {
			continue
		}
		u.reads = append(u.reads, operand{word: w, list: u.names})
	}
}

// textOperand checks a word that is only printed. The output of commands is fine, for they are judged themselves;
// a variable is not, for it may hold a secret.
func textOperand(w shell.Word, u *usage) {
	for _, p := range w.Pieces {
		switch p.Kind {
		case shell.Opaque, shell.ProcOut:
			u.no("it has " + p.Text)
		case shell.Var:
			if p.Text != "HOME" && p.Text != "PWD" {
				u.no("it has the variable " + p.Text)
			}
		}
	}
	if w.Has(shell.Glob) {
		u.reads = append(u.reads, operand{word: w, list: true})
	}
}

// lookup finds the program of a command, by the plain name only: another path is another program.
func lookup(words []shell.Word) (p *program, name string) {
	name, literal := words[0].Literal()
	if !literal {
		return nil, ""
	}
	return programs()[name], name
}

var programs = sync.OnceValue(func() map[string]*program {
	all := map[string]*program{}
	for _, list := range [][]entry{readers(), filters(), system(), editors()} {
		for _, e := range list {
			p := e.program
			p.table = parseFlags(p.notation + " --help --version")
			for name := range strings.FieldsSeq(e.names) {
				all[name] = &p
			}
		}
	}
	return all
})

// entry is a program under its names.
type entry struct {
	names string
	program
}
