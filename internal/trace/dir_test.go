package trace_test

import (
	"strings"
	"testing"

	"lathe/internal/trace"
)

func TestTraceDir(t *testing.T) {
	if got := trace.Dir("/s/projects/p/1234.jsonl"); !strings.HasSuffix(strings.ReplaceAll(got, `\`, "/"), "/s/projects/p/1234/trace") {
		t.Errorf("trace in %s", got)
	}
}
