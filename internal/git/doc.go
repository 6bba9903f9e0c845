// Package git asks git about a repository, and reads its index. In goes a directory; out come the repository's root, branch
// and state for the system prompt, what it would run for the trust rules, its changes for who drives a session, and what
// the index and the objects hold of files for checkpoints. Its calls never run what a repository configures: no fsmonitor,
// hooks, pager, external diff, text conversion, filters or fetches. Called by pipeline/prompt, checkpoint, demo and the app.
package git
