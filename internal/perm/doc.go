// Package perm decides whether a tool call may run: allow, ask or deny, each with its reason and proof.
//
// The decision is one pure function of the call, the rules of every scope, the mode and the workspace. Deny
// rules come first, then ask rules, then the mode, then allow rules and read-only defaults, in every mode. A
// shell command is judged part by part on its syntax tree (package shell). Called by pipeline/tools before each
// call, and by the permissions command. Explain tells a person what a call would do.
package perm
