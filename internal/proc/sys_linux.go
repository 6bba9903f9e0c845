package proc

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// sysProcAttr gives the child a session of its own, and has the kernel kill it when we die: the watchdog needs a
// moment to know of a child, the kernel does not.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// spawner starts children from one thread that lives as long as the group: to the kernel the parent whose death
// counts is a thread, not the process.
type spawner struct {
	once sync.Once
	jobs chan func() // closed by stop; unbuffered, so a caller waits its turn
	wg   sync.WaitGroup
}

func (s *spawner) do(f func()) {
	s.once.Do(func() {
		s.jobs = make(chan func())
		s.wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for job := range s.jobs {
				job()
			}
		})
	})
	done := make(chan struct{})
	s.jobs <- func() { f(); close(done) }
	<-done
}

// stop ends the thread's goroutine. No do may run or follow.
func (s *spawner) stop() {
	s.once.Do(func() {})
	if s.jobs != nil {
		close(s.jobs)
		s.wg.Wait()
	}
}

// eachPid calls f for each process until it returns false.
func eachPid(f func(pid int, dir string) bool) {
	proc, err := os.Open("/proc")
	if err != nil {
		return
	}
	names, _ := proc.Readdirnames(-1)
	_ = proc.Close()
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && !f(pid, "/proc/"+name) {
			return
		}
	}
}

// anyLives looks for a process of the group that is not a zombie: what is orphaned and killed stays one until pid
// 1 takes note, which in containers can take seconds, or for ever.
func anyLives(pgid int) bool {
	found, seen := false, false
	eachPid(func(_ int, dir string) bool {
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			return true // it ended meanwhile
		}
		seen = true
		// "pid (name) state ppid pgrp …", where the name may hold anything
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		found = len(fields) > 2 && fields[2] == strconv.Itoa(pgid) && fields[0] != "Z" && fields[0] != "X"
		return !found
	})
	return found || !seen // without /proc the group counts as living
}

// eachMarked calls f for each process whose environment carries the mark.
func eachMarked(mark string, f func(pid int)) {
	self := os.Getpid()
	eachPid(func(pid int, dir string) bool {
		if pid != self && bytes.Contains(environOf(dir), []byte(mark)) {
			f(pid)
		}
		return true
	})
}

// environOf reads the environment of a process; other people's cannot be read. It is empty when the process has ended, and
// for a moment while it takes up another program: then there is a program all the same, and it is read again.
func environOf(dir string) []byte {
	for range 10 {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || len(env) > 0 {
			return env
		}
		if _, err := os.Readlink(dir + "/exe"); err != nil {
			return nil
		}
		time.Sleep(200 * time.Microsecond)
	}
	return nil
}

// killMarked kills what carries the mark, again while it brings forth more.
func killMarked(mark string) {
	for range 3 {
		found := false
		eachMarked(mark, func(pid int) { found = true; _ = syscall.Kill(pid, syscall.SIGKILL) })
		if !found {
			return
		}
	}
}

func listMarked(mark string) []Left {
	var left []Left
	eachMarked(mark, func(pid int) {
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		name := strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
		if len(name) > 80 {
			name = strings.ToValidUTF8(name[:80], "") + "…"
		}
		left = append(left, Left{Pid: pid, Name: name})
	})
	return left
}
