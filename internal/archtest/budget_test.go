package archtest

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What the program may cost before main runs, and on disk. Every start pays for the first two; bench/README.md has
// the figures of today, which are far below.
const (
	maxInitAllocs = 8000
	maxInitBytes  = 1_500_000
	maxBinary     = 35_000_000
)

// initLine is a line of GODEBUG=inittrace=1.
var initLine = regexp.MustCompile(`(?m)^init (\S+) @.*?, (.*) clock, (\d+) bytes, (\d+) allocs$`)

type initCost struct {
	name, clock   string
	bytes, allocs int
}

func TestStartBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: builds the binary, which takes long")
	}
	binary := filepath.Join(t.TempDir(), "lathe")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", binary, "lathe/cmd/lathe")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxBinary {
		t.Errorf("the binary has %d bytes (at most %d); go tool nm -size -sort size names what is in it", info.Size(), maxBinary)
	}
	costs := initCosts(t, binary)
	size, allocs := 0, 0
	for _, c := range costs {
		size, allocs = size+c.bytes, allocs+c.allocs
	}
	if allocs == 0 {
		t.Fatal("nothing was traced")
	}
	if size > maxInitBytes || allocs > maxInitAllocs {
		t.Errorf("the start costs %d allocations and %d bytes before main (at most %d and %d). The heaviest packages:\n%s",
			allocs, size, maxInitAllocs, maxInitBytes, heaviest(costs, 10))
	}
}

func initCosts(t *testing.T, binary string) []initCost {
	t.Helper()
	cmd := exec.Command(binary, "--version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("lathe --version: %v\n%s", err, &stderr)
	}
	var out []initCost
	for _, m := range initLine.FindAllStringSubmatch(stderr.String(), -1) {
		b, _ := strconv.Atoi(m[3])
		a, _ := strconv.Atoi(m[4])
		out = append(out, initCost{name: m[1], clock: m[2], bytes: b, allocs: a})
	}
	return out
}

// heaviest lists the n packages with the most bytes.
func heaviest(costs []initCost, n int) string {
	slices.SortFunc(costs, func(a, b initCost) int { return cmp.Compare(b.bytes, a.bytes) })
	var out strings.Builder
	for _, c := range costs[:min(n, len(costs))] {
		fmt.Fprintf(&out, "%9d bytes %6d allocations %10s  %s\n", c.bytes, c.allocs, c.clock, c.name)
	}
	return out.String()
}
