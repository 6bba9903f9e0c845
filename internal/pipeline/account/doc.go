// Package account is stage 10 of the pipeline: a turn that is over goes in, whatever ended it, and its result
// comes out: Turn.Result, the event TurnDone, and the session's totals, kept with the session.
//
// The Ledger counts for one session. The model stage tells it of every answer (Spent) and asks it before each
// pass (Guard: turn and dollar limits); the tools stage tells it of changed lines (Changed). At the end of the
// program, Summary writes its totals for people.
package account
