// Command lathe is an open coding agent for the terminal.
package main

import (
	"os"

	"lathe/internal/app"
)

func main() {
	os.Exit(app.Main(os.Args[1:], app.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
