package shell

import "strings"

// Limits of what is judged.
const (
	// maxLen is the longest script, in bytes, that can be judged as harmless; a longer one has a problem.
	maxLen = 10_000
	// maxParse is the longest script that is parsed at all.
	maxParse = 2 * maxLen
	// maxOpen is the largest number of opening brackets and substitutions that is parsed: nesting costs the parser
	// more than its length.
	maxOpen = 1500
	// maxBraces is the largest number of words that one brace expansion is followed through.
	maxBraces = 64
	// maxItems is the largest number of values of a loop that are followed.
	maxItems = 32
	// extended is what an Opaque piece says of an extended pattern.
	extended = "an extended pattern"
	// maxOpenBraces is the largest number of opening braces in a word that is looked at.
	maxOpenBraces = 32
)

// Script is an analysed text.
type Script struct {
	Text     string
	Commands []Command
	// Problems say why the text as a whole cannot be judged; empty for most. Commands may still hold what could
	// be found, so that a denied command is seen.
	Problems []string
	// Assigned are the variables that the script sets anywhere, by assignment, declaration or loop.
	Assigned []string
}

// Assigns says whether the script sets the variable anywhere.
func (s *Script) Assigns(name string) bool {
	for _, n := range s.Assigned {
		if n == name {
			return true
		}
	}
	return false
}

// Kind is what a Command is.
type Kind int

// The kinds of commands.
const (
	Simple   Kind = iota // words, assignments, or redirections alone
	Group                // the redirections of a compound command; it has no words
	Function             // the definition of a function, whose body's commands are listed too
	Test                 // [[ … ]]; Words are its operands and operators
	Declare              // declare, export, local, readonly, typeset
	Arith                // (( … )), let, a C-style loop: arithmetic can run commands hidden in values
	Coproc               // coproc, whose command is listed too
)

// Command is one part of a script.
type Command struct {
	Kind    Kind
	Text    string // as written, without the bodies of here-documents
	Assigns []Assign
	Words   []Word
	Redirs  []Redir
	// Moves are the directory changes that happened before it in the same shell.
	Moves []Move
	// Lost says that the directory cannot be told, because of a loop, pushd or the like.
	Lost bool
	// Piped says that its standard input is another command's output.
	Piped bool
	// Loops are the for loops around it whose values are no variable's.
	Loops []Loop
	// Inside says where it stands: "", "substitution" or "function".
	Inside string
}

// Loop is a for loop over words that are literal or patterns of file names. Where what commands print is among them, or they are
// many, Items is one word that stands for all.
type Loop struct {
	Name  string
	Items []Word
}

// Move is a directory change.
type Move struct {
	Command int  // index of the cd command in Script.Commands
	Sure    bool // whatever follows only runs when it succeeded
}

// Assign is a variable assignment before a command, or alone.
type Assign struct {
	Name   string
	Value  Word
	Append bool
	Other  bool // an array or an indexed element: its index is evaluated
}

// RedirKind is what a redirection does.
type RedirKind int

// The kinds of redirections.
const (
	RedirRead   RedirKind = iota // < file
	RedirWrite                   // > file, >> file, >| file, &> file, <> file
	RedirDup                     // 2>&1, >&-, <&3
	RedirText                    // << and <<<
	RedirUnsure                  // {name}> file and forms that shells read differently
)

// Redir is a redirection.
type Redir struct {
	Kind   RedirKind
	Text   string // as written
	Target Word   // the file, the descriptor, or the text
}

// PieceKind is what a piece of a word is.
type PieceKind int

// The kinds of pieces.
const (
	Lit     PieceKind = iota // Text as the program gets it
	Glob                     // unquoted * ? […], Text as written
	Var                      // $name; Text is the name
	Num                      // an expansion that can only be a number: $?, $#, $((1+2))
	Tilde                    // ~ or ~user; Text as written
	Subst                    // $(…) or `…`; its commands are listed in the script
	ProcIn                   // <(…)
	ProcOut                  // >(…)
	Opaque                   // anything else; Text says what
)

// Piece is a part of a word.
type Piece struct {
	Kind    PieceKind
	Text    string
	Quoted  bool
	Guarded bool // ${name:?}: an empty value stops the command
}

// Word is a word after quote removal.
type Word struct {
	Text   string // as written
	Pieces []Piece
}

// Literal returns the word's value when no piece expands.
func (w Word) Literal() (string, bool) {
	switch len(w.Pieces) {
	case 0:
		return "", true
	case 1:
		return w.Pieces[0].Text, w.Pieces[0].Kind == Lit
	}
	var b strings.Builder
	for _, p := range w.Pieces {
		if p.Kind != Lit {
			return "", false
		}
		b.WriteString(p.Text)
	}
	return b.String(), true
}

// Has says whether the word has a piece of the kind.
func (w Word) Has(kind PieceKind) bool {
	for _, p := range w.Pieces {
		if p.Kind == kind {
			return true
		}
	}
	return false
}

// Plain returns a word with a literal value.
func Plain(s string) Word { return Word{Text: s, Pieces: []Piece{{Kind: Lit, Text: s}}} }

// Unknown returns a word of which nothing is known.
func Unknown(why string) Word { return Word{Text: "…", Pieces: []Piece{{Kind: Opaque, Text: why}}} }
