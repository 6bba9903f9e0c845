package bash

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// exitOne tells what exit code 1 means when it is an answer and no failure; else it is empty. The code is that of
// the last command.
func exitOne(command string) string {
	f := parse(command)
	if f == nil || len(f.Stmts) == 0 {
		return ""
	}
	words := literals(lastCall(f.Stmts[len(f.Stmts)-1]))
	if len(words) == 0 {
		return ""
	}
	name := words[0]
	if name == "git" && len(words) > 1 && (words[1] == "diff" || words[1] == "grep") {
		name = words[1]
	}
	switch name {
	case "grep", "egrep", "fgrep", "rg":
		return "no matches"
	case "find":
		return "some directories could not be read"
	case "diff":
		return "there are differences"
	case "test", "[":
		return "the condition is false"
	}
	return ""
}

func parse(command string) *syntax.File {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	return f
}

// lastCall finds the simple command whose exit code is the statement's.
func lastCall(s *syntax.Stmt) *syntax.CallExpr {
	for !s.Negated && !s.Background {
		switch cmd := s.Cmd.(type) {
		case *syntax.BinaryCmd:
			s = cmd.Y
		case *syntax.CallExpr:
			return cmd
		default:
			return nil
		}
	}
	return nil
}

// literals are the words of a command as far as they are plain; a word that expands is empty.
func literals(call *syntax.CallExpr) []string {
	if call == nil {
		return nil
	}
	out := make([]string, len(call.Args))
	for i, w := range call.Args {
		out[i], _ = literal(w)
	}
	return out
}

// literal is the text of a word in which nothing is expanded.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "\\*?[{~") && p.Value != "[" {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				lit, ok := q.(*syntax.Lit)
				if !ok || strings.Contains(lit.Value, "\\") {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}
