// Package inspect shows what was recorded of a session: which requests it made, what each stage of the pipeline made of
// them, what filled the context, what the prompt cache missed and what all of it cost. In go the records of a trace, or
// the messages of a transcript where there is no trace; out come text, JSON, or a page that is served on this machine
// alone. It reads, and changes nothing.
//
// Command lathe inspect in package cli calls it, and a session that serves its own page.
package inspect
