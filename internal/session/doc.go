// Package session defines what is kept of a conversation: an append-only log of messages and state records.
// The implementation in session/jsonl writes one JSON line a record; the file is the truth.
package session
