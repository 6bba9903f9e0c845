// Package memory finds and reads instruction files: CLAUDE.md and AGENTS.md of the user, of the project and of
// every directory between the file system's root and the working directory, with their @imports. It returns
// texts; the attach stage (3) puts them into the conversation. Rules are such files that count for some paths (rules.go), notes
// are what sessions keep for later ones (auto.go). Package app says where to look.
package memory
