// Package demo holds what lathe demo needs: a small repository with a failing test, and the recording of a session
// that finds, fixes and verifies it. The recording answers in place of a model.
package demo
