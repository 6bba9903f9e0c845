// Package memory finds and reads instruction files: CLAUDE.md and AGENTS.md of the user, of the project and of
// every directory between the file system's root and the working directory, with their @imports. It returns
// texts; the attach stage (3) puts them into the conversation.
package memory
