// Package shell reads a shell command as its syntax tree and lists what it would run.
//
// A script comes in as text; out go its simple commands, those inside pipes, groups, loops, functions and
// substitutions too, each with its words after quote removal, its assignments, its redirections and the
// directory changes before it, and the reasons why the text cannot be judged (it does not parse, it is too
// long, it has characters that a person cannot see). It never runs, expands or looks up anything: a word that
// the shell would expand says so, piece by piece. Called by package perm.
package shell
