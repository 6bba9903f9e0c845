package file

import (
	"os"
	"strconv"
)

// pathOf asks the kernel for the path of an open directory; "" when it does not tell.
func pathOf(root *os.Root) string {
	f, err := root.Open(".")
	if err != nil {
		return ""
	}
	defer f.Close()
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
	if err != nil {
		return ""
	}
	return path
}
