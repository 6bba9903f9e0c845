// Package load reads what was recorded of a session and of its sub-agents, transcripts and traces, for package inspect, and says
// what prices and the prompt cache make of it.
//
// In: what is known of a session. Out: the inspector's session, which reads bodies from the traces until it is closed. Called by lathe
// inspect, and by a session that serves its own page.
package load
