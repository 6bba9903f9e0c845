// Package pipeline is the table of stages: what happens to a prompt, in this order. Start reading at Stages. Each
// stage is a folder below this one and knows nothing of the others; where one needs something of another, this
// package hands it over as a function.
package pipeline
