// Package git asks git about a repository for the system prompt and the trust rules. Its calls never run what a
// repository configures: no fsmonitor, hooks, pager, external diff, text conversion, filters or fetches.
package git
