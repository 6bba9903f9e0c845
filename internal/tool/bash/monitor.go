package bash

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"lathe/internal/msg"
	"lathe/internal/tool"
)

//go:embed monitor.md
var monitorText string

// MonitorName is the tool that watches a command.
const MonitorName = "Monitor"

// The time limits of a watch.
const (
	watchTime    = 5 * time.Minute
	maxWatchTime = 30 * time.Minute
)

// watchEvery is how often a watch is looked at for new lines. Lines that come together are told together.
const watchEvery = 200 * time.Millisecond

// monitor runs a command in the background whose output is told line by line.
type monitor struct {
	*bash
	most time.Duration
}

// NewMonitor returns the tool Monitor, whose watches last at most so long; 0 is half an hour.
func NewMonitor(d Deps, most time.Duration) tool.Tool {
	if most <= 0 || most > maxWatchTime {
		most = maxWatchTime
	}
	m := &monitor{newBash(d), most}
	m.def = m.definition()
	return m
}

func (m *monitor) definition() msg.ToolDef {
	var p struct {
		Command     property `json:"command"`
		Description property `json:"description"`
		Timeout     property `json:"timeout_ms"`
	}
	p.Command.Type, p.Description.Type = "string", "string"
	p.Timeout = property{"number", fmt.Sprintf("default %d, max %d", min(watchTime, m.most).Milliseconds(), m.most.Milliseconds())}
	return msg.ToolDef{Name: MonitorName, Description: strings.TrimSpace(monitorText), InputSchema: schema(p, "command", "description")}
}

// Aliases are names that models use for the parameters.
func (*monitor) Aliases() map[string]string {
	return map[string]string{"cmd": "command", "timeout": "timeout_ms"}
}

func (m *monitor) Plan(_ context.Context, call tool.Call) (tool.Plan, error) {
	var in struct {
		Command     string  `json:"command"`
		Description string  `json:"description"`
		Timeout     float64 `json:"timeout_ms"`
	}
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return tool.Plan{}, fmt.Errorf("read the input of %s: %w", MonitorName, err)
	}
	if strings.TrimSpace(in.Command) == "" {
		return tool.Plan{}, errors.New("command is empty; give the shell command to watch")
	}
	if strings.ContainsRune(in.Command, 0) {
		return tool.Plan{}, errNUL
	}
	limit := limits{timeout: min(watchTime, m.most), maxTimeout: m.most}.clamp(in.Timeout)
	j := &job{bash: m.bash, in: input{Command: in.Command, Description: in.Description, Background: true}, callID: call.ID, watch: limit}
	return tool.Plan{Summary: summary(j.in), Run: j.run}, nil
}

// MonitorOutput is the result of Monitor for programs.
type MonitorOutput struct {
	TaskID     string `json:"taskId"`
	TimeoutMs  int64  `json:"timeoutMs"`
	OutputFile string `json:"outputFile,omitempty"`
}

// watching is the result of a watch that has begun.
func (j *job) watching(k *task) tool.Result {
	text := fmt.Sprintf("Watching as task %s, for %s at most. What it prints is told to you as it comes: go on with other work, or end your answer.", k.ID, shortDuration(j.watch))
	if k.OutputFile != "" {
		text += " All of it goes to " + k.OutputFile + "."
	}
	res := tool.TextResult(joinLines(text, strings.Join(j.notes, "\n")))
	res.Output = MonitorOutput{TaskID: k.ID, TimeoutMs: j.watch.Milliseconds(), OutputFile: k.OutputFile}
	res.Budgeted = true
	return res
}

// Lines are the lines of a task from an offset on, at most their last limit bytes, and where they end. skipped counts bytes
// that are left out before them.
func (t *Tasks) Lines(id string, from int64, limit int) (text string, next, skipped int64) {
	k, err := t.find(id)
	if err != nil {
		return "", from, 0
	}
	text, next, skipped = k.out.Since(from, limit)
	return strings.TrimRight(text, "\n"), next, skipped
}

// follow tells of new lines of a watch until it has ended.
func (t *Tasks) follow(k *task) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	told := int64(0)
	for {
		select {
		case <-k.p.Done():
			return // its end is told with the last of them
		case <-tick.C:
		}
		if now := k.out.Total(); now != told && t.Said != nil {
			told = now
			t.mu.Lock()
			s := k.snapshot()
			t.mu.Unlock()
			t.Said(s)
		}
	}
}
