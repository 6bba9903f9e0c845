// Package conversation opens the conversation of a session: a new one, one that is gone on with, or a copy, in files or in
// a store of a program's own.
//
// In: a place, and Which session is meant. Out: what the session starts from and the log that it is kept in. Called when a
// session is assembled, and by the commands that leave it for another.
package conversation
