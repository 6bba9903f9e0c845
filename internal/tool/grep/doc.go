// Package grep is the tool Grep: a regular expression over the files of the workspace, by package search. In comes
// a pattern with filters, out come file names, lines or counts, cut to what a model can use, with how to go on.
// Called by pipeline/tools (stage 9).
package grep
