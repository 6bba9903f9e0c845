// Package edit is the tool Edit: it replaces one exact, unique piece of a text file, or all of them. In goes a path
// with the old and the new text; out comes the changed file, every byte outside the match as it was, and a result
// with the changed lines. Called by pipeline/tools (stage 9).
package edit
