package hook

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Outcomes of a run.
const (
	Success   = "success"
	Failed    = "error"
	Cancelled = "cancelled"
)

// Run is one handler that ran, for people, the transcript and the trace.
type Run struct {
	ID      string // unique
	Name    string // the event, and what the matcher was compared with
	Event   Event
	Kind    string // command, http, …
	Title   string // the command, the URL, …
	Where   string // file:line of the configuration
	Code    int    // exit code of a command
	Stdout  string
	Stderr  string
	Outcome string // Success, Failed, Cancelled
	Problem string // why it failed, in words; empty on success
	Blocked string // why it blocked; empty when it did not
	Dur     time.Duration
}

// raw is what came of a handler, before it is judged.
type raw struct {
	code      int
	stdout    []byte
	stderr    []byte
	exited    bool   // code counts
	problem   string // it could not start, timed out, the server failed
	timedOut  bool
	cancelled bool
	detached  bool   // it goes on in the background
	gone      bool   // nobody is there to run it
	held      string // why it is not run now
}

// reply is a judged answer.
type reply struct {
	run    Run
	h      *handler
	block  bool
	asks   bool    // for the call, with reason: the hook is there and cannot say
	reason string  // of the block
	out    *output // nil: no fields
	plain  string  // plain standard output of success
	toUser string  // to be shown
	model  *verdict
}

// judge reads exit code and output by the documented table.
func judge(e Event, info eventInfo, h *handler, r raw) reply {
	rep := reply{h: h, run: Run{Outcome: Success, Code: r.code, Stdout: string(r.stdout), Stderr: string(r.stderr)}}
	switch {
	case r.cancelled:
		rep.run.Outcome, rep.run.Problem = Cancelled, "the turn was interrupted"
		return rep
	case r.detached, r.gone:
		return rep
	case r.held != "":
		return rep.hold(e, info, r)
	case r.problem != "":
		return rep.fail(info, r.problem, r.timedOut && (e == PreModelSwitch || h.kind == kindCallback && (e == PreToolUse || e == UserPromptSubmit)))
	case r.missing(e):
		return rep.fail(info, failure(r), false)
	}
	asked := r.exited && r.code == 2
	bad := r.exited && r.code != 0 && r.code != 2
	if looksJSON(r.stdout) {
		out, err := parseOutput(e, r.stdout)
		switch {
		case err == nil:
			rep.out = out
		case !asked:
			return rep.fail(info, err.Error(), false)
		}
	}
	switch {
	case asked:
		rep.exit2(info, r)
	case bad && h.blocksOnFailure(info):
		return rep.fail(info, failure(r), false)
	case rep.out != nil: // fields decide, whatever the exit code
	case bad:
		return rep.fail(info, failure(r), false)
	default:
		rep.plain = string(r.stdout)
	}
	return rep
}

// exit2 is the block by exit code. Its fields are read too, but cannot lift it.
func (rep *reply) exit2(info eventInfo, r raw) {
	rep.reason = string(r.stderr)
	if rep.out != nil && rep.reason == "" {
		if rep.reason = rep.out.Specific.PermReason; rep.reason == "" {
			rep.reason = rep.out.Reason
		}
	}
	if rep.reason == "" && rep.out == nil && info.exit2 == toModel {
		rep.reason = string(r.stdout)
	}
	if rep.reason == "" {
		rep.reason = "no reason given"
	}
	rep.run.Blocked = firstLine(rep.reason)
	switch info.exit2 {
	case blocks, toModel:
		rep.block = true
	case toUser:
		rep.toUser, rep.run.Blocked = rep.reason, ""
	case ignored:
		rep.run.Blocked = ""
	}
}

// hold is what comes of a handler that is not run. What it would have judged is asked about, or refused where that cannot be
// asked: what guards must not go away unseen.
func (rep reply) hold(e Event, info eventInfo, r raw) reply {
	if r.problem != "" || rep.h.blocksOnFailure(info) && holdsUp(e) {
		rep = rep.fail(info, cmp.Or(r.problem, "it was not run: "+r.held), false)
	}
	if rep.block || !holdsUp(e) || rep.h.Async || rep.h.AsyncRewake {
		return rep
	}
	rep.reason = "the hook that judges this (" + rep.h.title() + ") was not run: " + r.held
	rep.asks, rep.block = e == PreToolUse, e != PreToolUse
	if rep.block { // who is told of the block is told why
		rep.run.Blocked, rep.run.Problem = firstLine(inert(rep.reason)), ""
	}
	return rep
}

// fail is a failure that blocks nothing, unless the handler asks for that.
func (rep reply) fail(info eventInfo, problem string, always bool) reply {
	rep.run.Outcome, rep.run.Problem = Failed, inert(problem)
	rep.out = nil
	if always || rep.h.blocksOnFailure(info) {
		rep.block, rep.reason = true, "the hook failed: "+problem
		rep.run.Blocked = firstLine(rep.reason)
	}
	return rep
}

// failure describes an exit code that is neither 0 nor 2.
func failure(r raw) string {
	text := fmt.Sprintf("exit code %d", r.code)
	if line := firstLine(string(r.stderr)); line != "" {
		text += ": " + line
	}
	return text
}

// missing reports an interpreter that did not find its script, which many report by 2. At these events that must
// not hold the model up.
func (r raw) missing(e Event) bool {
	if e != Stop && e != SubagentStop && e != "TaskCompleted" || r.code != 2 || len(bytes.TrimSpace(r.stdout)) > 0 {
		return false
	}
	said := strings.ToLower(string(r.stderr))
	return strings.Contains(said, "no such file or directory") || strings.Contains(said, "cannot find the path") ||
		strings.Contains(said, "cannot find module")
}
