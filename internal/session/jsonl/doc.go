// Package jsonl keeps sessions as files of JSON lines: messages come in and are on disk when Append returns; on
// resume the live branch of the conversation comes out, with what was frozen and kept beside it. The engine
// opens a session at its start and appends through turn.Append; the command line lists and finds sessions.
//
// # The file
//
// <state>/projects/<project>/<id>.jsonl, one record a line, only ever appended to. Records have the publicly
// known shape of such transcripts, so that existing viewers read them; each of ours says "writer":"lathe".
//
//	user, assistant, system   messages. Attachments are user records with isMeta, summaries user records with
//	                          isCompactSummary; tombstones are system records (subtype lathe_tombstone), since
//	                          readers walk over those on their way from the newest record to the first.
//	                          What the public shape has no place for is in the field "lathe".
//	lathe-frozen              system prompt and tool definitions, byte for byte
//	lathe-state               a state record {kind, value}; the last one of a kind wins. The kinds title,
//	                          ai-title, permission-mode and last-prompt are written in their public form.
//
// # Reading
//
// A file may be torn at its end, hold NUL bytes or half lines in its middle, be written by two processes at once,
// or come from another program of any version. A bad line costs that line, never what follows (line.go). The
// live branch is found by walking back from the newest record (branch.go). Transcripts of other programs outside
// of our state directory are never written to: the session continues in a new file that begins with a copy.
//
// Reading is a hot path: a resume of a hundred megabytes must not be felt. So lines are checked and cut into
// values in one pass, in parallel, and only messages behind the last compact boundary are decoded.
package jsonl
