package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// watchMemory looks at the memory of a process and its tree until the returned function is called, which returns
// the highest and the last sum that was seen, in bytes. PSS counts shared pages in part, so that a sum over processes is true.
// Where there is no /proc, the result is 0.
func watchMemory(pid int, every time.Duration) (stop func() (peak, last int)) {
	if every == 0 {
		return func() (int, int) { return 0, 0 }
	}
	done, result := make(chan struct{}), make(chan [2]int)
	go func() {
		most, last := 0, 0
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			if now := treePSS(pid); now > 0 {
				most, last = max(most, now), now
			}
			select {
			case <-tick.C:
			case <-done:
				result <- [2]int{most, last}
				return
			}
		}
	}()
	return func() (int, int) {
		close(done)
		got := <-result
		return got[0], got[1]
	}
}

// treePSS adds up a process and what it started. A child that has not called exec yet runs in its parent's memory,
// which must not be counted twice; it shows the parent's program.
func treePSS(pid int) int {
	sum := pss(pid)
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, field := range bytes.Fields(text) {
			if child, err := strconv.Atoi(string(field)); err == nil && program(child) != program(pid) {
				sum += treePSS(child)
			}
		}
	}
	return sum
}

func program(pid int) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return name
}

func pss(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	_, rest, found := bytes.Cut(text, []byte("\nPss:"))
	if !found {
		return 0
	}
	kb, _ := strconv.Atoi(string(bytes.Fields(rest)[0]))
	return kb << 10
}
