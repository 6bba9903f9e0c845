package wire

import (
	"bytes"
	"hash/crc32"
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
	sums     []uint32 // of what stands before the end of each of the first messages, for Sum
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
	b.ends, b.sums = b.ends[:keep], b.sums[:min(keep, len(b.sums))]
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

// Len is the length of the last body.
func (b *Body) Len() int { return len(b.data) }

// castagnoli is the table of the polynomial that processors have an instruction for; it is made once, when first asked for.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Checksum is the CRC-32C of a body: it tells two bodies apart that should be one, and costs next to nothing.
func Checksum(body []byte) uint32 { return crc32.Checksum(body, castagnoli()) }

// Sum is the checksum of the last body. It costs what the body does not share with the one before.
func (b *Body) Sum() uint32 {
	sum, done := uint32(0), 0
	if n := len(b.sums); n > 0 {
		sum, done = b.sums[n-1], b.ends[n-1]
	}
	for _, end := range b.ends[len(b.sums):] {
		sum = crc32.Update(sum, castagnoli(), b.data[done:end])
		b.sums, done = append(b.sums, sum), end
	}
	return crc32.Update(sum, castagnoli(), b.data[done:])
}
