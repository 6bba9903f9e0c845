// Package e2e runs the real program against the fake API: one txtar file in testdata/script is one test, with
// files, the model's script, the command line and what must come of it. Further tests here need more than a script:
// faults, signals, kills, byte-exact requests, recorded transcripts, published repositories and viewers.
//
// What must be fetched comes from the Go module cache or proxy and from npm, pinned by version. Without them those
// tests are skipped, and say so; with LATHE_E2E_ONLINE=1 they fail instead.
package e2e
