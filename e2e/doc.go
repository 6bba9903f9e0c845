// Package e2e runs the real program against the fake API: one txtar file in testdata/script is one test, with
// files, the model's script, the command line and what must come of it. Further tests here need more than a script:
// faults, signals, kills, byte-exact requests.
package e2e
