//go:build !unix

package term

import "os"

// guard restores the terminal after a crash; there is none here.
type guard struct{}

func startGuard([]string, *os.File, *os.File) *guard { return nil }

func (*guard) dismiss() {}

// Guard is the guard process's main function.
func Guard() int { return 0 }
