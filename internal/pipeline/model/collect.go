package model

import (
	"iter"

	"lathe/internal/msg"
	"lathe/internal/provider"
)

// Answer is what came of one answer: all of it, or what there was when it broke off.
type Answer struct {
	Meta   provider.Meta
	Blocks []msg.Block // as they must be sent back
	Stop   string      // why it ended; "" for one that broke off
	Usage  msg.Usage
}

// Text is the text of the answer.
func (a Answer) Text() string {
	text := ""
	for _, b := range a.Blocks {
		if b.Type == msg.TypeText {
			text += b.Text
		}
	}
	return text
}

// Collect reads one answer to its end, for calls outside the conversation. With an error comes what there was until then.
func Collect(stream iter.Seq2[provider.Chunk, error]) (Answer, error) {
	var a assembler
	var failed error
	for c, err := range stream {
		if err != nil {
			failed = err
			break
		}
		switch c.Kind {
		case provider.ChunkStart:
			a.start(c)
		case provider.ChunkBlockStart:
			a.open(c)
		case provider.ChunkBlockDelta:
			a.add(c)
		case provider.ChunkBlockEnd:
			a.end(c.Index)
		case provider.ChunkDelta:
			a.delta(c)
		}
	}
	out := Answer{Meta: a.meta, Stop: a.stop, Usage: a.usage}
	for _, p := range a.release(true) {
		b, _ := p.finish()
		out.Blocks = append(out.Blocks, b)
	}
	return out, failed
}
