package perm

import "encoding/json"

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
	Kind  string // rule, mode, readonly, workspace, tool, protected, critical, unparsed, hook, person, default
	Rule  string // the rule's text, for kind rule
	Scope string // user, project, local, managed, cli, session
	File  string
	Line  int
}

// Rule is one permission rule, such as Bash(npm test:*), with where it came from.
type Rule struct {
	Text   string  // as written
	Effect Verdict // Allow, Ask or Deny
	Source Source
}
