package inspect

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"lathe/internal/msg"
	"lathe/internal/trace"
)

// Build makes a session out of its trace and its transcript. What the trace has is taken from it; requests that were
// made without one are told as far as the transcript knows them.
func Build(in Input) *Session {
	s := &Session{ID: in.ID, Path: in.Path, Dir: in.Dir, Title: in.Title, Requests: in.requests()}
	for _, r := range s.Requests {
		r.Label = strconv.Itoa(r.N)
	}
	in.addAgents(s)
	in.addSide(s)
	s.Order = []string{}
	for _, r := range s.All() {
		s.Order = append(s.Order, r.Label)
	}
	in.sum(s)
	in.note(s)
	return s
}

// requests makes the requests of one conversation, in order.
func (in Input) requests() []*Request {
	var out []*Request
	known := map[string]bool{}
	if in.Trace != nil {
		out = in.traced()
		for _, r := range out {
			for _, c := range r.Calls {
				known[c.APIID] = true
			}
		}
	}
	for _, r := range in.untraced() {
		if !known[r.APIID] {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b *Request) int { return a.At.Compare(b.At) })
	for _, r := range out {
		r.fit()
	}
	in.compare(out)
	in.compactions(out)
	return out
}

// compare numbers the requests of a conversation, and compares each with the one before.
func (in Input) compare(list []*Request) {
	var last *Request // the last that was answered
	var read *Request // the last whose body was read, which may be asked for again
	var kept Sent
	sent := func(r *Request) Sent {
		if r != read {
			read, kept = r, in.sent(r)
		}
		return kept
	}
	for i, r := range list {
		r.N = i + 1
		if r.Usage.Prompt() == 0 {
			continue
		}
		if last != nil && in.Explain != nil && in.Missed(last.Usage, r.Usage) {
			prev, next := last, r
			r.Miss = in.Explain(func() Sent { return sent(prev) }, func() Sent { return sent(next) })
		}
		if last != nil && last.Traced && r.Traced {
			d := change(trace.Sent, last.call.After.Items[trace.Sent], r.call.After.Items[trace.Sent])
			r.Diff = &d
		}
		last = r
	}
}

// compactions marks the requests before which the conversation was compacted.
func (in Input) compactions(list []*Request) {
	for _, m := range in.Messages {
		if m.Kind != msg.KindSystem || m.Subtype != msg.SubCompactBoundary {
			continue
		}
		if i := slices.IndexFunc(list, func(r *Request) bool { return r.At.After(m.Time) }); i > 0 {
			list[i].Compacted = true
		}
	}
}

// sent gathers what the explanation of a miss looks at.
func (in Input) sent(r *Request) Sent {
	out := Sent{At: r.At, Model: r.Model, Usage: r.Usage}
	if !r.Traced {
		return out
	}
	out.Body, _, _ = in.Trace.Body(r.call)
	for _, rec := range r.records {
		if rec.Stage == "normalize" {
			all := rec.After.Items[trace.Messages]
			out.Messages, out.Summary = names(all), slices.ContainsFunc(all[:min(2, len(all))], func(r trace.Ref) bool { return r.Source == "compact" })
			out.View = names(rec.After.Items[trace.Seen])
			out.Request = names(rec.After.Items[trace.Request])
		}
	}
	return out
}

func names(list []trace.Ref) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.ID + " " + r.Hash
	}
	return out
}

// traced makes the requests that the trace has. What ran before the first pass of a turn belongs to its first
// request, what ran after the last to its last.
func (in Input) traced() []*Request {
	type key struct {
		run, turn string
		step      int
	}
	var out []*Request
	at := map[key]*Request{}
	var before []trace.Record // of a turn whose first pass is still to come
	for _, rec := range in.Trace.Records {
		if rec.Stage == trace.SideStage {
			continue
		}
		if rec.Step == 0 {
			before = append(before, rec)
			continue
		}
		k := key{rec.Run, rec.Turn, rec.Step}
		r := at[k]
		if r == nil {
			r = &Request{Turn: rec.Turn, Step: rec.Step, At: rec.Start, Traced: true, trace: in.Trace}
			for _, b := range before {
				if b.Turn == rec.Turn && b.Run == rec.Run {
					r.records = append(r.records, b)
				}
			}
			before = nil
			at[k] = r
			out = append(out, r)
		}
		r.records = append(r.records, rec)
	}
	out = slices.DeleteFunc(out, func(r *Request) bool { return !in.describe(r) })
	return out
}

