// Package history keeps the prompts of a working directory, and the draft that a crash would lose. In come drafts of the
// editor; out come those of before, for Up and Down and for a search. It is the one package of these that touches files:
// a JSON line an entry, appended at once, readable by the owner alone; several processes may write.
//
//	st := history.Open(stateDir, cwd, redact)      // nothing is read or made yet
//	list := st.Load()                              // of this directory; LoadAll: of all
//	err := st.Add(d, sessionID)                    // after sending
//
//	err = st.SaveDraft(ed.Draft())                 // now and then while typing; you debounce
//	d, ok := st.Recover()                          // at the start: what a dead process left
//	err = st.DropDraft()                           // after sending, and at exit
//
// Secrets are taken out before anything is written, by the function that also serves transcripts.
package history
