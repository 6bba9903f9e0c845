package app

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"lathe/internal/event"
	"lathe/internal/skill"
	"lathe/internal/sys"
	"lathe/internal/token"
	"lathe/internal/turn"
)

// check is one finding of /doctor.
type check struct {
	state string // ok, note, problem
	name  string
	text  string
}

const (
	checkOK      = "ok"
	checkNote    = "note"
	checkProblem = "problem"
)

// toolWait is how long a program may take to say its version.
const toolWait = 3 * time.Second

// cmdDoctor looks at what a session rests on. With "model" it also makes one small call.
func (r *run) cmdDoctor(ctx context.Context, _ *turn.Turn, args string) (string, error) {
	checks := []check{
		{checkOK, "program", fmt.Sprintf("Lathe %s, %s/%s", sys.Version, runtime.GOOS, runtime.GOARCH)},
		r.checkCredential(),
	}
	if args == "model" || args == "api" {
		checks = append(checks, r.checkModel(ctx))
	}
	checks = append(checks, r.checkSettings()...)
	checks = append(checks, r.checkTrust(), r.checkSandbox(), r.checkGit(ctx), checkProgram(ctx, "rg", "searches are made by the program itself"))
	checks = append(checks, r.checkState(), r.checkTerminal(), r.checkMemory(), r.checkSkills())
	for _, s := range r.ready().Servers {
		state := checkOK
		if s.Status != "connected" {
			state = checkNote
		}
		checks = append(checks, check{state, "MCP server " + s.Name, s.Status})
	}
	var b strings.Builder
	for _, c := range checks {
		fmt.Fprintf(&b, "%-8s %-12s %s\n", c.state, c.name, c.text)
	}
	if args == "" {
		b.WriteString("\n/doctor model also calls a small model once.")
	}
	return b.String(), nil
}

func (r *run) checkCredential() check {
	if r.model.Key == "" || r.model.Key == "none" {
		return check{checkProblem, "credential", "no API key is set: ANTHROPIC_API_KEY, or apiKeyHelper in the settings"}
	}
	return check{checkOK, "credential", "from " + r.model.Key}
}

func (r *run) checkModel(ctx context.Context) check {
	start := time.Now()
	name := r.smallModel()
	if _, err := r.side(ctx, "doctor", name, "Answer with the word ok."); err != nil {
		return check{checkProblem, "model", event.OneLine(err.Error(), 300)}
	}
	return check{checkOK, "model", fmt.Sprintf("%s answered in %s", name, time.Since(start).Round(time.Millisecond))}
}

func (r *run) checkSettings() []check {
	var out []check
	for _, p := range r.place.Settings.Problems {
		out = append(out, check{checkProblem, "settings", p})
	}
	for _, n := range r.place.Notes {
		out = append(out, check{checkNote, "settings", n})
	}
	if out == nil {
		out = append(out, check{checkOK, "settings", count(len(r.place.Settings.Layers), "file") + ", nothing wrong"})
	}
	return out
}

func (r *run) checkTrust() check {
	if r.place.Trusted {
		return check{checkOK, "trust", "this project is trusted"}
	}
	if r.place.SavedRules {
		return check{checkOK, "trust", "this project is not trusted; of its settings only the permission rules count that you saved in it"}
	}
	if len(r.place.Grants) == 0 {
		return check{checkOK, "trust", "nothing of this project needs trust"}
	}
	return check{checkNote, "trust", "this project is not trusted: its settings only restrict, and nothing of it runs by itself (lathe trust)"}
}

func (r *run) checkSandbox() check {
	state := r.sandboxState()
	if strings.Contains(state, "not available") {
		return check{checkProblem, "sandbox", state}
	}
	return check{checkOK, "sandbox", state}
}

func (r *run) checkGit(ctx context.Context) check {
	c := checkProgram(ctx, "git", "without it there are no branches and differences")
	if r.place.Root == "" {
		c.text += "; this directory is in no repository"
	}
	return c
}

// checkProgram looks for a program that is used where it is there.
func checkProgram(ctx context.Context, name, without string) check {
	path, err := exec.LookPath(name)
	if err != nil {
		return check{checkNote, name, "not found: " + without}
	}
	ctx, cancel := context.WithTimeout(ctx, toolWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = 10 * time.Second // a busy machine may take its time to come round to us, and then it counts as failed
	out, err := cmd.Output()
	if err != nil {
		return check{checkProblem, name, path + " does not work: " + err.Error()}
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return check{checkOK, name, strings.TrimSpace(line) + ", " + path}
}

// roomLow is how many free bytes are few.
const roomLow = 200 << 20

// checkState looks whether sessions can be kept.
func (r *run) checkState() check {
	dir := r.place.Sys.Dirs.State
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return check{checkProblem, "state", err.Error() + " (LATHE_HOME chooses another place)"}
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return check{checkProblem, "state", err.Error() + " (LATHE_HOME chooses another place)"}
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	free, ok := freeBytes(dir)
	switch {
	case !ok:
		return check{checkOK, "state", dir + " can be written"}
	case free < roomLow:
		return check{checkProblem, "state", fmt.Sprintf("%s: only %s are free", dir, event.Bytes(free))}
	}
	return check{checkOK, "state", fmt.Sprintf("%s can be written, %s free", dir, event.Bytes(free))}
}

func (r *run) checkTerminal() check {
	getenv := r.place.Sys.Getenv
	term := getenv("TERM")
	text := "TERM=" + or(term, "(not set)")
	for _, k := range []string{"COLORTERM", "TERM_PROGRAM", "TMUX", "SSH_TTY", "NO_COLOR"} {
		if v := getenv(k); v != "" {
			text += fmt.Sprintf(" %s=%s", k, event.OneLine(v, 40))
		}
	}
	lang := first(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG"))
	if l := strings.ToLower(lang); !strings.Contains(l, "utf-8") && !strings.Contains(l, "utf8") && runtime.GOOS != "windows" && runtime.GOOS != "darwin" {
		return check{checkNote, "terminal", text + "; the locale " + or(lang, "(none)") + " is not UTF-8, so signs may look wrong"}
	}
	if term == "" || term == "dumb" {
		return check{checkNote, "terminal", text + "; plain lines are used"}
	}
	return check{checkOK, "terminal", text}
}

// memoryMuch is from how many tokens on instruction files cost more than they should on every call.
const memoryMuch = 10_000

func (r *run) checkMemory() check {
	c := token.Counter{New: r.prices.Info(r.session.Model()).NewTokenizer}
	sum, files := 0, r.instructionFiles()
	for _, f := range files {
		sum += c.Text(f.Text)
	}
	text := fmt.Sprintf("%s, about %s tokens with every call", count(len(files), "instruction file", "instruction files"), event.Thousands(sum))
	if sum > memoryMuch {
		return check{checkNote, "memory", text + ": shorten them (/memory)"}
	}
	return check{checkOK, "memory", text}
}

func (r *run) checkSkills() check {
	all := r.skills()
	text := count(len(all), "skill or command of files", "skills and commands of files")
	full := skill.Listing(all, 1<<30, 0)
	if budget := r.listingBudget(); len([]rune(full)) > budget {
		return check{checkNote, "skills", fmt.Sprintf("%s; their descriptions are longer than the %d characters that the model is given, so some are left out", text, budget)}
	}
	return check{checkOK, "skills", text}
}
