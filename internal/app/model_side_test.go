package app

import (
	"strings"
	"testing"
	"time"

	"lathe/internal/msg"
	"lathe/internal/provider"
	"lathe/internal/trace"
)

// The trace keeps what was asked on the side, unless that is as large as a conversation; it is told of in either case.
func TestTraceOfSideCalls(t *testing.T) {
	r := testRun(t, Options{Trace: true})
	for _, n := range []int{10, sideBody} {
		r.traceSide(&provider.Request{Model: "m", System: []msg.Block{msg.Text(strings.Repeat("x", n))}}, trace.Call{Purpose: "title"}, time.Second)
	}
	if failed := r.trace.Swap(nil).Close(); failed > 0 {
		t.Errorf("%d pieces could not be written", failed)
	}
	read, err := trace.Read(trace.Dir(r.conv.Log.Path()))
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	var kept []bool
	for _, rec := range read.Records {
		if rec.Stage == trace.SideStage {
			kept = append(kept, rec.Call.Head != "")
			if rec.Call.Bytes == 0 || rec.Call.Body == "" || rec.Call.Model != "m" {
				t.Errorf("%+v", rec.Call)
			}
		}
	}
	if len(kept) != 2 || !kept[0] || kept[1] {
		t.Errorf("bodies kept: %v", kept)
	}
}
