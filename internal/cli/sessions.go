package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lathe/internal/event"
	"lathe/internal/session/find"
)

const sessionsUsage = `usage:
  lathe sessions [TEXT] [--all] [--json]   sessions of this directory (of all: --all), the newest first; with TEXT those that hold it`

// sessionsCommand lists sessions.
func sessionsCommand(args []string, st Streams) error {
	q := find.Query{}
	asJSON := false
	for _, a := range args {
		switch {
		case a == "--all":
			q.All = true
		case a == "--json":
			asJSON = true
		case strings.HasPrefix(a, "-") || q.Text != "":
			return errors.New(sessionsUsage)
		default:
			q.Text = a
		}
	}
	p, err := here()
	if err != nil {
		return err
	}
	list, err := find.List(context.Background(), p.Sessions(), p.Sys.Dirs.Work, q)
	if err != nil {
		return err
	}
	if asJSON {
		for _, s := range list {
			fmt.Fprintf(st.Out, "%s\n", event.Encode(s))
		}
		return nil
	}
	fmt.Fprintln(st.Out, find.Rows(list, q, p.Sys.Now()))
	return nil
}
