package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"lathe/internal/fakeapi"
)

// bench is the place where the children run.
type bench struct {
	dir        string
	binary     string
	repo       string // a small git repository, the working directory of all children
	transcript int    // bytes
	big        string // session of the transcript, once it was written
}

// lay makes the home, and the repository with a few commits and the files that sessions read.
func (b *bench) lay() error {
	b.repo = filepath.Join(b.dir, "repo")
	for _, d := range []string{b.repo, filepath.Join(b.dir, "home")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(b.repo, "CLAUDE.md"), []byte("# Notes\n\nRun the tests with `go test ./...`.\n"), 0o644); err != nil {
		return err
	}
	for i := range passes {
		if err := os.WriteFile(b.file(i), source(i, fileSize(i)), 0o644); err != nil {
			return err
		}
		// Files as new as the index make git read them again each time.
		if err := os.Chtimes(b.file(i), time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			return err
		}
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "."},
		{"commit", "-q", "-m", "Begin"},
		{"commit", "-q", "--allow-empty", "-m", "Second"},
		{"commit", "-q", "--allow-empty", "-m", "Third"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = b.repo, b.env("")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

func (b *bench) file(i int) string { return filepath.Join(b.repo, fmt.Sprintf("file%02d.go", i)) }

// fileSize spreads sizes over 10 to 40 KB.
func fileSize(i int) int { return 10_000 + i*7919%30_000 }

// source is text that looks like code, of about size bytes.
func source(seed, size int) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "package p%d\n", seed)
	for n := 0; out.Len() < size; n++ {
		fmt.Fprintf(&out, "\nfunc f%d_%d(x int) (int, error) {\n\tif x < %d {\n\t\treturn 0, fmt.Errorf(\"%d is too small\")\n\t}\n\treturn x * %d, nil\n}\n", seed, n, n*seed, n, n+3)
	}
	return out.Bytes()
}

// env is the environment of a child: a home of its own, the fake API, and nothing of the user's settings.
func (b *bench) env(url string) []string {
	home := filepath.Join(b.dir, "home")
	var out []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "ANTHROPIC_") && !strings.HasPrefix(name, "CLAUDE") && !strings.HasPrefix(name, "LATHE_") && !strings.HasPrefix(name, "GIT_") {
			out = append(out, kv)
		}
	}
	return append(out, "HOME="+home, "GIT_CONFIG_GLOBAL="+filepath.Join(home, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Bench", "GIT_AUTHOR_EMAIL=bench@example.com", "GIT_COMMITTER_NAME=Bench", "GIT_COMMITTER_EMAIL=bench@example.com",
		"ANTHROPIC_API_KEY=bench", "ANTHROPIC_BASE_URL="+url)
}

// outcome is what one run of the child was like.
type outcome struct {
	start    time.Time // just before exec
	wall     time.Duration
	cpu      time.Duration // of the child and its own children
	peak     int           // highest PSS seen of the child and its tree, in bytes; only if it was asked for
	last     int           // the PSS seen last
	output   int64         // bytes on standard output
	requests []fakeapi.Request
	totals   fakeapi.Totals
}

// first is the time from exec to the first request.
func (o *outcome) first() time.Duration { return o.requests[0].Time.Sub(o.start) }

// between are the times from the end of each answer to the next request.
func (o *outcome) between() []float64 {
	var out []float64
	for i := 1; i < len(o.requests); i++ {
		last := o.requests[i-1]
		out = append(out, ms(o.requests[i].Time.Sub(last.Time.Add(last.Took))))
	}
	return out
}

// again is how many tokens were sent a second time and yet not read from the cache.
func (o *outcome) again() int {
	sum := 0
	for i := 1; i < len(o.requests); i++ {
		sum += max(0, o.requests[i-1].Usage.Prompt()-o.requests[i].Usage.Read)
	}
	return sum
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// spec is one run: the script, the arguments, more environment, and how often memory is looked at (0: never).
type spec struct {
	script *fakeapi.Script
	args   []string
	env    []string
	sample time.Duration
	forget bool // drop bodies of requests
}

// lathe runs the binary against a new fake API and fails when it fails or when a request broke a rule.
func (b *bench) lathe(s spec) (*outcome, error) {
	server, err := fakeapi.New(fakeapi.Options{Script: s.script, Forget: s.forget})
	if err != nil {
		return nil, err
	}
	if _, err := server.Start(); err != nil {
		return nil, err
	}
	defer server.Close()
	return b.against(server, "", s)
}

// against runs the binary against a server that runs already, with the script of that name.
func (b *bench) against(server *fakeapi.Server, name string, s spec) (*outcome, error) {
	url := server.URL()
	if name != "" {
		url = server.URLFor(name)
	}
	o := &outcome{}
	if err := b.child(o, s, url); err != nil {
		return nil, err
	}
	o.requests, o.totals = server.Calls(name), server.Totals(name)
	if v := server.Violations(); len(v) > 0 {
		return nil, fmt.Errorf("a request broke a rule: %s", v[0])
	}
	if len(o.requests) == 0 {
		return nil, fmt.Errorf("lathe %s made no request", strings.Join(s.args, " "))
	}
	return o, nil
}

func (b *bench) child(o *outcome, s spec, url string) error {
	runtime.GC()
	cmd := exec.Command(b.binary, s.args...)
	cmd.Dir, cmd.Env = b.repo, append(b.env(url), s.env...)
	var stderr bytes.Buffer
	out, err := cmd.StdoutPipe() // a pipe that is read, as a script would
	if err != nil {
		return err
	}
	cmd.Stderr = &stderr
	o.start = time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	watch := watchMemory(cmd.Process.Pid, s.sample)
	o.output, _ = io.Copy(io.Discard, out)
	err = cmd.Wait()
	o.wall = time.Since(o.start)
	o.peak, o.last = watch()
	o.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err != nil {
		return fmt.Errorf("lathe %s: %w: %s", strings.Join(s.args, " "), err, stderr.String())
	}
	return nil
}
