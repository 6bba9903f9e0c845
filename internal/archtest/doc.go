// Package archtest keeps the rules of ARCHITECTURE.md as tests: who may import whom, what must not be in the
// binary, how long files and functions may be, that every package says what it is.
package archtest
