package app

import (
	"strings"
	"testing"
)

func TestTraceDir(t *testing.T) {
	if got := traceDir("/s/projects/p/1234.jsonl"); !strings.HasSuffix(strings.ReplaceAll(got, `\`, "/"), "/s/projects/p/1234/trace") {
		t.Errorf("trace in %s", got)
	}
}
