package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"lathe/internal/fakeapi"
	"lathe/internal/price"
)

const (
	passes = 60    // of the long session
	deltas = 20000 // of the long stream
	steps  = 20    // of the session whose cache is counted
)

func scenarios() []scenario {
	return []scenario{
		{"start", []figure{
			{name: "exec to first request, small git repository", unit: "ms", limit: 60},
			{name: "… the same without the git snapshot", unit: "ms"},
			{name: "… `lathe --version`, exec to exit", unit: "ms"},
			{name: "… our own work: without git, less what `--version` takes", unit: "ms", limit: 15},
			{name: "CPU time of a whole greeting, git included", unit: "ms"},
			{name: "first request with all tools", unit: "tokens", limit: 3500},
		}, start},
		{"memory", []figure{{name: "memory of a greeting, peak PSS of the tree", unit: "MB", limit: 25}}, greeting},
		{"session", []figure{
			{name: fmt.Sprintf("memory of %d passes with results of 10 to 40 KB, peak PSS", passes), unit: "MB", limit: 40},
			{name: "… between steps in it: end of answer to next request", unit: "ms", limit: 5},
			{name: "… CPU time of a step", unit: "ms"},
		}, session},
		{"trace", []figure{
			{name: fmt.Sprintf("%d passes with a trace: CPU time of a step", passes), unit: "ms"},
			{name: "… without one, measured beside it", unit: "ms"},
			{name: "… between steps with a trace", unit: "ms"},
			{name: "… without one", unit: "ms"},
		}, tracing},
		{"steps", []figure{
			{name: fmt.Sprintf("between steps, session of %d steps: end of answer to next request", steps), unit: "ms", limit: 5},
		}, stepping},
		{"cache", []figure{
			{name: fmt.Sprintf("cache hit ratio over %d steps, short results, second session within 5 minutes", steps), unit: "%", limit: 96, atLeast: true},
			{name: "… first session, with a cold cache", unit: "%"},
			{name: "… the same with results of 10 to 40 KB", unit: "%"},
			{name: "… tokens sent again that were not read from the cache, all three", unit: "tokens"},
			{name: "… cost of the first session with short results, at the default model's prices", unit: "$"},
		}, caching},
		{"deltas", []figure{
			{name: "20,000 deltas, exec to exit, text", unit: "ms", limit: 250},
			{name: "… stream-json", unit: "ms", limit: 250},
			{name: "… stream-json with partial messages", unit: "ms", limit: 250},
			{name: "… the same as the input of a Write that is denied", unit: "ms", limit: 250},
			{name: "… a bare reader of the same stream, for comparison", unit: "ms"},
		}, streaming},
		{"resume", []figure{
			{name: "resume of a 100 MB transcript, exec to first request", unit: "ms", limit: 400},
			{name: "… CPU time of the whole run", unit: "ms"},
			{name: "… memory while it waits for the answer, PSS", unit: "MB"},
		}, resume},
		{"binary", []figure{
			{name: "binary, stripped", unit: "MB", limit: 35},
			{name: "allocations before main", unit: "", limit: 8000},
			{name: "… bytes of them", unit: "KB", limit: 1500},
		}, binary},
	}
}

func start(b *bench) ([]float64, error) {
	hello := &fakeapi.Script{Default: &fakeapi.Answer{Text: "Hello."}}
	with, err := b.lathe(spec{script: hello, args: []string{"-p", "Say hello."}})
	if err != nil {
		return nil, err
	}
	// Our own work is a difference of two short times, so the better of a few is taken for both.
	var without, version time.Duration
	for i := range 3 {
		o, err := b.lathe(spec{script: hello, args: []string{"-p", "Say hello."}, env: []string{"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS=1"}})
		if err != nil {
			return nil, err
		}
		var v outcome
		if err := b.child(&v, spec{args: []string{"--version"}}, ""); err != nil {
			return nil, err
		}
		if i == 0 || o.first() < without {
			without = o.first()
		}
		if i == 0 || v.wall < version {
			version = v.wall
		}
	}
	return []float64{
		ms(with.first()), ms(without), ms(version), ms(without - version), ms(with.cpu), float64(len(with.requests[0].Body)) / 4,
	}, nil
}

