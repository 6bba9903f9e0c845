package app

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lathe/internal/engine"
	"lathe/internal/proc"
	"lathe/internal/tool/bash"
)

// terminalOutput is how much of a command's output the editor keeps for us, in bytes; killLimit is how long it may take
// to kill one, and then to let go of it.
const (
	terminalOutput = 1 << 20
	killLimit      = 15 * time.Second
)

// editorTerminal runs commands in terminals of the editor. It implements bash.Terminal.
type editorTerminal struct{ session func() *engine.Session }

// openTerminal asks the editor for terminals, where it offers that.
func (r *run) openTerminal() bash.Terminal {
	if r.agent != nil || !r.canCall("terminal/create") { // a sub-agent's calls are not the editor's to show
		return nil
	}
	return editorTerminal{session: func() *engine.Session { return r.session }}
}

// Run implements bash.Terminal.
func (e editorTerminal) Run(ctx context.Context, callID string, args []string, dir string, env map[string]string) (string, proc.Exit, error) {
	var made struct {
		ID string `json:"terminalId"`
	}
	pairs := []map[string]string{}
	for k, v := range env {
		pairs = append(pairs, map[string]string{"name": k, "value": v})
	}
	err := e.call(ctx, "terminal/create", callID, map[string]any{
		"command": args[0], "args": args[1:], "cwd": dir, "env": pairs, "outputByteLimit": terminalOutput,
	}, &made)
	if err != nil {
		return "", proc.Exit{}, err
	}
	which := map[string]any{"terminalId": made.ID}
	var exit struct {
		Code   *int    `json:"exitCode"`
		Signal *string `json:"signal"`
	}
	waited := e.call(ctx, "terminal/wait_for_exit", callID, which, &exit)
	late := func() (context.Context, context.CancelFunc) {
		return context.WithTimeout(context.WithoutCancel(ctx), killLimit)
	}
	defer func() { // ends it, should it run still
		ctx, cancel := late()
		defer cancel()
		_ = e.call(ctx, "terminal/release", callID, which, nil)
	}()
	reading := ctx // a slow editor may take its time to tell what a command printed that has ended
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		reading, cancel = late()
		defer cancel()
		waited = e.call(reading, "terminal/kill", callID, which, nil)
	}
	var out struct {
		Output    string `json:"output"`
		Truncated bool   `json:"truncated"`
	}
	if err := e.call(reading, "terminal/output", callID, which, &out); err != nil && waited == nil {
		waited = err
	}
	if out.Truncated {
		out.Output = fmt.Sprintf("… (only the last %d bytes were kept)\n", terminalOutput) + out.Output
	}
	result := proc.Exit{Stopped: ctx.Err() != nil}
	switch {
	case exit.Signal != nil && *exit.Signal != "":
		result.Code, result.Signal = 128, *exit.Signal
	case exit.Code != nil:
		result.Code = *exit.Code
	}
	return out.Output, result, waited
}

func (e editorTerminal) call(ctx context.Context, kind, callID string, payload, result any) error {
	raw, err := e.session().Call(ctx, kind, callID, payload)
	if err != nil || result == nil || len(raw) == 0 {
		return err
	}
	return json.Unmarshal(raw, result)
}
