// Command compact prints the table of compaction policies: what a session costs with each step always on, with none,
// and with those that the planner takes. Sessions run through the real pipeline against the fake API, whose simulation
// of the prompt cache counts the tokens; prices are those of the table.
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe/bench/compact/sim"
	"lathe/internal/fakeapi"
	"lathe/internal/pipeline/compact"
)

// scenario is one kind of session.
type scenario struct {
	name   string
	model  string
	passes int
	turn   int // passes of one turn
	window int
	pause  time.Duration // the longest between two turns
	reread float64       // share of reads that read a file again
}

type policy struct {
	name string
	cfg  compact.Config
}

func main() {
	only := flag.String("only", "", "scenarios whose name holds this text")
	seeds := flag.Int("seeds", 3, "sessions of each kind")
	flag.Parse()
	if err := run(*only, *seeds); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(only string, seeds int) error {
	steps := []string{"snip", "microcompact", "collapse"}
	policies := []policy{
		{"planned", compact.Config{Auto: true}},
		{"planned, cache of 5 minutes always", compact.Config{Auto: true, Lifetime: 5 * time.Minute}},
		{"planned, cache of an hour always", compact.Config{Auto: true, Lifetime: time.Hour}},
		{"none but a summary when the window forces it", compact.Config{Auto: true, Off: steps, Lifetime: 5 * time.Minute}},
	}
	for i, s := range steps {
		others := slices.Delete(slices.Clone(steps), i, i+1)
		policies = append(policies, policy{s + " always", compact.Config{Auto: true, Always: []string{s}, Off: others, Lifetime: 5 * time.Minute}})
	}
	scenarios := []scenario{
		{"60 passes, 200k window, pauses", "claude-opus-5-5", 60, 10, 200_000, 12 * time.Minute, 0.3},
		{"60 passes, 200k window, one turn", "claude-opus-5-5", 60, 60, 200_000, 0, 0.3},
		{"200 passes, 1M window, one turn", "claude-opus-5-5", 200, 200, 1_000_000, 0, 0.3},
		{"200 passes, 1M window, pauses", "claude-opus-5-5", 200, 20, 1_000_000, 12 * time.Minute, 0.3},
		{"200 passes, 1M window, short pauses", "claude-opus-5-5", 200, 20, 1_000_000, 4 * time.Minute, 0.3},
	}
	for _, sc := range scenarios {
		if !strings.Contains(sc.name, only) {
			continue
		}
		fmt.Printf("%s (results of 10 to 40 KB, %s)\n\n| policy | cost $ | of planned | input read from the cache | requests | summaries | edits | tokens of the last request |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n", sc.name, sc.model)
		base := 0.0
		for _, p := range policies {
			var sum outcome
			for seed := range seeds {
				o, err := sc.play(p.cfg, uint64(seed))
				if err != nil {
					return fmt.Errorf("%s, %s: %w", sc.name, p.name, err)
				}
				sum.add(o)
			}
			if base == 0 {
				base = sum.cost
			}
			fmt.Printf("| %s | %.2f | %.0f %% | %.1f %% | %d | %d | %d | %d |\n", p.name, sum.cost/float64(seeds), 100*sum.cost/base,
				100*sum.read/max(sum.prompt, 1), sum.calls/seeds, sum.summaries/seeds, sum.edits/seeds, sum.last/seeds)
		}
		fmt.Println()
	}
	return nil
}

type outcome struct {
	cost, read, prompt            float64
	calls, summaries, edits, last int
}

func (o *outcome) add(p outcome) {
	o.cost += p.cost
	o.read += p.read
	o.prompt += p.prompt
	o.calls += p.calls
	o.summaries += p.summaries
	o.edits += p.edits
	o.last += p.last
}

// play runs one session.
func (sc scenario) play(cfg compact.Config, seed uint64) (outcome, error) {
	dir, err := os.MkdirTemp("", "lathe-compact-*")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(dir)
	clock := sim.NewClock()
	server, err := fakeapi.New(fakeapi.Options{Now: clock.Now, Forget: true})
	if err != nil {
		return outcome{}, err
	}
	defer server.Close()
	r := rand.New(rand.NewPCG(seed, 7))
	brain := &sim.Brain{Answers: sc.answers(r), Summary: strings.Repeat("What was done, and what is next, in some detail. ", 160)}
	if err := server.AddScript("key", brain.Script()); err != nil {
		return outcome{}, err
	}
	url, err := server.Start()
	if err != nil {
		return outcome{}, err
	}
	s := &sim.Session{
		Dir: filepath.Join(dir, "state"), Work: dir, URL: url, Key: "key", Model: sc.model, Window: sc.window, Config: cfg, Clock: clock,
		Size: func(r *rand.Rand) int { return 10_000 + r.IntN(30_000) },
	}
	if err := s.Open(); err != nil {
		return outcome{}, err
	}
	for i := 0; i < sc.passes/sc.turn; i++ {
		res, err := s.Prompt(context.Background(), fmt.Sprintf("Do part %d of the work, please.", i), 0)
		if err != nil {
			return outcome{}, err
		}
		if res.IsError {
			return outcome{}, fmt.Errorf("turn %d: %s %v", i, res.Text, res.Errors)
		}
		if sc.pause > 0 {
			clock.Add(time.Duration(r.Int64N(int64(sc.pause))))
		}
	}
	if v := server.Violations(); len(v) > 0 {
		return outcome{}, fmt.Errorf("the API refused a request: %v", v[0])
	}
	return sc.count(s, server)
}

func (sc scenario) count(s *sim.Session, server *fakeapi.Server) (outcome, error) {
	o := outcome{cost: s.Cost}
	for _, q := range server.Calls("key") {
		o.calls++
		o.read += float64(q.Usage.Read)
		o.prompt += float64(q.Usage.Prompt())
		o.last = q.Tokens
	}
	kept, err := os.ReadFile(s.Path())
	if err != nil {
		return o, err
	}
	o.summaries = strings.Count(string(kept), `"trigger":"auto"`)
	o.edits = strings.Count(string(kept), `"subtype":"context_edit"`)
	return o, s.Leave()
}

// answers is what the model does: reads, of new files and of some again, commands and edits; a text at each turn's end.
func (sc scenario) answers(r *rand.Rand) []fakeapi.Answer {
	var out []fakeapi.Answer
	var files []string
	for i := range sc.passes {
		think := fakeapi.Block{Thinking: strings.Repeat("I look at what this does. ", 8)}
		if i%sc.turn == sc.turn-1 {
			out = append(out, fakeapi.Answer{Blocks: []fakeapi.Block{think, {Text: "This part is done. " + strings.Repeat("It works. ", 40)}}})
			continue
		}
		switch n := r.IntN(10); {
		case n < 6:
			file := fmt.Sprintf("/work/src/file%d.go", i)
			if len(files) > 0 && r.Float64() < sc.reread {
				file = files[r.IntN(len(files))]
			}
			files = append(files, file)
			out = append(out, fakeapi.Answer{Blocks: []fakeapi.Block{think, fakeapi.Call("Read", map[string]any{"file_path": file})}})
		case n < 8:
			out = append(out, fakeapi.Answer{Blocks: []fakeapi.Block{think, fakeapi.Call("Bash", map[string]any{"command": "go test ./..."})}})
		default:
			file := "/work/src/new.go"
			if len(files) > 0 {
				file = files[r.IntN(len(files))]
			}
			out = append(out, fakeapi.Answer{Blocks: []fakeapi.Block{think, fakeapi.Call("Edit", map[string]any{"file_path": file})}})
		}
	}
	return out
}
