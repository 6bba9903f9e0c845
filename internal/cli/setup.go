package cli

import (
	"context"
	"io"

	"lathe/internal/event"
)

// runSetup runs the hooks of Setup and SessionStart and ends (--init-only).
func runSetup(o *flags, st Streams) int {
	s, err := o.open(st)
	if err != nil {
		return report(st, err)
	}
	defer s.Close()
	if !s.SetUp(context.Background(), func(text string) { _, _ = io.WriteString(st.Out, event.Inert(text)) }) {
		return exitFailed
	}
	return exitOK
}
