package turn

import (
	"context"
	"strings"
	"testing"
	"time"

	"lathe/internal/msg"
	"lathe/internal/redact"
	"lathe/internal/trace"
)

// passes is a session whose every pass adds a call and a result of 25 KB, in the shape of the real pipeline's table.
func passes(t *Turn, work func()) []Stage {
	row := func(name string, run func(t *Turn), writes ...string) Stage {
		return Stage{Name: name, When: EachStep, Writes: writes, Run: func(_ context.Context, t *Turn) error { run(t); return nil }}
	}
	add := func(t *Turn, kind msg.Kind, text string) {
		t.Messages = append(t.Messages, msg.Message{ID: "n" + time.Now().String(), Kind: kind, Blocks: []msg.Block{msg.Text(text)}})
	}
	n := 0
	return []Stage{
		row("attach", func(*Turn) {}, "Messages"),
		row("prompt", func(*Turn) {}, "System", "Static", "Tools"),
		row("compact", func(t *Turn) { t.View = t.Messages }, "View"),
		row("normalize", func(t *Turn) { t.Request = requestOf(t) }, "Request"),
		row("model", func(t *Turn) {
			work()
			if x := t.Tracer(); x != nil {
				x.Call(t, t.Request, time.Now(), time.Second, trace.Call{Attempt: 1, Body: "sum", Usage: &msg.Usage{}})
			}
			add(t, msg.KindAssistant, "I look at the next file.")
		}, "Messages", "Request", "Reply", "Model", "Usage", "APIDur", "TTFT"),
		row("tools", func(t *Turn) {
			text := time.Now().String() + strings.Repeat("func f(x int) int { return x + 1 } // why\n", 25_000/42)
			if x := t.Tracer(); x != nil {
				x.Sub(t, trace.Record{Stage: "call", Parent: "tools", Tool: &trace.Tool{ID: "id", Bytes: len(text)}})
			}
			add(t, msg.KindUser, text)
			if n++; n == 60 {
				t.Done = true
			}
		}, "Messages", "Denials", "Structured", "Text", "Done"),
	}
}

func benchmark(b *testing.B, on bool) {
	secrets := redact.New(true)
	secrets.Add("API_KEY", "sk-ant-0123456789abcdef")
	for b.Loop() {
		b.StopTimer()
		t := session(3, 1000)
		r := Runner{Stages: passes(t, func() {}), Now: time.Now}
		var f *trace.File
		if on {
			var err error
			if f, err = trace.Open(b.TempDir()); err != nil {
				b.Fatal(err)
			}
			f.Clean = secrets.JSON
			r.Trace = NewTracer(f)
		}
		b.StartTimer()
		if err := r.Run(context.Background(), t); err != nil {
			b.Fatal(err)
		}
		if f != nil && f.Close() > 0 {
			b.Fatal("pieces could not be written")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/60, "µs/pass")
}

// What the stages' table costs by itself, 60 passes with results of 25 KB.
func BenchmarkPassesOff(b *testing.B) { benchmark(b, false) }

// The same with a trace: the difference is what recording costs.
func BenchmarkPassesOn(b *testing.B) { benchmark(b, true) }

// What the runner costs a pass of stages that do nothing, while nothing is recorded: less than this is the branch.
func BenchmarkRunnerOff(b *testing.B) {
	n := 0
	stages := make([]Stage, 0, 6)
	for range 6 {
		stages = append(stages, Stage{When: EachStep, Run: func(context.Context, *Turn) error { return nil }})
	}
	stages = append(stages, Stage{When: EachStep, Run: func(_ context.Context, t *Turn) error { n++; t.Done = n >= b.N; return nil }})
	t := session(3, 1000)
	r := Runner{Stages: stages, Now: time.Now}
	if err := r.Run(context.Background(), t); err != nil {
		b.Fatal(err)
	}
}
