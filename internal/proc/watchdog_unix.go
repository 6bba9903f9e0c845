//go:build unix

package proc

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// watchdog is a small shell outside of every group of ours. It knows our groups and kills them when its input ends
// without a good-bye, as it does when we are killed.
type watchdog struct {
	cmd  *exec.Cmd
	pipe *os.File
}

// The watchdog's program. Input lines: "+ pgid" a group with its leader, "~ pgid" a group whose leader was reaped
// (if a process of that number exists, the group is a stranger's), "- pgid" a group that is gone, "q 0" good-bye.
const watchdogScript = `
without() { r=; for p in $1; do [ "$p" = "$2" ] || r="$r $p"; done; }
live= left=
while read -r op id; do
	[ "$op" = q ] && exit 0
	without "$live" "$id"; live=$r
	without "$left" "$id"; left=$r
	case $op in
	+) live="$live $id" ;;
	'~') left="$left $id" ;;
	esac
done
for p in $live; do kill -s KILL -- "-$p"; done
for p in $left; do kill -0 "$p" || kill -s KILL -- "-$p"; done
for i in 1 2 3; do
	found=$(grep -lsaF -e "$1" /proc/[0-9]*/environ)
	[ -n "$found" ] || exit 0
	for f in $found; do f=${f#/proc/}; kill -s KILL "${f%/environ}"; done
done
`

// start is best effort: without a shell or processes to spare, the kernel's own mechanism must do.
func (w *watchdog) start(mark string) {
	r, wr, err := os.Pipe()
	if err != nil {
		return
	}
	defer func() { _ = r.Close() }()
	cmd := exec.Command("/bin/sh", "-c", watchdogScript, "lathe-watchdog", mark)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // and no mark: it must outlive whom it watches
	cmd.Stdin = r
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		_ = wr.Close()
		return
	}
	w.cmd, w.pipe = cmd, wr
}

func (w *watchdog) tell(op byte, pid int) {
	if w.pipe != nil {
		_, _ = fmt.Fprintf(w.pipe, "%c %d\n", op, pid)
	}
}

func (w *watchdog) stop() {
	if w.pipe == nil {
		return
	}
	w.tell('q', 0)
	_ = w.pipe.Close()
	_ = w.cmd.Wait()
	w.pipe = nil
}
