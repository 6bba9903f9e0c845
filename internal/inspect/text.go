package inspect

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Text writes the session's requests as a table.
func (s *Session) Text(w io.Writer) {
	fmt.Fprintf(w, "session   %s\n", s.ID)
	if s.Title != "" {
		fmt.Fprintf(w, "title     %s\n", s.Title)
	}
	calls := 0
	for _, p := range s.Parts {
		calls += p.Calls
	}
	fmt.Fprintf(w, "requests  %d, $%.4f, %.1f %% of the prompts' tokens read from the cache\n", calls, s.Cost, 100*s.Hit)
	s.partsText(w)
	if s.Lost > 0 {
		fmt.Fprintf(w, "missed    %d tokens, about $%.4f\n", s.Lost, s.LostCost)
	}
	for _, n := range s.Notes {
		fmt.Fprintf(w, "note      %s\n", n)
	}
	fmt.Fprintf(w, "\n%-8s %-8s  %-24s %9s %7s %7s %9s  %s\n", "#", "time", "model", "prompt", "cached", "output", "cost", "stop")
	headed := map[string]bool{}
	for _, r := range s.All() {
		if key := fmt.Sprint(r.Agent, " ", r.By); r.Agent > 0 && r.For == "" && !headed[key] {
			headed[key] = true
			a := s.Agents[r.Agent-1]
			fmt.Fprintf(w, "%s↳ a%d %s\n", strings.Repeat("  ", a.Depth), a.N, a.heading(r))
		}
		s.row(w, r)
	}
}

// partsText says what the session came to, part by part, where there is more than the conversation.
func (s *Session) partsText(w io.Writer) {
	if len(s.Parts) < 2 {
		return
	}
	name := "of them"
	for _, p := range s.Parts {
		what := p.Kind
		switch p.Kind {
		case PartAgents:
			what = count(len(s.Agents), "sub-agent")
		case PartSide:
			what = "beside it: " + p.Purpose
		case PartRest:
			fmt.Fprintf(w, "%-8s  $%.4f more was paid for answers that nothing is left of\n", name, p.Cost)
			continue
		}
		fmt.Fprintf(w, "%-8s  %-4d $%.4f, %.1f %% cached: %s\n", name, p.Calls, p.Cost, 100*hit(p.Usage), what)
		name = ""
	}
}

// row writes a request, below what it belongs to.
func (s *Session) row(w io.Writer, r *Request) {
	label, stop := r.Label, end(r)
	switch {
	case r.For != "":
		stop = strings.TrimSpace("(" + r.For + ") " + stop)
	case r.Agent > 0:
		label = strings.Repeat(" ", min(s.Agents[r.Agent-1].Depth, 4)) + label
	case r.Prompt != "":
		fmt.Fprintf(w, "> %s\n", r.Prompt)
	}
	fmt.Fprintf(w, "%-8s %-8s  %-24s %9d %6.1f%% %7d %9.4f  %s\n", label, r.At.Local().Format(time.TimeOnly), r.Model,
		r.Usage.Prompt(), share(r.Usage.CacheRead, r.Usage.Prompt()), r.Usage.Output, r.Cost, stop)
	if r.Compacted {
		fmt.Fprintf(w, "      · the conversation was compacted before it\n")
	}
	if r.Miss != nil {
		fmt.Fprintf(w, "      ! cache: %d tokens missed ($%.4f): %s\n", r.Miss.Lost, r.Miss.Cost, r.Miss.Text)
	}
}

// heading says what a sub-agent is, before a request of it.
func (a *Agent) heading(r *Request) string {
	out := a.Type
	if a.Name != "" {
		out += " " + a.Name
	}
	if a.Task != "" {
		out += ": " + short(a.Task)
	}
	if r.By != a.Call {
		out += " (goes on after a message)"
	}
	return out + fmt.Sprintf(" · %s, $%.4f, %.1f %% cached", count(len(a.Requests), "request"), a.Cost, 100*a.Hit)
}

// Names says which requests there are.
func (s *Session) Names() string {
	out := strconv.Itoa(len(s.Requests))
	for _, a := range s.Agents {
		out += ", " + fromTo(fmt.Sprintf("a%d.", a.N), len(a.Requests))
	}
	if n := len(s.Side); n > 0 {
		out += ", " + fromTo("s", n)
	}
	return out
}

