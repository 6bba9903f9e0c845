//go:build unix

package bash

import (
	"context"
	"testing"

	"lathe/internal/tool"
)

// BenchmarkTrue is the cost of one command that does nothing.
func BenchmarkTrue(b *testing.B) {
	r := newRig(b)
	tl, _ := r.tools.Get("Bash")
	for b.Loop() {
		plan, err := tl.Plan(context.Background(), tool.Call{ID: "1", Input: []byte(`{"command":"true"}`)})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := plan.Run(context.Background(), nil); err != nil {
			b.Fatal(err)
		}
	}
}
