package conversation

import (
	"cmp"

	"lathe/internal/git"
	"lathe/internal/place"
	"lathe/internal/price"
	"lathe/internal/session"
	"lathe/internal/session/jsonl"
)

// Which says which session is meant, and how it is kept. The zero value is a new one in files of the place.
type Which struct {
	Resume         string // an id, a name or a transcript file
	Continue, Fork bool   // the newest one; a copy of the one that is meant
	OrNew          bool   // Continue begins one where there is none
	ResumeAt       string // the message after which to go on
	DropsTurn      string // with ResumeAt: refuse if more is left out than the turn of this prompt
	SessionID      string // of a new one
	NoPersist      bool
	Store          session.Store                     // nil: files below the state directory
	Mirror         func(path string, records []byte) // told of what is written to transcripts; nil: nobody is
	Entry          string                            // how it was begun, for its records; empty: as the environment says
}

// Files is where the sessions of this place are.
func Files(w Which, p *place.Place, prices *price.Table) jsonl.Store {
	s := p.Sessions()
	s.Entrypoint, s.Cost, s.Mirror = cmp.Or(w.Entry, entrypoint(p)), prices.Cost, w.Mirror
	return s
}

// Start is what a session of this place begins with.
func Start(p *place.Place) jsonl.Start {
	start := jsonl.Start{Dir: p.Sys.Dirs.Work}
	if p.Root != "" {
		start.Branch = git.Branch(p.Root)
	}
	return start
}
