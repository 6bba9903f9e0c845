// Package term holds the tests of the terminal interface: the real program in a real pty, its screen read through a terminal
// emulator. harness_test.go has the helpers.
package term
