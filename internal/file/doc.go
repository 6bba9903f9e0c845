// Package file reads and replaces the files of a person's project without damaging them. In go a path and, for a
// write, the new bytes; out come the bytes of a regular file, decoded text that remembers its encoding, or an
// atomic replacement that keeps mode and owner. It is used by the file tools (read, edit, write, notebook) and knows
// nothing of them; checkpoint, mcp, agent, skill and the app read and place files of their own by it.
//
// A path is resolved once (Resolve), so that a link stays a link and its target is what is judged, read and replaced.
// From then on no link is followed any more: the directory is opened, proved to be the one of the resolved path, and
// all else happens by name in that open directory (Place). Who swaps a directory or the file for a link between the
// judgement and the write makes the call fail, and never leads it elsewhere. Hard links and mounts cannot be seen.
package file
