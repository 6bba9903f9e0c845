// Package msg is the conversation as data: messages, content blocks, token usage and tool definitions.
//
// It is the bottom of the vocabulary: it imports nothing of ours, and everything else speaks in its types.
// Blocks have one JSON form, that of the public Messages API, which is also the form in transcripts and on
// the stream-json output; see json.go. A Message is never changed after it was appended to a conversation.
package msg
