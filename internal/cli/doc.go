// Package cli is the command line: its flags, its commands, and the front ends that they choose. It fills app.Options, opens
// a session with them, hands its connection to a front end (headless, the control protocol, the terminal, ACP), and turns
// what became of it into an exit code. Commands that need no session look at the place, the rules or the servers alone.
//
// In: arguments and the standard streams. Out: an exit code. Called by cmd/lathe. It knows of a session only what package
// app exports.
package cli
