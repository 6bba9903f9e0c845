// Package engine owns one conversation: ops in, events out. Submit runs one turn through the pipeline and yields
// its events; Conn is the same for front ends that stay, with a queue, interrupts and answers. The engine knows
// the runner and the log, and no stage: the table of stages is handed to it by package app.
package engine
