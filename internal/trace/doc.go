// Package trace defines what is recorded of a turn's way through the stages: a Record for each run of a stage, and
// sub-records for each call of the model and of a tool, with references to content by hash, so that the same message
// is stored once however many records name it.
//
// The runner in package turn and the stages model and tools write records through a Recorder; File is the one that
// writes beside a transcript, and Read reads what it wrote. Package inspect shows it. Nothing is recorded while the
// recorder is nil.
package trace
