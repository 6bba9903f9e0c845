// Package trace defines what is recorded of a turn's way through the stages: a Record for each stage and pass,
// with references to content by hash, so that the same message is stored once however many records name it.
// The runner in package turn writes records; the inspector reads them. Nothing is recorded while Recorder is nil.
package trace
