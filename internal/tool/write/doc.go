// Package write is the tool Write: it creates a file or replaces the whole content of one. In goes a path and the
// content; out comes the file, with the encoding and mode that it had, and a patch for programs. Called by
// pipeline/tools (stage 9).
package write