func greeting(b *bench) ([]float64, error) {
	// The pause keeps the program alive long enough to be looked at while it waits for the answer.
	hello := &fakeapi.Script{Default: &fakeapi.Answer{Text: "Hello.", EventDelay: fakeapi.Duration(5 * time.Millisecond)}}
	o, err := b.lathe(spec{script: hello, args: []string{"-p", "Say hello."}, sample: 2 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	return []float64{float64(o.peak) / 1e6}, nil
}

// reading is a session that reads the files one after the other, limit lines of each (0: all).
func (b *bench) reading(n, limit int) *fakeapi.Script {
	var answers []fakeapi.Answer
	for i := range n {
		input := map[string]any{"file_path": b.file(i % passes)}
		if limit > 0 {
			input["limit"] = limit
		}
		answers = append(answers, fakeapi.Answer{Blocks: []fakeapi.Block{{Text: "Next I read a file."}, fakeapi.Call("Read", input)}})
	}
	return fakeapi.Sequence(append(answers, fakeapi.Text("Done."))...)
}

func session(b *bench) ([]float64, error) {
	o, err := b.lathe(spec{script: b.reading(passes, 0), args: []string{"-p", "Read the files."}, sample: 10 * time.Millisecond, forget: true})
	if err != nil {
		return nil, err
	}
	return []float64{float64(o.peak) / 1e6, middle(o.between()), ms(o.cpu) / passes}, nil
}

// tracing runs the same session with a trace and without.
func tracing(b *bench) ([]float64, error) {
	run := func(args ...string) (*outcome, error) {
		return b.lathe(spec{script: b.reading(passes, 0), args: append([]string{"-p", "Read the files."}, args...), forget: true})
	}
	on, err := run("--trace")
	if err != nil {
		return nil, err
	}
	off, err := run()
	if err != nil {
		return nil, err
	}
	return []float64{ms(on.cpu) / passes, ms(off.cpu) / passes, middle(on.between()), middle(off.between())}, nil
}

func stepping(b *bench) ([]float64, error) {
	o, err := b.lathe(spec{script: b.reading(steps, 0), args: []string{"-p", "Read the files."}})
	if err != nil {
		return nil, err
	}
	return []float64{middle(o.between())}, nil
}

func caching(b *bench) ([]float64, error) {
	server, err := fakeapi.New(fakeapi.Options{})
	if err != nil {
		return nil, err
	}
	if _, err := server.Start(); err != nil {
		return nil, err
	}
	defer server.Close()
	long, err := b.lathe(spec{script: b.reading(steps, 0), args: []string{"-p", "Read the files."}})
	if err != nil {
		return nil, err
	}
	var ratios []float64
	again, cost := long.again(), 0.0
	for i, name := range []string{"first", "second"} { // the server's cache is common to both
		if err := server.AddScript(name, b.reading(steps, 10)); err != nil {
			return nil, err
		}
		o, err := b.against(server, name, spec{args: []string{"-p", "Look at the files, " + name + " time."}})
		if err != nil {
			return nil, err
		}
		ratios = append(ratios, 100*o.totals.HitRatio())
		again += o.again()
		if i == 0 {
			info := price.Default().Info("claude-opus-5-5")
			cost = o.totals.Cost(info.Price.Input, info.Price.Output)
		}
	}
	return []float64{ratios[1], ratios[0], 100 * long.totals.HitRatio(), float64(again), cost}, nil
}

// middle is the median.
func middle(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

func streaming(b *bench) ([]float64, error) {
	var text []string
	for i := range deltas {
		text = append(text, "word"+strconv.Itoa(i)+" ")
	}
	input := append([]string{`{"file_path":"story.txt","content":"`}, text...)
	streamed := []string{"-p", "Tell a story.", "--output-format", "stream-json", "--verbose"}
	partial := append(slices.Clone(streamed), "--include-partial-messages")
	var out []float64
	var bare time.Duration
	for _, run := range []struct {
		block fakeapi.Block
		args  []string
	}{
		{fakeapi.Block{Chunks: text}, []string{"-p", "Tell a story."}},
		{fakeapi.Block{Chunks: text}, streamed},
		{fakeapi.Block{Chunks: text}, partial},
		{fakeapi.Block{Tool: "Write", Chunks: append(input, `"}`)}, partial},
	} {
		url, stop, err := serveStream(run.block)
		if err != nil {
			return nil, err
		}
		var o outcome
		if err = b.child(&o, spec{args: run.args}, url); err == nil {
			bare, err = readStream(url)
		}
		stop()
		if err != nil {
			return nil, err
		}
		if o.output < 5*deltas {
			return nil, fmt.Errorf("only %d bytes of the stream came out", o.output)
		}
		out = append(out, ms(o.wall))
	}
	return append(out, ms(bare)), nil
}

func resume(b *bench) ([]float64, error) {
	if err := b.writeTranscript(); err != nil {
		return nil, err
	}
	args := []string{"-p", "Go on.", "--resume", b.big}
	o, err := b.lathe(spec{script: &fakeapi.Script{Default: &fakeapi.Answer{Text: "Yes."}}, args: args})
	if err != nil {
		return nil, err
	}
	// A second run is watched, since looking at so much memory takes time itself.
	slow := &fakeapi.Script{Default: &fakeapi.Answer{Text: "Yes.", Delay: fakeapi.Duration(100 * time.Millisecond)}}
	watched, err := b.lathe(spec{script: slow, args: args, sample: 20 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	return []float64{ms(o.first()), ms(o.cpu), float64(watched.last) / 1e6}, nil
}

// initLine is a line of GODEBUG=inittrace=1.
var initLine = regexp.MustCompile(`^init (\S+) @.* (\d+) bytes, (\d+) allocs$`)

func binary(b *bench) ([]float64, error) {
	info, err := os.Stat(b.binary)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(b.binary, "--version")
	cmd.Env = append(b.env(""), "GODEBUG=inittrace=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	allocs, size := 0, 0
	for lines := bufio.NewScanner(&stderr); lines.Scan(); {
		if m := initLine.FindStringSubmatch(lines.Text()); m != nil {
			a, _ := strconv.Atoi(m[3])
			s, _ := strconv.Atoi(m[2])
			allocs, size = allocs+a, size+s
		}
	}
	return []float64{float64(info.Size()) / 1e6, float64(allocs), float64(size) / 1e3}, nil
}

// machine names what the figures were taken on, without naming whose it is.
func machine() string {
	cpu := "unknown CPU"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(text), "model name\t: "); ok {
			cpu, _, _ = strings.Cut(rest, "\n")
		}
	}
	return fmt.Sprintf("%s/%s, %d cores of %s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), cpu, runtime.Version())
}
