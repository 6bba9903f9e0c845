package bash

import (
	"fmt"
	"strings"
	"time"

	"lathe/internal/msg"
	"lathe/internal/proc"
	"lathe/internal/tool"
)

// Output is the tool's result for programs.
type Output struct {
	Stdout           string `json:"stdout"` // standard output and error as they came, long ones cut in the middle
	Stderr           string `json:"stderr"` // what the tool has to say
	Interrupted      bool   `json:"interrupted"`
	IsImage          bool   `json:"isImage"`
	BackgroundTaskID string `json:"backgroundTaskId,omitempty"`
	ByUser           bool   `json:"backgroundedByUser,omitempty"`
	TimedOutAfterMs  int64  `json:"timedOutAfterMs,omitempty"`
	ExitMeaning      string `json:"returnCodeInterpretation,omitempty"`
	SavedPath        string `json:"persistedOutputPath,omitempty"`
	SavedSize        int64  `json:"persistedOutputSize,omitempty"`
	NoSandbox        bool   `json:"dangerouslyDisableSandbox,omitempty"`
}

// outcome is how the foreground part of a command ended.
type outcome struct {
	proc.Exit
	interrupted bool
	timedOut    bool
}

const nothing = "(no output)" // a text block must not be empty

// finish makes the result of a command that ended or was stopped.
func (j *job) finish(o outcome) (tool.Result, error) {
	j.follow(o.Report)
	if !o.Stopped { // else what still ran for a moment was stopped too
		j.leftovers(o.Left, o.Held)
	}
	meaning := ""
	failed := o.Code != 0 || o.interrupted || o.timedOut || o.Overflow
	if o.Code == 1 && !o.interrupted && !o.timedOut {
		if meaning = exitOne(j.in.Command); meaning != "" {
			failed = false
		}
	}
	limit := j.limits.inline
	if failed {
		limit = min(limit, failureLimit)
	}
	out := Output{Interrupted: o.interrupted, ExitMeaning: meaning, NoSandbox: j.in.NoSandbox}
	if o.timedOut {
		out.TimedOutAfterMs = j.timeout.Milliseconds()
	}
	whole := j.collect(&out, limit)
	j.notes = append(j.notes, j.end.call(failed, out.Stdout)...)
	_ = j.out.Close() // what could not be written is in the text already
	res := tool.Result{IsError: failed, Budgeted: true}
	if !failed && whole {
		res.Touched = j.viewed()
	}
	text := out.Stdout
	if text == "" {
		text = nothing
		if meaning != "" {
			text = fmt.Sprintf("(no output; exit code 1: %s)", meaning)
		}
	}
	out.Stderr = strings.Join(j.notes, "\n")
	res.Blocks = []msg.Block{msg.Text(joinLines(j.headline(o, failed), text, out.Stderr))}
	res.Output = out
	return res, nil
}

// headline says first what went wrong.
func (j *job) headline(o outcome, failed bool) string {
	switch {
	case o.interrupted:
		return "Interrupted by the user; the command and all that it started were stopped. Output until then:"
	case o.timedOut:
		return fmt.Sprintf("Timed out after %s; the command and all that it started were stopped. Give a longer timeout (at most %d ms) if it needs one. Output until then:",
			shortDuration(j.timeout), j.limits.maxTimeout.Milliseconds())
	case o.Overflow:
		return "Stopped because it wrote more than 5 GB. Send large output to a file, or filter it."
	case failed && o.Signal != "":
		return fmt.Sprintf("Exit code %d (%s)", o.Code, o.Signal)
	case failed:
		return fmt.Sprintf("Exit code %d", o.Code)
	}
	return ""
}

// leftovers notes the processes that the command left behind.
func (j *job) leftovers(left []proc.Left, held bool) {
	if len(left) == 0 {
		if held {
			j.notes = append(j.notes, "(a process that the command started still runs and holds its output)")
		}
		return
	}
	var names []string
	for i, l := range left {
		if i == 5 {
			names = append(names, fmt.Sprintf("and %d more", len(left)-i))
			break
		}
		name := l.Name
		if strings.Contains(name, "__lathe_c") { // our own script: a part of the command that the shell runs itself
			name = "a part of this command"
		}
		names = append(names, fmt.Sprintf("%d %s", l.Pid, name))
	}
	j.notes = append(j.notes, "(left running: "+strings.Join(names, "; ")+")")
}

// collect fills in the output within limit, and where all of it is when that is more. It reports whether the
// output is whole.
func (j *job) collect(out *Output, limit int) bool {
	e := j.out.Excerpt(limit)
	if e.Omitted == 0 {
		out.Stdout = tidy(e.Head)
		return true
	}
	total := j.out.Total()
	where := ""
	path, size, err := j.out.Save()
	switch {
	case err != nil:
		where = fmt.Sprintf("it could not be saved: %v", err)
	case size < total:
		where = fmt.Sprintf("the first %d of %d bytes are in %s", size, total, path)
	default:
		where = fmt.Sprintf("all %d bytes are in %s", total, path)
	}
	if err == nil {
		out.SavedPath, out.SavedSize = path, size
	}
	out.Stdout = tidy(fmt.Sprintf("%s\n\n[… %d bytes left out here; %s …]\n\n%s", e.Head, e.Omitted, where, e.Tail))
	return false
}

// tidy takes empty lines off the start and blanks off the end.
func tidy(s string) string {
	s = strings.TrimRight(s, " \t\n")
	for {
		line, rest, ok := strings.Cut(s, "\n")
		if !ok || strings.TrimSpace(line) != "" {
			return s
		}
		s = rest
	}
}

func joinLines(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "\n")
}

// shortDuration is 2m instead of 2m0s.
func shortDuration(d time.Duration) string {
	s := d.Round(time.Millisecond).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	return s
}
