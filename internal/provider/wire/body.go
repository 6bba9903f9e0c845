package wire

import (
	"bytes"
	"slices"

	"lathe/internal/provider"
)

// Body is the encoded form of the last request of a conversation. The next request mostly begins with the same
// bytes, which are then left where they are: a step costs what it adds, not what the session has grown to.
// The zero value is ready. A Body is not safe for concurrent use.
type Body struct {
	data     []byte
	head     []byte // what stands before the messages; a copy
	ends     []int  // index in data behind each message
	messages []provider.Message
	marks    []provider.Breakpoint
}

// Encode returns what AppendRequest gives for req. The bytes are valid until the next call.
func (b *Body) Encode(req *provider.Request) []byte {
	b.head = appendHead(b.head[:0], req)
	keep := b.shared(req)
	if keep == 0 {
		b.data = append(b.data[:0], b.head...)
	} else {
		b.data = b.data[:b.ends[keep-1]]
	}
	b.ends = b.ends[:keep]
	for i := keep; i < len(req.Messages); i++ {
		b.data = appendMessage(b.data, req, i)
		b.ends = append(b.ends, len(b.data))
	}
	b.messages, b.marks = req.Messages, slices.Clone(req.Breakpoints)
	b.data = append(b.data, ']', '}')
	return b.data
}

// shared counts the messages whose bytes can stay.
func (b *Body) shared(req *provider.Request) int {
	if !bytes.HasPrefix(b.data, b.head) {
		return 0
	}
	n := provider.Shared(b.messages, req.Messages)
	last := provider.Request{Breakpoints: b.marks}
	for _, m := range slices.Concat(b.marks, req.Breakpoints) {
		if m.At == provider.AtMessage && m.Index >= 0 && !bytes.Equal(mark(&last, m.At, m.Index, m.Block), mark(req, m.At, m.Index, m.Block)) {
			n = min(n, m.Index)
		}
	}
	return n
}
