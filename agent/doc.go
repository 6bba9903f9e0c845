// Package agent runs Lathe inside a Go program: a coding agent that works in a directory through tools, under
// permission rules, and keeps a transcript.
//
// Open begins a session, Session.Submit gives it a prompt and yields events as they happen, Session.Run waits for the
// end. A program may bring tools of its own (NewTool), answer permission questions (Options.Permission), watch and
// change what happens (Options.Hooks), and keep sessions where it likes (Options.Store). The command line goes through
// the same door, so a session of one can be continued by the other.
//
// Settings, permission rules, trust, memory files, skills and the sandbox are those of the program lathe, and mean the
// same; docs/library.md has examples that run. Some types are aliases of internal ones: their fields are documented
// here where they matter, and they stay as they are as long as this package does.
package agent
