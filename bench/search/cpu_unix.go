//go:build unix

package main

import (
	"syscall"
	"time"
)

// selfCPU is the processor time that this program used so far.
func selfCPU() time.Duration {
	var u syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
