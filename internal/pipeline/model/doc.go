// Package model is stages 7 and 8 of the pipeline: it sends the request that normalize built and assembles the
// answer as it streams in.
//
// In: Turn.Request. Out: each finished block of the answer appended to the conversation (on disk before it is
// told of), the whole answer in Turn.Reply, the provider's events passed on as they come. In between: the retry
// table (retry.go), the idle watchdog and one attempt (attempt.go), the blocks from their pieces (assemble.go),
// what each stop reason asks for (settle.go), and what a person is told when nothing helps (fail.go).
package model
