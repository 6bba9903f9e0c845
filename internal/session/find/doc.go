// Package find finds sessions for a person: by what they are called, by a text that was said in them, as a list, and as a
// short look at the end of one.
//
// In: a store of session files and words. Out: where the sessions are, and lines that describe them. Called by the
// command line and by what a session answers to pickers.
package find