// describe fills in a request from its records. It reports whether a call was made.
func (in Input) describe(r *Request) bool {
	for _, rec := range r.records {
		switch {
		case rec.Call != nil:
			in.addCall(r, rec)
		case rec.Tool != nil:
			r.Tools = append(r.Tools, Tool{Tool: *rec.Tool, Dur: rec.Dur, Err: rec.Err})
		case rec.Parent == "":
			r.Stages = append(r.Stages, stageOf(rec))
			if rec.Stage == "compact" || rec.Stage == "prompt" {
				r.Shares = shares(rec.After)
			}
			if rec.Stage == "input" {
				r.Prompt = in.promptOf(rec)
			}
		}
	}
	return len(r.Calls) > 0
}

func (in Input) addCall(r *Request, rec trace.Record) {
	c := rec.Call
	r.Calls = append(r.Calls, Call{Call: *c, At: rec.Start, Dur: rec.Dur, Err: rec.Err})
	r.At, r.Dur, r.Model, r.Bytes, r.Stop, r.Fail, r.call = rec.Start, rec.Dur, c.Model, c.Bytes, c.Stop, c.Failure, rec
	if c.APIID != "" {
		r.APIID = c.APIID
	}
	if c.Usage != nil {
		r.Usage, r.Cost = r.Usage.Add(*c.Usage), r.Cost+c.Cost
	}
}

// promptOf is the first line of what the person asked.
func (in Input) promptOf(rec trace.Record) string {
	after := rec.After.Items[trace.Messages]
	for _, ref := range after[min(len(after), len(rec.Before.Items[trace.Messages])):] {
		if ref.Kind == string(msg.KindUser) {
			return short(textOf(in.Trace.Blob(ref.Hash)))
		}
	}
	return ""
}

func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return s
}

// shares sums up what fills the context by where it comes from.
func shares(v trace.View) []Share {
	sum := map[string]Share{}
	add := func(name string, r trace.Ref) {
		s := sum[name]
		sum[name] = Share{name, s.Tokens + r.Tokens, s.Bytes + r.Bytes}
	}
	for _, r := range v.Items[trace.System] {
		add("system prompt", r)
	}
	for _, r := range v.Items[trace.Tools] {
		add("tools", r)
	}
	for _, r := range v.Items[trace.Seen] {
		if r.Tokens > 0 {
			add(nameOf(r.Kind, r.Source), r)
		}
	}
	return ordered(sum)
}

func nameOf(kind, source string) string {
	switch {
	case kind == string(msg.KindAttachment):
		return "context: " + source
	case kind == "result":
		return "tool results"
	case kind == string(msg.KindUser):
		return "user"
	case kind == string(msg.KindAssistant):
		return "answers"
	}
	return kind
}

// ordered sorts shares: what stands first in a request, then context by name, then the conversation.
func ordered(sum map[string]Share) []Share {
	rank := func(name string) int {
		if strings.HasPrefix(name, "context: ") {
			return 2
		}
		if i := slices.Index([]string{"system prompt", "tools", "", "summary", "user", "answers", "tool results"}, name); i >= 0 {
			return i
		}
		return 9
	}
	out := make([]Share, 0, len(sum))
	for _, s := range sum {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Share) int {
		return cmp.Or(cmp.Compare(rank(a.Name), rank(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// untraced makes the requests that the transcript tells of: one for each answer.
func (in Input) untraced() []*Request {
	var out []*Request
	sum := map[string]Share{}
	prompt, by := "", map[string]*Request{}
	for _, m := range in.Messages {
		if m.Kind == msg.KindSystem && m.Subtype == msg.SubCompactBoundary {
			clear(sum)
		}
		if m.Kind == msg.KindAssistant && m.APIID != "" && m.Usage != nil && m.APIError == "" {
			r := by[m.APIID]
			if r == nil {
				r = &Request{At: m.Time, Model: m.Model, APIID: m.APIID, Prompt: prompt, Shares: ordered(sum)}
				by[m.APIID], prompt = r, ""
				out = append(out, r)
			}
			r.Usage, r.Cost = *m.Usage, in.Cost(m.Model, *m.Usage)
			if m.StopReason != "" {
				r.Stop = m.StopReason
			}
		}
		kind := string(m.Kind)
		if m.Kind == msg.KindUser && m.SourceAssistant != "" {
			kind = "result"
		} else if m.Kind == msg.KindUser && !m.Meta {
			prompt = short(m.Text())
		}
		if m.ForModel() && m.APIError == "" {
			name := nameOf(kind, m.Source)
			s := sum[name]
			sum[name] = Share{name, s.Tokens + in.Count(m.Model, m), s.Bytes + len(msg.AppendBlocks(nil, m.Blocks))}
		}
	}
	return out
}
