//go:build unix

package main

import (
	"os"
	"syscall"
)

// peakOf is the largest resident size of a process, in KB.
func peakOf(p *os.ProcessState) int64 {
	if u, ok := p.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss
	}
	return 0
}
