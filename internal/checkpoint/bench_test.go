package checkpoint_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkWatch is what a command costs in a repository of 10,000 files: everything before and after it.
func BenchmarkWatch(b *testing.B) {
	for _, repo := range []bool{true, false} {
		b.Run(fmt.Sprint("git=", repo), func(b *testing.B) {
			w := newWorld(b)
			for i := range 10_000 {
				w.outside(filepath.Join(fmt.Sprint("d", i/100), fmt.Sprint("f", i)), strings.Repeat(fmt.Sprintln(i), 100))
			}
			if repo {
				w.run("git init -q && git add -A && git commit -qm one")
				w.settle()
				w.run("git update-index -q --refresh; git status")
			}
			w.begin("p1")
			start := time.Now()
			first := w.store.Watch(context.Background(), "Bash", []string{w.dir})
			b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "first-ms")
			if err := first.End(context.Background()); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := w.store.Watch(context.Background(), "Bash", []string{w.dir}).End(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
