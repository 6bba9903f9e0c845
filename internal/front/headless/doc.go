// Package headless is the front end for scripts and CI: results go to standard output as text, JSON or one JSON
// object a line, everything else to standard error. It reads one stream of events and holds no logic of the agent. Called
// by internal/cli for lathe -p.
package headless
