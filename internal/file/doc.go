// Package file reads and replaces the files of a person's project without damaging them. In go a path and, for a
// write, the new bytes; out come the bytes of a regular file, decoded text that remembers its encoding, or an
// atomic replacement that keeps mode and owner. Links are followed for both, so a link stays a link. It is used by
// the file tools (read, edit, write, notebook) and knows nothing of them.
package file
