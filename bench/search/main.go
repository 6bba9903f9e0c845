// Command search compares the search of package search with ripgrep, in wall time, on a generated tree of 50,000
// files and on any other folders. See README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"lathe/internal/search"
)

type query struct {
	name    string
	pattern string
	fold    bool
	mode    search.Mode
}

// Names instead of text. We always give the newest first; ripgrep is asked for that in one of them.
const (
	modeGlob   search.Mode = -1
	modeNewest search.Mode = -2
)

func main() {
	rounds := flag.Int("rounds", 15, "measured runs of each")
	files := flag.Int("files", 50000, "files in the generated tree; 0 for none")
	profile := flag.String("cpuprofile", "", "write a profile of our own runs")
	only := flag.String("only", "", "run queries whose name holds this")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		check(err)
		check(pprof.StartCPUProfile(f))
		defer pprof.StopCPUProfile()
	}
	dirs := flag.Args()
	if *files > 0 {
		dir := filepath.Join(os.TempDir(), fmt.Sprintf("lathe-search-bench-%d", *files))
		if _, err := os.Stat(dir); err != nil {
			check(generate(dir, *files))
		}
		dirs = append([]string{dir}, dirs...)
	}
	for _, dir := range dirs {
		fmt.Printf("\n%s\n\n| query | ours ms | rg ms | ours/rg | ours CPU ms | rg CPU ms | same result |\n| --- | ---: | ---: | ---: | ---: | ---: | --- |\n", dir)
		for _, q := range queries() {
			if strings.Contains(q.name, *only) {
				compare(dir, q, *rounds)
			}
		}
	}
}

func queries() []query {
	return []query{
		{"literal, files", "ReadDeadline", false, search.ModeFiles},
		{"literal, content", "ReadDeadline", false, search.ModeContent},
		{"common literal, count", "return", false, search.ModeCount},
		{"regexp with literal", `func \w+Deadline\(`, false, search.ModeContent},
		{"regexp, literal in the middle", `[a-z]+Deadline[A-Z]?\w*\(`, false, search.ModeContent},
		{"ignore case", "readdeadline", true, search.ModeContent},
		{"ignore case, common letters", "interest", true, search.ModeContent},
		{"ignore case, k and s", "task", true, search.ModeFiles},
		{"alternatives", "ReadDeadline|WriteTimeout|errShort", false, search.ModeContent},
		{"no literal", `[A-Z]{6}[0-9]{2}`, false, search.ModeContent},
		{"no literal, digits", `[0-9]{4}-[0-9]{2}-[0-9]{2}`, false, search.ModeContent},
		{"no literal, dense", `[a-z]+[0-9]{5}`, false, search.ModeFiles},
		{"glob, unsorted in rg", "**/*_test.go", false, modeGlob},
		{"glob, newest first in both", "**/*_test.go", false, modeNewest},
		{"all files, unsorted in rg", "**", false, modeGlob},
		{"all files, newest first in both", "**", false, modeNewest},
	}
}

// compare prints one row: the medians of alternating runs.
func compare(dir string, q query, rounds int) {
	var ours, theirs, ourCPU, rgCPU []time.Duration
	var a, b int
	for range rounds {
		cpu, start := selfCPU(), time.Now()
		a = runOurs(dir, q)
		ours, ourCPU = append(ours, time.Since(start)), append(ourCPU, selfCPU()-cpu)
		start = time.Now()
		var used time.Duration
		b, used = runRipgrep(dir, q)
		theirs, rgCPU = append(theirs, time.Since(start)), append(rgCPU, used)
	}
	same := "yes"
	if a != b {
		same = fmt.Sprintf("%d, %d", a, b)
	}
	x, y := median(ours), median(theirs)
	fmt.Printf("| %s | %.1f | %.1f | %.2f | %.0f | %.0f | %s |\n", q.name, ms(x), ms(y), float64(x)/float64(y),
		ms(median(ourCPU)), ms(median(rgCPU)), same)
}

// runOurs returns the number of files or lines found.
func runOurs(dir string, q query) int {
	if q.mode < 0 {
		r, err := search.Glob(context.Background(), search.GlobOptions{Root: dir, Pattern: q.pattern, Keep: 100})
		check(err)
		return r.Total
	}
	m, err := search.Compile(search.Query{Pattern: q.pattern, IgnoreCase: q.fold})
	check(err)
	r, err := search.Grep(context.Background(), m, search.GrepOptions{Root: dir, Mode: q.mode, KeepLines: 250})
	check(err)
	n := len(r.Files)
	if q.mode != search.ModeFiles {
		n = 0
		for _, f := range r.Files {
			n += f.Matches
		}
	}
	return n
}

func runRipgrep(dir string, q query) (int, time.Duration) {
	args := []string{"--no-config", "--hidden", "--glob", "!.git"}
	switch q.mode {
	case search.ModeFiles:
		args = append(args, "-l")
	case search.ModeContent:
		args = append(args, "-n")
	case search.ModeCount:
		args = append(args, "-c")
	case modeNewest:
		args = append(args, "--files", "--sortr", "modified", "--no-ignore", "--glob", q.pattern, dir)
	default:
		args = append(args, "--files", "--no-ignore", "--glob", q.pattern, dir)
	}
	if q.fold {
		args = append(args, "-i")
	}
	if q.mode >= 0 {
		args = append(args, "-e", q.pattern, dir)
	}
	cmd := exec.Command("rg", args...)
	out, err := cmd.Output()
	if err != nil && len(out) > 0 {
		check(err)
	}
	n := strings.Count(string(out), "\n")
	if q.mode == search.ModeCount {
		n = 0
		for line := range strings.Lines(string(out)) {
			var k int
			_, err := fmt.Sscanf(line[strings.LastIndex(line, ":")+1:], "%d", &k)
			check(err)
			n += k
		}
	}
	return n, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// generate writes a repository of small and middle-sized source files, with ignored folders in it.
func generate(dir string, files int) error {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields(`return if err nil func string int context buffer reader writer close open path name value
		index count total result error handle request response timeout deadline connection server client message
		package import type struct interface range for switch case default break continue var const map make append
		interesting task Task READ write2024 HTTPServer ABCDEF12 parse format 2024-11-05 x1 y22 token12345`)
	for i := range files {
		sub := filepath.Join(dir, fmt.Sprintf("pkg%02d", i%40), fmt.Sprintf("mod%02d", i/40%25), []string{"src", "internal", "build", "cmd"}[i/1000%4])
		name := filepath.Join(sub, fmt.Sprintf("file_%d%s", i, []string{".go", ".ts", "_test.go", ".md", ".log"}[rnd.IntN(5)]))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return err
		}
		var b strings.Builder
		for range 20 + rnd.IntN(300) {
			b.WriteString(strings.Repeat("\t", rnd.IntN(4)))
			for range 1 + rnd.IntN(8) {
				b.WriteString(words[rnd.IntN(len(words))])
				b.WriteByte(" (.=_"[rnd.IntN(5)])
			}
			if rnd.IntN(20000) == 0 {
				b.WriteString("func SetReadDeadline(t)")
			}
			b.WriteByte('\n')
		}
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*.log\nbuild/\n/pkg01/\n!keep.log\n**/mod03/cmd\n"), 0o644)
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
