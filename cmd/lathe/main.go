// Command lathe is an open coding agent for the terminal.
package main

import (
	"os"

	"lathe/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
