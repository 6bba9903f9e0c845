// Package checkpoint keeps what files were before the session changed them, so that they can be put back.
//
// In comes each change before it happens: Keep is called by the file tools right before a file is replaced (see
// tool.ReadCache), Watch around a shell command. Out comes Plan, what going back to a prompt would do, and Apply, which
// does it. Begin marks the prompts. The store is a folder of the session: log.jsonl holds one record a change, oldest
// first, and blobs the contents, named by their SHA-256. Everything in it is a verbatim copy of the user's files, so the
// folder and its files are for the user alone.
//
// A record says what stood at a path before (Was) and what after (Now). Going back to a prompt means, for each path,
// what the first record since that prompt says of before. What stands there now must be what the last record says of
// after; if not, somebody else changed it, and it is left alone unless that is asked for. A rewind is recorded like any
// other change: it can be done again after it was cut off, and be taken back.
package checkpoint
