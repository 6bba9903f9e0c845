package turn

import (
	"encoding/json"

	"lathe/internal/msg"
	"lathe/internal/trace"
)

// viewOf describes the turn for the trace: small fields by value, content by hash.
func viewOf(t *Turn, rec trace.Recorder) trace.View {
	v := trace.View{
		Fields: map[string]any{"model": t.Model, "step": t.Step, "done": t.Done, "usage": t.Usage},
		Items: map[string][]trace.Ref{
			"messages": messageRefs(t.Messages, rec),
			"view":     messageRefs(t.View, rec),
			"system":   blockRefs(t.System, rec),
		},
	}
	for _, d := range t.Tools {
		b, _ := json.Marshal(d)
		v.Items["tools"] = append(v.Items["tools"], trace.Ref{ID: d.Name, Kind: "tool", Hash: rec.Blob(b), Bytes: len(b)})
	}
	if t.Request != nil {
		for _, m := range t.Request.Messages {
			b := msg.AppendBlocks(nil, m.Content)
			v.Items["request"] = append(v.Items["request"], trace.Ref{Kind: string(m.Role), Hash: rec.Blob(b), Bytes: len(b)})
		}
	}
	return v
}

func messageRefs(ms []msg.Message, rec trace.Recorder) []trace.Ref {
	out := make([]trace.Ref, 0, len(ms))
	for _, m := range ms {
		b := msg.AppendBlocks(nil, m.Blocks)
		out = append(out, trace.Ref{ID: m.ID, Kind: string(m.Kind), Hash: rec.Blob(b), Bytes: len(b)})
	}
	return out
}

func blockRefs(bs []msg.Block, rec trace.Recorder) []trace.Ref {
	out := make([]trace.Ref, 0, len(bs))
	for _, b := range bs {
		enc := msg.AppendBlock(nil, b, nil)
		out = append(out, trace.Ref{Kind: b.Type, Hash: rec.Blob(enc), Bytes: len(enc)})
	}
	return out
}
