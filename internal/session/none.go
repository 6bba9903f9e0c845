package session

import "lathe/internal/msg"

// None returns a log that keeps nothing, for runs that shall leave no trace.
func None(id string) Log { return none(id) }

type none string

func (n none) ID() string                  { return string(n) }
func (n none) Path() string                { return "" }
func (n none) Append(...msg.Message) error { return nil }
func (n none) Freeze(Frozen) error         { return nil }
func (n none) Keep(string, any) error      { return nil }
func (n none) Close() error                { return nil }
