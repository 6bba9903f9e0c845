// Package search finds files and text in a tree: which entries are ignored (git's rules), a parallel walk that
// never enters an ignored folder, name patterns, and a matcher for regular expressions that only looks closely
// at lines that hold a required piece of text. In come a folder, rules and a pattern; out come paths, lines and
// counts. It knows nothing of tools: tool/grep, tool/glob, complete and checkpoint call it, and memory for
// the braces of its patterns.
//
// Start with grep.go and glob.go. Below them: walk.go (who reads which folder), ignore.go (what is left out),
// matcher.go (regexp to prefilter, literal.go, and automaton, dfa.go), scan.go (windows over one file).
package search
