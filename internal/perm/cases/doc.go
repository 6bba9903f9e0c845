// Package cases runs files of permission cases: each builds a small folder, loads rules, and compares the decision
// on one tool call with the expected one.
//
// A file of JSON lines comes in (Read), each row is decided in a folder of its own (Case.Run), and results with the
// decision and what differs go out. Nothing is executed. Called by the command "permissions test", so that teams
// keep tests of their rules, and by the tests of package perm.
package cases
