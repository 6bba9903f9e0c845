package inspect

import (
	"fmt"

	"lathe/internal/trace"
)

// by is what decided, in words.
type by trace.By

func (b by) text() string {
	out := b.Kind
	if b.Rule != "" {
		out += " " + b.Rule
	}
	if b.File != "" {
		out += fmt.Sprintf(" of %s:%d", b.File, b.Line)
	} else if b.Scope != "" {
		out += " of " + b.Scope
	}
	return out
}
