// Command run measures what the built program costs its users: start, memory, steps, streams, tokens, cache and
// resume. It plays the API itself (package fakeapi) and starts the real binary as a child, as a user would. It
// prints a Markdown table with median and best of the rounds; see bench/README.md.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
)

// figure is one line of the table.
type figure struct {
	name    string
	unit    string
	limit   float64 // the target; 0: none, the figure is told for orientation
	atLeast bool    // the target is a lower bound
	samples []float64
}

// scenario measures one or several figures; it is called once a round and returns one sample of each.
type scenario struct {
	name    string
	figures []figure // without samples
	run     func(b *bench) ([]float64, error)
}

func main() {
	binary := flag.String("lathe", "", "measure this `binary` instead of building one")
	rounds := flag.Int("rounds", 7, "measured runs of each scenario")
	only := flag.String("only", "", "run scenarios whose name holds this `text`")
	size := flag.Int("transcript", 100, "`megabytes` of the transcript that is resumed")
	keep := flag.Bool("keep", false, "keep the working directory")
	flag.Parse()
	debug.SetGCPercent(800) // the other side of the wire should not be what is measured
	if err := run(*binary, *rounds, *only, *size, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(binary string, rounds int, only string, size int, keep bool) error {
	b, err := newBench(binary, size)
	if err != nil {
		return err
	}
	if keep {
		fmt.Fprintln(os.Stderr, "bench: working in", b.dir)
	} else {
		defer os.RemoveAll(b.dir)
	}
	fmt.Printf("%s, %d rounds\n\n", machine(), rounds)
	fmt.Print("| what | target | median | best | |\n| --- | ---: | ---: | ---: | --- |\n")
	missed := 0
	for _, s := range scenarios() {
		if !strings.Contains(s.name, only) {
			continue
		}
		if err := b.measure(&s, rounds); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for _, f := range s.figures {
			fmt.Println(f.row())
			if !f.met() {
				missed++
			}
		}
	}
	fmt.Printf("\n%d targets missed by the median.\n", missed)
	return nil
}

// measure runs a scenario once to warm up the file cache, and then the rounds that count.
func (b *bench) measure(s *scenario, rounds int) error {
	for n := range rounds + 1 {
		got, err := s.run(b)
		if err != nil {
			return err
		}
		for i := range s.figures {
			if n > 0 {
				s.figures[i].samples = append(s.figures[i].samples, got[i])
			}
		}
	}
	return nil
}

func (f figure) median() float64 { return middle(slices.Clone(f.samples)) }

func (f figure) best() float64 {
	if f.atLeast {
		return slices.Max(f.samples)
	}
	return slices.Min(f.samples)
}

func (f figure) met() bool {
	if f.atLeast {
		return f.median() >= f.limit
	}
	return f.limit == 0 || f.median() <= f.limit
}

func (f figure) row() string {
	target, verdict := "–", ""
	if f.limit != 0 {
		sign := "<"
		if f.atLeast {
			sign = "≥"
		}
		target, verdict = fmt.Sprintf("%s %g %s", sign, f.limit, f.unit), "met"
		if !f.met() {
			verdict = "**missed**"
		}
	}
	return fmt.Sprintf("| %s | %s | %.4g | %.4g | %s |", f.name, target, f.median(), f.best(), verdict)
}

// build makes the binary as a release is made.
func build(out string) error {
	root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("find the module (run this inside the repository): %w", err)
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out, "./cmd/lathe")
	cmd.Dir = strings.TrimSpace(string(root))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build lathe: %w", err)
	}
	return nil
}

func newBench(binary string, size int) (*bench, error) {
	dir, err := os.MkdirTemp("", "lathe-bench-*")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	b := &bench{dir: dir, binary: binary, transcript: size << 20}
	if b.binary == "" {
		b.binary = filepath.Join(dir, "lathe")
		if err := build(b.binary); err != nil {
			return nil, err
		}
	}
	if b.binary, err = filepath.Abs(b.binary); err != nil {
		return nil, err
	}
	return b, b.lay()
}
