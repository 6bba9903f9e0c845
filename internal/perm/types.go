package perm

import (
	"encoding/json"
	"fmt"
)

// Verdict is the outcome of a decision. Its zero value is no opinion, never a permission.
type Verdict int

// The verdicts.
const (
	Abstain Verdict = iota
	Allow
	Ask
	Deny
)

func (v Verdict) String() string {
	return [...]string{"abstain", "allow", "ask", "deny"}[v]
}

// Mode is a permission mode.
type Mode string

// The permission modes.
const (
	ModeDefault     Mode = "default"
	ModeAcceptEdits Mode = "acceptEdits"
	ModePlan        Mode = "plan"
	ModeAuto        Mode = "auto"
	ModeDontAsk     Mode = "dontAsk"
	ModeBypass      Mode = "bypassPermissions"
)

// Request is one tool call to be judged. Input is canonical: the documented field names, checked against the
// tool's schema.
type Request struct {
	Tool  string
	Input json.RawMessage
	// ReadOnly is the tool's own word that it changes nothing and reaches nothing outside (a to-do list, say).
	// It counts only for tools that the engine does not know by name.
	ReadOnly bool
	// Target is the file that the tool will act on, with its links resolved, where the tool says so (a native path).
	// A path that leads elsewhere by the time it is judged is denied, so that the verdict is about that very file.
	Target string
	// Also are further names of what the call names, where it has some: a rule that denies or asks for one of them means it.
	Also []string
	// Person says that the tool wants a person to agree to each call: no rule and no mode stands in for that.
	Person bool
}

// Decision is a verdict with its reason.
type Decision struct {
	Verdict Verdict
	Reason  string // a sentence: shown to the person, and to the model when denied
	Source  Source // what decided
	Parts   []Part // the proof: what covered each part of the call
	Suggest []Rule // the rules that a lasting answer would save
}

// Part is one piece of a call (a simple command, a redirection, a path) and what was found on it.
type Part struct {
	Text    string // the piece as written
	Verdict Verdict
	Reason  string
	Source  Source
}

// Source says what decided: a rule with its file and line, a mode, a default.
type Source struct {
	// Kind is one of rule, mode, readonly (a command that only reads), workspace (a path inside the working
	// directories), tool (a tool that needs no approval), protected, critical, unparsed, unsure (a rule might
	// match what cannot be seen), path (a path that cannot be judged), classifier (mode auto: the caller asks the
	// classifier), sandbox (it runs in the sandbox), hook, person, default.
	Kind  string
	Rule  string // the rule's text, for kind rule
	Scope string // user, project, local, managed, cli, session
	File  string
	Line  int
}

// Where says where a rule comes from: its scope, and the line of its file.
func (s Source) Where() string {
	if s.File == "" {
		return s.Scope
	}
	return fmt.Sprintf("%s %s:%d", s.Scope, s.File, s.Line)
}

// Rule is one permission rule, such as Bash(npm test:*), with where it came from.
type Rule struct {
	Text   string  // as written
	Effect Verdict // Allow, Ask or Deny
	Source Source
	// Dir is what a path pattern with one leading slash is anchored at: the project root for a project file, the
	// start directory for local, command-line and session rules, the configuration folder for a user file. Empty
	// means the project root.
	Dir string
	// Repo says that the rule comes from a file that the repository brings along (project settings, or local
	// settings that git tracks). Such a rule restricts at once, and grants only in a trusted workspace.
	Repo bool
}

// Word is how people are told of a mode: the one that settings call default is manual.
func (m Mode) Word() string {
	if m == "" || m == ModeDefault {
		return "manual"
	}
	return string(m)
}