func fromTo(prefix string, n int) string {
	if n == 1 {
		return prefix + "1"
	}
	return fmt.Sprintf("%s1 to %s%d", prefix, prefix, n)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func end(r *Request) string {
	if r.Fail != "" {
		return "failed: " + short(r.Fail)
	}
	return r.Stop
}

func share(n, of int) float64 { return 100 * float64(n) / float64(max(1, of)) }

// Text writes one request with its stages.
func (r *Request) Text(w io.Writer) {
	fmt.Fprintf(w, "request %s", r.Label)
	if r.For != "" {
		fmt.Fprintf(w, ", outside the conversation, for: %s", r.For)
	}
	if r.Step > 0 {
		fmt.Fprintf(w, ", pass %d of its turn", r.Step)
	}
	fmt.Fprintf(w, "\n  at      %s, %s\n  model   %s\n", r.At.Local().Format(time.DateTime), r.Dur.Round(time.Millisecond), r.Model)
	if r.Under != "" {
		fmt.Fprintf(w, "  of      sub-agent %d, set to work by request %s\n", r.Agent, r.Under)
	}
	if r.Prompt != "" {
		fmt.Fprintf(w, "  asked   %s\n", r.Prompt)
	}
	u := r.Usage
	fmt.Fprintf(w, "  usage   %d tokens of prompt (%d read from the cache, %d written to it, %d plain), %d of output\n",
		u.Prompt(), u.CacheRead, u.CacheWrite, u.Input, u.Output)
	fmt.Fprintf(w, "  cost    $%.6f\n  ended   %s\n", r.Cost, end(r))
	r.cacheText(w)
	if len(r.Shares) > 0 {
		how := "estimated"
		if r.Fitted {
			how += ", fitted to what the API counted"
		}
		fmt.Fprintf(w, "\nWhat filled the context (%s)\n", how)
	}
	for _, s := range r.Shares {
		fmt.Fprintf(w, "  %-28s %8d tokens %9d bytes\n", s.Name, s.Tokens, s.Bytes)
	}
	if !r.Traced {
		fmt.Fprintf(w, "\nThis request was made without a trace: its stages and its body are not known.\n")
		return
	}
	r.stagesText(w)
	for _, c := range r.Calls {
		c.text(w)
	}
	for _, t := range r.Tools {
		t.text(w)
	}
	if r.Diff != nil {
		fmt.Fprintf(w, "\nWhat was sent, against the request before\n")
		r.Diff.text(w)
	}
}

func (r *Request) cacheText(w io.Writer) {
	m := r.Miss
	if m == nil {
		return
	}
	fmt.Fprintf(w, "\nThe prompt cache missed %d of %d expected tokens, about $%.6f\n  %s\n", m.Lost, m.Expected, m.Cost, m.Text)
	if m.Was != "" || m.IsNow != "" {
		fmt.Fprintf(w, "  was  …%s…\n  now  …%s…\n", oneLine(m.Was), oneLine(m.IsNow))
	}
}

func oneLine(s string) string { return strings.ReplaceAll(s, "\n", `\n`) }

func (r *Request) stagesText(w io.Writer) {
	if len(r.Stages) > 0 {
		fmt.Fprintf(w, "\nStages\n")
	}
	for _, s := range r.Stages {
		fmt.Fprintf(w, "%s (%s)\n", s.Name, s.Dur.Round(time.Microsecond))
		for _, c := range s.Changes {
			c.text(w)
		}
		for _, f := range s.Fields {
			fmt.Fprintf(w, "    %-9s %s → %s\n", f.Name, f.Before, f.After)
		}
		for _, n := range s.Notes {
			fmt.Fprintf(w, "    · %s\n", n)
		}
		if s.Err != "" {
			fmt.Fprintf(w, "    ! %s\n", s.Err)
		}
	}
}

func (c Change) text(w io.Writer) {
	fmt.Fprintf(w, "    %-9s %d → %d items, %d → %d tokens; the first %d stay", c.List, c.Before.Items, c.After.Items, c.Before.Tokens, c.After.Tokens, c.Kept)
	if c.Tail > 0 {
		fmt.Fprintf(w, ", and the last %d", c.Tail)
	}
	fmt.Fprintln(w)
	for _, i := range c.Removed {
		fmt.Fprintf(w, "      - %s\n", i.text())
	}
	for _, i := range c.Added {
		fmt.Fprintf(w, "      + %s\n", i.text())
	}
	if c.Cut > 0 {
		fmt.Fprintf(w, "      … and %d more\n", c.Cut)
	}
}

func (i Item) text() string {
	name := i.Kind
	switch {
	case i.Source != "":
		name = i.Source + " " + i.Key
	case i.Kind == "tool":
		name = "tool " + i.ID
	}
	return fmt.Sprintf("[%d] %s, %d tokens, %d bytes, %s", i.Index, name, i.Tokens, i.Bytes, i.Hash[:min(8, len(i.Hash))])
}

func (c Call) text(w io.Writer) {
	fmt.Fprintf(w, "\nCall, attempt %d: %d bytes, crc32c %s\n", c.Attempt, c.Bytes, c.Body)
	if c.Why != "" {
		fmt.Fprintf(w, "  after   %s (waited %s)\n", c.Why, c.Wait.Round(time.Millisecond))
	}
	fmt.Fprintf(w, "  took    %s, first byte after %s\n", c.Dur.Round(time.Millisecond), c.TTFT.Round(time.Millisecond))
	for _, m := range c.Marks {
		life := "5 minutes"
		if m.Hour {
			life = "1 hour"
		}
		fmt.Fprintf(w, "  mark    %s[%d] block %d, %s\n", m.At, m.Index, m.Block, life)
	}
	if c.RequestID != "" {
		fmt.Fprintf(w, "  request %s\n", c.RequestID)
	}
	if c.Failure != "" {
		fmt.Fprintf(w, "  failed  %s\n", c.Failure)
	}
}

func (t Tool) text(w io.Writer) {
	d := t.Decision
	fmt.Fprintf(w, "\nTool %s (%s): %s by %s\n", t.Name, t.Dur.Round(time.Microsecond), d.Verdict, by(d.By).text())
	if t.Summary != "" {
		fmt.Fprintf(w, "  call    %s\n", oneLine(t.Summary))
	}
	if d.Reason != "" {
		fmt.Fprintf(w, "  reason  %s\n", oneLine(d.Reason))
	}
	for _, p := range d.Parts {
		fmt.Fprintf(w, "  part    %s: %s by %s", oneLine(p.Text), p.Verdict, by(p.By).text())
		if p.Reason != "" {
			fmt.Fprintf(w, " (%s)", oneLine(p.Reason))
		}
		fmt.Fprintln(w)
	}
	if t.Err != "" {
		fmt.Fprintf(w, "  failed  %s\n", oneLine(t.Err))
	}
	fmt.Fprintf(w, "  result  %d bytes, error: %v\n", t.Bytes, t.IsError)
}
